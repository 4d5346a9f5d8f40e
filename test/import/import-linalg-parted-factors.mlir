// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// A concatenated factor is multiplied slice by slice if that moves fewer bytes: the scores are a fourth of the keys.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME:    [[Q:%.+]]: tensor<2x16x64xf16>, [[OLD:%.+]]: tensor<2x64x128xf16>, [[NEW:%.+]]: tensor<2x64x64xf16>)
// CHECK-NEXT:    [[S1:%.+]] = spyre.matmul([[Q]], [[OLD]]) : {{.+}} -> tensor<2x16x128xf16>
// CHECK-NEXT:    [[S2:%.+]] = spyre.matmul([[Q]], [[NEW]]) : {{.+}} -> tensor<2x16x64xf16>
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<2x16x192xf16>
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.insert [[S1]] into [[BUFFER]] at [0, 0, 0]
// CHECK-NEXT:    [[SCORES:%.+]] = spyre.insert [[S2]] into [[FIRST]] at [0, 0, 128]
// CHECK-NEXT:    return [[SCORES]]
func.func @columns(%query: tensor<2x16x64xf16>, %old: tensor<2x64x128xf16>, %new: tensor<2x64x64xf16>) -> tensor<2x16x192xf16> {
  %zero = arith.constant 0.0 : f16
  %keys = tensor.concat dim(2) %old, %new : (tensor<2x64x128xf16>, tensor<2x64x64xf16>) -> tensor<2x64x192xf16>
  %empty = tensor.empty() : tensor<2x16x192xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x16x192xf16>) -> tensor<2x16x192xf16>
  %scores = linalg.batch_matmul ins(%query, %keys : tensor<2x16x64xf16>, tensor<2x64x192xf16>) outs(%zeros : tensor<2x16x192xf16>) -> tensor<2x16x192xf16>
  return %scores : tensor<2x16x192xf16>
}

// -----

// Products of slices along the reduction dimension are summed.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME:    [[W:%.+]]: tensor<2x4x192xf16>, [[OLD:%.+]]: tensor<2x128x64xf16>, [[NEW:%.+]]: tensor<2x64x64xf16>)
// CHECK-NEXT:    [[W1:%.+]] = spyre.view [[W]] by affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<2x4x192xf16> -> tensor<2x4x128xf16>
// CHECK-NEXT:    [[S1:%.+]] = spyre.matmul([[W1]], [[OLD]])
// CHECK-NEXT:    [[W2:%.+]] = spyre.view [[W]] by affine_map<(d0, d1, d2) -> (d0, d1, d2 + 128)> : tensor<2x4x192xf16> -> tensor<2x4x64xf16>
// CHECK-NEXT:    [[S2:%.+]] = spyre.matmul([[W2]], [[NEW]])
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add([[S1]], [[S2]])
// CHECK-NEXT:    return [[SUM]]
func.func @sums(%weights: tensor<2x4x192xf16>, %old: tensor<2x128x64xf16>, %new: tensor<2x64x64xf16>) -> tensor<2x4x64xf16> {
  %zero = arith.constant 0.0 : f16
  %values = tensor.concat dim(1) %old, %new : (tensor<2x128x64xf16>, tensor<2x64x64xf16>) -> tensor<2x192x64xf16>
  %empty = tensor.empty() : tensor<2x4x64xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x4x64xf16>) -> tensor<2x4x64xf16>
  %sums = linalg.batch_matmul ins(%weights, %values : tensor<2x4x192xf16>, tensor<2x192x64xf16>) outs(%zeros : tensor<2x4x64xf16>) -> tensor<2x4x64xf16>
  return %sums : tensor<2x4x64xf16>
}

// -----

// As many scores as elements of the keys: the concatenation is kept.
// CHECK-LABEL: func.func @as_many(
// CHECK:         [[KEYS:%.+]] = spyre.insert {{.+}} at [0, 0, 128]
// CHECK-NEXT:    spyre.matmul({{%.+}}, [[KEYS]]) : {{.+}} -> tensor<2x64x192xf16>
func.func @as_many(%query: tensor<2x64x64xf16>, %old: tensor<2x64x128xf16>, %new: tensor<2x64x64xf16>) -> tensor<2x64x192xf16> {
  %zero = arith.constant 0.0 : f16
  %keys = tensor.concat dim(2) %old, %new : (tensor<2x64x128xf16>, tensor<2x64x64xf16>) -> tensor<2x64x192xf16>
  %empty = tensor.empty() : tensor<2x64x192xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x64x192xf16>) -> tensor<2x64x192xf16>
  %scores = linalg.batch_matmul ins(%query, %keys : tensor<2x64x64xf16>, tensor<2x64x192xf16>) outs(%zeros : tensor<2x64x192xf16>) -> tensor<2x64x192xf16>
  return %scores : tensor<2x64x192xf16>
}
