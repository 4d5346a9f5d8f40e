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

// -----

// A loop is given tiles of f32 in a program that is computed in f16: they are seen as f16 in its body, where they are known.
// CHECK-LABEL: func.func @tiles_of_another_format(
// CHECK-SAME:    tensor<64x128xf32>)
// CHECK:         spyre.loop 4 "rows" tiled([[TILE:%.+]] = {{.*}} : tensor<64x128xf32>) {
// CHECK-NEXT:      [[HALF:%.+]] = spyre.view [[TILE]] by {{.*}} : tensor<16x128xf32> -> tensor<16x128xf16>
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp([[HALF]]) : tensor<16x128xf16>
// CHECK-NEXT:      spyre.yield [[EXP]][0]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @tiles_of_another_format(%x: tensor<64x128xf32>) -> tensor<64x128xf16> {
  %y = spyre.loop 4 "rows" tiled(%tile = %x[0] : tensor<64x128xf32>) {
    %shape = tensor.empty() : tensor<16x128xf16>
    %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%tile : tensor<16x128xf32>) outs(%shape : tensor<16x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %e = math.exp %in : f32
      %half = arith.truncf %e : f32 to f16
      linalg.yield %half : f16
    } -> tensor<16x128xf16>
    spyre.yield %exp[0] : tensor<16x128xf16>
  } : tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
