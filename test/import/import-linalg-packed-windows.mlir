// RUN: spyre-opt --spyre-import-linalg --split-input-file --mlir-print-local-scope %s | FileCheck %s

// Selections put the three points of a row of the kernel beside each other, and three products sum over them. Columns that are read with a
// stride are padded once, in the image.
// CHECK-LABEL: func.func @few_channels(
// CHECK-SAME:    {{.+}}, [[KERNEL:%.+]]: tensor<64x3x3x3xf16>)
// CHECK:         [[FIRST:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (0, d2, d0, d1 * 2)> : tensor<1x3x10x10xf16> -> tensor<10x4x3xf16>
// CHECK:         [[SELECTION:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<3x9xf16> -> tensor<10x3x9xf16>
// CHECK-NEXT:    spyre.matmul([[FIRST]], [[SELECTION]])
// CHECK-COUNT-2: spyre.pointwise add({{.+}}) : tensor<10x4x9xf16>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (d0 * 2, d1, d2)> : tensor<10x4x9xf16> -> tensor<4x4x9xf16>
// CHECK-NEXT:    [[POINT:%.+]] = spyre.view [[KERNEL]] by affine_map<(d0, d1, d2) -> (d2, d1, 0, d0)> : tensor<64x3x3x3xf16> -> tensor<3x3x64xf16>
// CHECK-NEXT:    [[COLUMNS:%.+]] = spyre.view [[POINT]] by affine_map<(d0, d1) -> (d0 floordiv 3, d0 mod 3, d1)> : tensor<3x3x64xf16> -> tensor<9x64xf16>
// CHECK-NEXT:    [[SHARED:%.+]] = spyre.view [[COLUMNS]] by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<9x64xf16> -> tensor<4x9x64xf16>
// CHECK-NEXT:    spyre.matmul([[ROWS]], [[SHARED]]) : (tensor<4x4x9xf16>, tensor<4x9x64xf16>) -> tensor<4x4x64xf16>
// CHECK-COUNT-2: spyre.matmul({{.+}} -> tensor<4x4x64xf16>
// CHECK-NOT:     spyre.matmul
func.func @few_channels(%x: tensor<1x3x9x9xf16>, %w: tensor<64x3x3x3xf16>) -> tensor<1x64x4x4xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x64x4x4xf16>
  %f = linalg.fill ins(%z: f16) outs(%e: tensor<1x64x4x4xf16>) -> tensor<1x64x4x4xf16>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>} ins(%x, %w : tensor<1x3x9x9xf16>, tensor<64x3x3x3xf16>) outs(%f : tensor<1x64x4x4xf16>) -> tensor<1x64x4x4xf16>
  return %c : tensor<1x64x4x4xf16>
}

// -----

// Three points with 22 channels each are more than a stick.
// CHECK-LABEL: func.func @many_channels(
// CHECK-COUNT-9: spyre.matmul(
// CHECK-NOT:     spyre.matmul
func.func @many_channels(%x: tensor<1x22x6x6xf16>, %w: tensor<64x22x3x3xf16>) -> tensor<1x64x4x4xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x64x4x4xf16>
  %f = linalg.fill ins(%z: f16) outs(%e: tensor<1x64x4x4xf16>) -> tensor<1x64x4x4xf16>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x22x6x6xf16>, tensor<64x22x3x3xf16>) outs(%f : tensor<1x64x4x4xf16>) -> tensor<1x64x4x4xf16>
  return %c : tensor<1x64x4x4xf16>
}

// -----

// Two points in each direction take four products, and would take two selections and two products.
// CHECK-LABEL: func.func @few_points(
// CHECK-COUNT-4: spyre.matmul(
// CHECK-NOT:     spyre.matmul
func.func @few_points(%x: tensor<1x3x6x6xf16>, %w: tensor<64x3x2x2xf16>) -> tensor<1x64x5x5xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x64x5x5xf16>
  %f = linalg.fill ins(%z: f16) outs(%e: tensor<1x64x5x5xf16>) -> tensor<1x64x5x5xf16>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x6x6xf16>, tensor<64x3x2x2xf16>) outs(%f : tensor<1x64x5x5xf16>) -> tensor<1x64x5x5xf16>
  return %c : tensor<1x64x5x5xf16>
}
