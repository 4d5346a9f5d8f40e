// As an unsigned number, a negative constant is larger than every nonnegative integer, and negative integers keep their order.
// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

#same = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @below(
// CHECK-SAME:    tensor<65xi32> {spyre.range = array<i64: -16777216, 16777217>}
// CHECK-DAG:     [[FEW:%.+]] = spyre.constant dense<-3.000000e+00>
// CHECK-DAG:     [[ZERO:%.+]] = spyre.constant dense<0.000000e+00>
// CHECK-DAG:     [[SIGN:%.+]] = spyre.pointwise greaterequal([[X:%.+]], [[ZERO]])
// CHECK-DAG:     [[LESS:%.+]] = spyre.pointwise lesserthan([[X]], [[FEW]])
// CHECK:         spyre.pointwise maximum([[SIGN]], [[LESS]])
func.func @below(%x: tensor<65xf32>, %i: tensor<65xi32>) -> tensor<65xf32> {
  %e = tensor.empty() : tensor<65xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%x, %i : tensor<65xf32>, tensor<65xi32>) outs(%e : tensor<65xf32>) {
  ^bb0(%a: f32, %n: i32, %o: f32):
    %few = arith.constant -3 : i32
    %is_below = arith.cmpi ult, %n, %few : i32
    %zero = arith.constant 0.0 : f32
    %chosen = arith.select %is_below, %a, %zero : f32
    linalg.yield %chosen : f32
  } -> tensor<65xf32>
  return %r : tensor<65xf32>
}

// -----

#same = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @constant_first(
// CHECK-DAG:     [[FEW:%.+]] = spyre.constant dense<-3.000000e+00>
// CHECK-DAG:     [[ZERO:%.+]] = spyre.constant dense<0.000000e+00>
// CHECK-DAG:     [[SIGN:%.+]] = spyre.pointwise lesserthan([[X:%.+]], [[ZERO]])
// CHECK-DAG:     [[MORE:%.+]] = spyre.pointwise greaterequal([[X]], [[FEW]])
// CHECK:         spyre.pointwise mul([[SIGN]], [[MORE]])
func.func @constant_first(%x: tensor<65xf32>, %i: tensor<65xi32>) -> tensor<65xf32> {
  %e = tensor.empty() : tensor<65xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%x, %i : tensor<65xf32>, tensor<65xi32>) outs(%e : tensor<65xf32>) {
  ^bb0(%a: f32, %n: i32, %o: f32):
    %few = arith.constant -3 : i32
    %is_below = arith.cmpi ule, %few, %n : i32
    %zero = arith.constant 0.0 : f32
    %chosen = arith.select %is_below, %a, %zero : f32
    linalg.yield %chosen : f32
  } -> tensor<65xf32>
  return %r : tensor<65xf32>
}
