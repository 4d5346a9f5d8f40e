// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --cse %s | FileCheck %s

// 4096 positions: two vectors of ranks, whose difference divided by 0 is inf where the mask hides. The mask has the heads of its user.
// CHECK-LABEL: func.func @causal(
// CHECK-DAG:     [[ZERO:%.+]] = spyre.constant dense<0.000000e+00>
// CHECK-DAG:     [[ROWS:%.+]] = spyre.constant dense<"0x{{.*}}> : tensor<1x4096x1xf16>
// CHECK-DAG:     [[COLUMNS:%.+]] = spyre.constant dense<"0x{{.*}}> : tensor<2x1x4096xf16>
// CHECK:         [[AHEAD:%.+]] = spyre.pointwise sub([[COLUMNS]], [[ROWS]]) : (tensor<2x1x4096xf16>, tensor<1x4096x1xf16>) -> tensor<2x4096x4096xf16>
// CHECK-NEXT:    [[WALL:%.+]] = spyre.pointwise realdiv([[AHEAD]], [[ZERO]])
// CHECK-NEXT:    [[HIDDEN:%.+]] = spyre.pointwise maximum([[WALL]], [[ZERO]])
// CHECK-NEXT:    spyre.pointwise sub(%arg0, [[HIDDEN]])
func.func @causal(%x: tensor<2x4096x4096xf16>) -> tensor<2x4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %hidden = arith.constant 0xFC00 : f16
  %empty = tensor.empty() : tensor<2x4096x4096xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(h, s, t) -> (h, s, t)>, affine_map<(h, s, t) -> (h, s, t)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<2x4096x4096xf16>) outs(%empty : tensor<2x4096x4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %s = linalg.index 1 : index
    %t = linalg.index 2 : index
    %is_seen = arith.cmpi ule, %t, %s : index
    %mask = arith.select %is_seen, %zero, %hidden : f16
    %r = arith.addf %a, %mask : f16
    linalg.yield %r : f16
  } -> tensor<2x4096x4096xf16>
  return %y : tensor<2x4096x4096xf16>
}

// -----

// A mask that is no order of two vectors remains a comparison, such as equality of documents.
// CHECK-LABEL: func.func @same(
// CHECK:         [[SAME:%.+]] = spyre.pointwise equal({{.+}}) : (tensor<1x4096xf16>, tensor<4096x1xf16>) -> tensor<4096x4096xf16>
// CHECK-NEXT:    spyre.pointwise where3([[SAME]], %arg0,
func.func @same(%x: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %hidden = arith.constant 0xFC00 : f16
  %empty = tensor.empty() : tensor<4096x4096xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(s, t) -> (s, t)>, affine_map<(s, t) -> (s, t)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<4096x4096xf16>) outs(%empty : tensor<4096x4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %s = linalg.index 0 : index
    %t = linalg.index 1 : index
    %is_same = arith.cmpi eq, %t, %s : index
    %r = arith.select %is_same, %a, %hidden : f16
    linalg.yield %r : f16
  } -> tensor<4096x4096xf16>
  return %y : tensor<4096x4096xf16>
}
