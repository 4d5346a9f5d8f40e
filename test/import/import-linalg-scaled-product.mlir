// RUN: spyre-opt --split-input-file --pass-pipeline='builtin.module(spyre-import-linalg)' --mlir-print-local-scope %s | FileCheck %s

// Queries and keys are scaled by a half and a quarter, as in scaled dot product attention: the queries alone by an eighth.

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    [[Q:%[a-z0-9]+]]: tensor<1x4x32x64xf16>, [[K:%[a-z0-9]+]]: tensor<1x4x32x64xf16>)
// CHECK-NEXT:    [[TURNED:%.+]] = spyre.view [[K]]
// CHECK-NEXT:    [[EIGHTH:%.+]] = spyre.constant dense<1.250000e-01>
// CHECK-NEXT:    [[SCALED:%.+]] = spyre.pointwise mul([[Q]], [[EIGHTH]])
// CHECK-NEXT:    [[LEFT:%.+]] = spyre.view [[SCALED]]
// CHECK-NEXT:    [[RIGHT:%.+]] = spyre.view [[TURNED]]
// CHECK-NEXT:    spyre.matmul([[LEFT]], [[RIGHT]])
#all = affine_map<(b, h, s, d) -> (b, h, s, d)>
func.func @attention(%q: tensor<1x4x32x64xf16>, %k: tensor<1x4x32x64xf16>) -> tensor<4x32x32xf16> {
  %half = arith.constant 0.5 : f16
  %quarter = arith.constant 0.25 : f16
  %zero = arith.constant 0.0 : f16
  %queries = tensor.empty() : tensor<1x4x32x64xf16>
  %keys = tensor.empty() : tensor<1x4x64x32xf16>
  %scores = tensor.empty() : tensor<4x32x32xf16>
  %q_scaled = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%q : tensor<1x4x32x64xf16>) outs(%queries : tensor<1x4x32x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %r = arith.mulf %in, %half : f16
    linalg.yield %r : f16
  } -> tensor<1x4x32x64xf16>
  %turned = linalg.transpose ins(%k : tensor<1x4x32x64xf16>) outs(%keys : tensor<1x4x64x32xf16>) permutation = [0, 1, 3, 2]
  %k_scaled = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%turned : tensor<1x4x64x32xf16>) outs(%keys : tensor<1x4x64x32xf16>) {
  ^bb0(%in: f16, %out: f16):
    %r = arith.mulf %in, %quarter : f16
    linalg.yield %r : f16
  } -> tensor<1x4x64x32xf16>
  %q_heads = tensor.collapse_shape %q_scaled [[0, 1], [2], [3]] : tensor<1x4x32x64xf16> into tensor<4x32x64xf16>
  %k_heads = tensor.collapse_shape %k_scaled [[0, 1], [2], [3]] : tensor<1x4x64x32xf16> into tensor<4x64x32xf16>
  %start = linalg.fill ins(%zero : f16) outs(%scores : tensor<4x32x32xf16>) -> tensor<4x32x32xf16>
  %products = linalg.batch_matmul ins(%q_heads, %k_heads : tensor<4x32x64xf16>, tensor<4x64x32xf16>) outs(%start : tensor<4x32x32xf16>) -> tensor<4x32x32xf16>
  return %products : tensor<4x32x32xf16>
}

// -----

// Twice as large on the left might overflow where the keys did not.
// CHECK-LABEL: func.func @a_factor_above_one(
// CHECK-COUNT-2: spyre.pointwise mul
// CHECK:         spyre.matmul
#matrix = affine_map<(m, n) -> (m, n)>
func.func @a_factor_above_one(%x: tensor<32x64xf16>, %y: tensor<64x64xf16>) -> tensor<32x64xf16> {
  %half = arith.constant 0.5 : f16
  %two = arith.constant 2.0 : f16
  %zero = arith.constant 0.0 : f16
  %rows = tensor.empty() : tensor<32x64xf16>
  %columns = tensor.empty() : tensor<64x64xf16>
  %x_scaled = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<32x64xf16>) outs(%rows : tensor<32x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %r = arith.mulf %in, %half : f16
    linalg.yield %r : f16
  } -> tensor<32x64xf16>
  %y_scaled = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<64x64xf16>) outs(%columns : tensor<64x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %r = arith.mulf %in, %two : f16
    linalg.yield %r : f16
  } -> tensor<64x64xf16>
  %start = linalg.fill ins(%zero : f16) outs(%rows : tensor<32x64xf16>) -> tensor<32x64xf16>
  %product = linalg.matmul ins(%x_scaled, %y_scaled : tensor<32x64xf16>, tensor<64x64xf16>) outs(%start : tensor<32x64xf16>) -> tensor<32x64xf16>
  return %product : tensor<32x64xf16>
}
