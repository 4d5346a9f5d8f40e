// Patches of several frames, as video transformers cut them: more dimensions are taken apart than an op walks along, so channels and frames of a patch
// are put together first. Frames stand before or behind the channels.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/before.mlir -o %t/before --validate > %t/log && spyre-run %t/before --check %t/before.mlir | FileCheck %s
// RUN: spyre-compile %t/behind.mlir -o %t/behind --validate > %t/log && spyre-run %t/behind --check %t/behind.mlir | FileCheck %s
// CHECK: result0: correct

//--- before.mlir
func.func @main(%x: tensor<1x4x3x32x32xf16>, %w: tensor<64x3x2x8x8xf16>) -> tensor<1x64x2x4x4xf16> {
  %zero = arith.constant 0.0 : f16
  %channels = tensor.empty() : tensor<1x3x4x32x32xf16>
  %turned = linalg.transpose ins(%x : tensor<1x4x3x32x32xf16>) outs(%channels : tensor<1x3x4x32x32xf16>) permutation = [0, 2, 1, 3, 4]
  %empty = tensor.empty() : tensor<1x64x2x4x4xf16>
  %begin = linalg.fill ins(%zero : f16) outs(%empty : tensor<1x64x2x4x4xf16>) -> tensor<1x64x2x4x4xf16>
  %y = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : vector<3xi64>, strides = dense<[2, 8, 8]> : vector<3xi64>}
      ins(%turned, %w : tensor<1x3x4x32x32xf16>, tensor<64x3x2x8x8xf16>) outs(%begin : tensor<1x64x2x4x4xf16>) -> tensor<1x64x2x4x4xf16>
  return %y : tensor<1x64x2x4x4xf16>
}

//--- behind.mlir
func.func @main(%x: tensor<1x3x6x33x33xf16>, %w: tensor<10x3x3x11x11xf16>) -> tensor<1x10x2x3x3xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<1x10x2x3x3xf16>
  %begin = linalg.fill ins(%zero : f16) outs(%empty : tensor<1x10x2x3x3xf16>) -> tensor<1x10x2x3x3xf16>
  %y = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : vector<3xi64>, strides = dense<[3, 11, 11]> : vector<3xi64>}
      ins(%x, %w : tensor<1x3x6x33x33xf16>, tensor<10x3x3x11x11xf16>) outs(%begin : tensor<1x10x2x3x3xf16>) -> tensor<1x10x2x3x3xf16>
  return %y : tensor<1x10x2x3x3xf16>
}
