// RUN: spyre-opt --split-input-file --spyre-import-linalg --mlir-print-local-scope %s | FileCheck %s

// Programs that are spyre ops in part: these stay, and read what linalg has become.

// CHECK-LABEL: func.func @spyre_ops_read_linalg(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[ABS:%.+]] = spyre.pointwise abs([[NEG]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[ABS]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @spyre_ops_read_linalg(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<8x64xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<8x64xf16>
  %abs = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%neg : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %a = math.absf %in : f16
    linalg.yield %a : f16
  } -> tensor<8x64xf16>
  return %abs : tensor<8x64xf16>
}

// -----

// A hint scope holds both kinds, and gives what its last op has become.
// CHECK-LABEL: func.func @linalg_in_scopes(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SCOPE:%.+]] = spyre.hint tiles(A = 2) {
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) : tensor<8x64xf16>
// CHECK-NEXT:      [[SQRT:%.+]] = spyre.pointwise sqrt([[NEG]]) : tensor<8x64xf16>
// CHECK-NEXT:      spyre.yield [[SQRT]] : tensor<8x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    [[LOG:%.+]] = spyre.pointwise log([[SCOPE]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[LOG]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @linalg_in_scopes(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<8x64xf16>
  %scope = spyre.hint tiles(A = 2) {
    %neg = spyre.pointwise neg(%exp) : tensor<8x64xf16>
    %sqrt = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%neg : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %s = math.sqrt %in : f16
      linalg.yield %s : f16
    } -> tensor<8x64xf16>
    spyre.yield %sqrt : tensor<8x64xf16>
  }
  %log = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%scope : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %l = math.log %in : f16
    linalg.yield %l : f16
  } -> tensor<8x64xf16>
  return %log : tensor<8x64xf16>
}
