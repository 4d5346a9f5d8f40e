// RUN: spyre-opt --split-input-file --spyre-pad-contractions %s | FileCheck %s

// The padded buffer has one batch dimension, however many the source of the view has, because buffers have few dimensions.
// CHECK-LABEL: func.func @three_batch_dims(
// CHECK: spyre.empty : tensor<12x64x7xf16>
// CHECK: spyre.insert %{{.*}} into %{{.*}} at [0, 0, 0] : tensor<12x34x7xf16> into tensor<12x64x7xf16>
func.func @three_batch_dims(%a: tensor<12x5x34xf16>, %b: tensor<2x3x2x34x7xf16>) -> tensor<12x5x7xf16> {
  %0 = spyre.view %b by affine_map<(d0, d1, d2) -> (d0 floordiv 6, (d0 floordiv 2) mod 3, d0 mod 2, d1, d2)> : tensor<2x3x2x34x7xf16> -> tensor<12x34x7xf16>
  %1 = spyre.matmul(%a, %0) : (tensor<12x5x34xf16>, tensor<12x34x7xf16>) -> tensor<12x5x7xf16>
  return %1 : tensor<12x5x7xf16>
}

// -----

// Repeated heads are padded once: two heads each share the keys of one head.
// CHECK-LABEL: func.func @shared_keys(
// CHECK: spyre.empty : tensor<3x64x7xf16>
func.func @shared_keys(%a: tensor<6x5x34xf16>, %b: tensor<3x34x7xf16>) -> tensor<6x5x7xf16> {
  %0 = spyre.view %b by affine_map<(d0, d1, d2) -> (d0 floordiv 2, d1, d2)> : tensor<3x34x7xf16> -> tensor<6x34x7xf16>
  %1 = spyre.matmul(%a, %0) : (tensor<6x5x34xf16>, tensor<6x34x7xf16>) -> tensor<6x5x7xf16>
  return %1 : tensor<6x5x7xf16>
}
