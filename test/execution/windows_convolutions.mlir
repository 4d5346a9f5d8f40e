// Convolutions in two dimensions: strides, dilation, padding, images and channels that are no multiple of a stick.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/padded.mlir -o %t/padded --validate > %t/log && spyre-run %t/padded --check %t/padded.mlir | FileCheck %s
// RUN: spyre-compile %t/stride.mlir -o %t/stride --validate > %t/log && spyre-run %t/stride --check %t/stride.mlir | FileCheck %s
// RUN: spyre-compile %t/dilated.mlir -o %t/dilated --validate > %t/log && spyre-run %t/dilated --check %t/dilated.mlir | FileCheck %s
// RUN: spyre-compile %t/one_point.mlir -o %t/one_point --validate > %t/log && spyre-run %t/one_point --check %t/one_point.mlir | FileCheck %s
// RUN: spyre-compile %t/one_point_stride.mlir -o %t/one_point_stride --validate > %t/log && spyre-run %t/one_point_stride --check %t/one_point_stride.mlir | FileCheck %s
// RUN: spyre-compile %t/patches.mlir -o %t/patches --validate > %t/log && spyre-run %t/patches --check %t/patches.mlir | FileCheck %s
// RUN: spyre-compile %t/patches_of_sticks.mlir -o %t/patches_of_sticks --validate > %t/log && spyre-run %t/patches_of_sticks --check %t/patches_of_sticks.mlir | FileCheck %s

// CHECK: result0: correct

//--- padded.mlir
func.func @padded(%x: tensor<1x16x7x7xf16>, %w: tensor<96x16x3x3xf16>, %b: tensor<96xf16>) -> tensor<1x96x7x7xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<1x16x7x7xf16> to tensor<1x16x9x9xf16>
  %shape = tensor.empty() : tensor<1x96x7x7xf16>
  %start = linalg.broadcast ins(%b : tensor<96xf16>) outs(%shape : tensor<1x96x7x7xf16>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<1x16x9x9xf16>, tensor<96x16x3x3xf16>) outs(%start : tensor<1x96x7x7xf16>) -> tensor<1x96x7x7xf16>
  return %y : tensor<1x96x7x7xf16>
}

//--- stride.mlir
func.func @stride(%x: tensor<4x3x13x13xf16>, %w: tensor<16x3x3x3xf16>) -> tensor<4x16x7x7xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<4x3x13x13xf16> to tensor<4x3x15x15xf16>
  %shape = tensor.empty() : tensor<4x16x7x7xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<4x3x15x15xf16>, tensor<16x3x3x3xf16>) outs(%start : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  return %y : tensor<4x16x7x7xf16>
}

//--- dilated.mlir
func.func @dilated(%x: tensor<4x9x9x16xf16>, %w: tensor<3x3x16x64xf16>) -> tensor<4x9x9x64xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,2,2,0] high[0,2,2,0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<4x9x9x16xf16> to tensor<4x13x13x16xf16>
  %shape = tensor.empty() : tensor<4x9x9x64xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x9x9x64xf16>) -> tensor<4x9x9x64xf16>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<4x13x13x16xf16>, tensor<3x3x16x64xf16>) outs(%start : tensor<4x9x9x64xf16>) -> tensor<4x9x9x64xf16>
  return %y : tensor<4x9x9x64xf16>
}

//--- one_point.mlir
func.func @one_point(%x: tensor<4x96x7x7xf16>, %w: tensor<16x96x1x1xf16>) -> tensor<4x16x7x7xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<4x16x7x7xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<4x96x7x7xf16>, tensor<16x96x1x1xf16>) outs(%start : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  return %y : tensor<4x16x7x7xf16>
}

//--- one_point_stride.mlir
func.func @one_point_stride(%x: tensor<1x7x7x64xf16>, %w: tensor<128x1x1x64xf16>) -> tensor<1x4x4x128xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<1x4x4x128xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x4x4x128xf16>) -> tensor<1x4x4x128xf16>
  %y = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x7x7x64xf16>, tensor<128x1x1x64xf16>) outs(%start : tensor<1x4x4x128xf16>) -> tensor<1x4x4x128xf16>
  return %y : tensor<1x4x4x128xf16>
}

//--- patches.mlir
func.func @patches(%x: tensor<4x3x14x14xf16>, %w: tensor<96x3x7x7xf16>) -> tensor<4x96x2x2xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<4x96x2x2xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x96x2x2xf16>) -> tensor<4x96x2x2xf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<7> : tensor<2xi64>} ins(%x, %w : tensor<4x3x14x14xf16>, tensor<96x3x7x7xf16>) outs(%start : tensor<4x96x2x2xf16>) -> tensor<4x96x2x2xf16>
  return %y : tensor<4x96x2x2xf16>
}

//--- patches_of_sticks.mlir
func.func @patches_of_sticks(%x: tensor<1x96x7x7xf16>, %w: tensor<64x96x2x2xf16>) -> tensor<1x64x3x3xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<1x64x3x3xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x64x3x3xf16>) -> tensor<1x64x3x3xf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x96x7x7xf16>, tensor<64x96x2x2xf16>) outs(%start : tensor<1x64x3x3xf16>) -> tensor<1x64x3x3xf16>
  return %y : tensor<1x64x3x3xf16>
}
