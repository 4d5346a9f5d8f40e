// Convolutions of groups of channels, and of each channel alone.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/groups.mlir -o %t/groups --validate > %t/log && spyre-run %t/groups --check %t/groups.mlir | FileCheck %s
// RUN: spyre-compile %t/groups_outside.mlir -o %t/groups_outside --validate > %t/log && spyre-run %t/groups_outside --check %t/groups_outside.mlir | FileCheck %s
// RUN: spyre-compile %t/depthwise.mlir -o %t/depthwise --validate > %t/log && spyre-run %t/depthwise --check %t/depthwise.mlir | FileCheck %s
// RUN: spyre-compile %t/multiplied.mlir -o %t/multiplied --validate > %t/log && spyre-run %t/multiplied --check %t/multiplied.mlir | FileCheck %s
// RUN: spyre-compile %t/depthwise_stride.mlir -o %t/depthwise_stride --validate > %t/log && spyre-run %t/depthwise_stride --check %t/depthwise_stride.mlir | FileCheck %s
// RUN: spyre-compile %t/groups_f32.mlir -o %t/groups_f32 --validate > %t/log && spyre-run %t/groups_f32 --check %t/groups_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/groups_outside_f32.mlir -o %t/groups_outside_f32 --validate > %t/log && spyre-run %t/groups_outside_f32 --check %t/groups_outside_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/depthwise_f32.mlir -o %t/depthwise_f32 --validate > %t/log && spyre-run %t/depthwise_f32 --check %t/depthwise_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/multiplied_f32.mlir -o %t/multiplied_f32 --validate > %t/log && spyre-run %t/multiplied_f32 --check %t/multiplied_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/depthwise_stride_f32.mlir -o %t/depthwise_stride_f32 --validate > %t/log && spyre-run %t/depthwise_stride_f32 --check %t/depthwise_stride_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/narrow.mlir -o %t/narrow --validate > %t/log && spyre-run %t/narrow --check %t/narrow.mlir | FileCheck %s

// CHECK: result0: correct

//--- groups.mlir
func.func @groups(%x: tensor<4x2x16x7x7xf16>, %w: tensor<2x32x16x3x3xf16>) -> tensor<4x2x32x7x7xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,0,1,1] high[0,0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
    tensor.yield %zero : f16
  } : tensor<4x2x16x7x7xf16> to tensor<4x2x16x9x9xf16>
  %shape = tensor.empty() : tensor<4x2x32x7x7xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x2x32x7x7xf16>) -> tensor<4x2x32x7x7xf16>
  %y = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<4x2x16x9x9xf16>, tensor<2x32x16x3x3xf16>) outs(%start : tensor<4x2x32x7x7xf16>) -> tensor<4x2x32x7x7xf16>
  return %y : tensor<4x2x32x7x7xf16>
}

//--- groups_outside.mlir
func.func @groups_outside(%x: tensor<1x2x64x7x7xf16>, %w: tensor<64x2x64x3x3xf16>) -> tensor<1x2x64x4x4xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,0,1,1] high[0,0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
    tensor.yield %zero : f16
  } : tensor<1x2x64x7x7xf16> to tensor<1x2x64x9x9xf16>
  %shape = tensor.empty() : tensor<1x2x64x4x4xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x2x64x4x4xf16>) -> tensor<1x2x64x4x4xf16>
  %y = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<1x2x64x9x9xf16>, tensor<64x2x64x3x3xf16>) outs(%start : tensor<1x2x64x4x4xf16>) -> tensor<1x2x64x4x4xf16>
  return %y : tensor<1x2x64x4x4xf16>
}

//--- depthwise.mlir
func.func @depthwise(%x: tensor<4x96x7x7xf16>, %w: tensor<96x3x3xf16>) -> tensor<4x96x7x7xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<4x96x7x7xf16> to tensor<4x96x9x9xf16>
  %shape = tensor.empty() : tensor<4x96x7x7xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x96x7x7xf16>) -> tensor<4x96x7x7xf16>
  %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<4x96x9x9xf16>, tensor<96x3x3xf16>) outs(%start : tensor<4x96x7x7xf16>) -> tensor<4x96x7x7xf16>
  return %y : tensor<4x96x7x7xf16>
}

//--- multiplied.mlir
func.func @multiplied(%x: tensor<1x7x7x16xf16>, %w: tensor<3x3x16x2xf16>) -> tensor<1x7x7x16x2xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,1,1,0] high[0,1,1,0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<1x7x7x16xf16> to tensor<1x9x9x16xf16>
  %shape = tensor.empty() : tensor<1x7x7x16x2xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x7x7x16x2xf16>) -> tensor<1x7x7x16x2xf16>
  %y = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<1x9x9x16xf16>, tensor<3x3x16x2xf16>) outs(%start : tensor<1x7x7x16x2xf16>) -> tensor<1x7x7x16x2xf16>
  return %y : tensor<1x7x7x16x2xf16>
}

//--- depthwise_stride.mlir
func.func @depthwise_stride(%x: tensor<1x13x13x16xf16>, %w: tensor<3x3x16xf16>) -> tensor<1x7x7x16xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,1,1,0] high[0,1,1,0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<1x13x13x16xf16> to tensor<1x15x15x16xf16>
  %shape = tensor.empty() : tensor<1x7x7x16xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x7x7x16xf16>) -> tensor<1x7x7x16xf16>
  %y = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<1x15x15x16xf16>, tensor<3x3x16xf16>) outs(%start : tensor<1x7x7x16xf16>) -> tensor<1x7x7x16xf16>
  return %y : tensor<1x7x7x16xf16>
}

//--- groups_f32.mlir
func.func @groups_f32(%x: tensor<4x2x16x7x7xf32>, %w: tensor<2x32x16x3x3xf32>) -> tensor<4x2x32x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0,0,0,1,1] high[0,0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
    tensor.yield %zero : f32
  } : tensor<4x2x16x7x7xf32> to tensor<4x2x16x9x9xf32>
  %shape = tensor.empty() : tensor<4x2x32x7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<4x2x32x7x7xf32>) -> tensor<4x2x32x7x7xf32>
  %y = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<4x2x16x9x9xf32>, tensor<2x32x16x3x3xf32>) outs(%start : tensor<4x2x32x7x7xf32>) -> tensor<4x2x32x7x7xf32>
  return %y : tensor<4x2x32x7x7xf32>
}

//--- groups_outside_f32.mlir
func.func @groups_outside_f32(%x: tensor<1x2x64x7x7xf32>, %w: tensor<64x2x64x3x3xf32>) -> tensor<1x2x64x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0,0,0,1,1] high[0,0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
    tensor.yield %zero : f32
  } : tensor<1x2x64x7x7xf32> to tensor<1x2x64x9x9xf32>
  %shape = tensor.empty() : tensor<1x2x64x4x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<1x2x64x4x4xf32>) -> tensor<1x2x64x4x4xf32>
  %y = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<1x2x64x9x9xf32>, tensor<64x2x64x3x3xf32>) outs(%start : tensor<1x2x64x4x4xf32>) -> tensor<1x2x64x4x4xf32>
  return %y : tensor<1x2x64x4x4xf32>
}

//--- depthwise_f32.mlir
func.func @depthwise_f32(%x: tensor<4x96x7x7xf32>, %w: tensor<96x3x3xf32>) -> tensor<4x96x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<4x96x7x7xf32> to tensor<4x96x9x9xf32>
  %shape = tensor.empty() : tensor<4x96x7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<4x96x7x7xf32>) -> tensor<4x96x7x7xf32>
  %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<4x96x9x9xf32>, tensor<96x3x3xf32>) outs(%start : tensor<4x96x7x7xf32>) -> tensor<4x96x7x7xf32>
  return %y : tensor<4x96x7x7xf32>
}

//--- multiplied_f32.mlir
func.func @multiplied_f32(%x: tensor<1x7x7x16xf32>, %w: tensor<3x3x16x2xf32>) -> tensor<1x7x7x16x2xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0,1,1,0] high[0,1,1,0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x7x7x16xf32> to tensor<1x9x9x16xf32>
  %shape = tensor.empty() : tensor<1x7x7x16x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<1x7x7x16x2xf32>) -> tensor<1x7x7x16x2xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %w : tensor<1x9x9x16xf32>, tensor<3x3x16x2xf32>) outs(%start : tensor<1x7x7x16x2xf32>) -> tensor<1x7x7x16x2xf32>
  return %y : tensor<1x7x7x16x2xf32>
}

//--- depthwise_stride_f32.mlir
func.func @depthwise_stride_f32(%x: tensor<1x13x13x16xf32>, %w: tensor<3x3x16xf32>) -> tensor<1x7x7x16xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0,1,1,0] high[0,1,1,0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x13x13x16xf32> to tensor<1x15x15x16xf32>
  %shape = tensor.empty() : tensor<1x7x7x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<1x7x7x16xf32>) -> tensor<1x7x7x16xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<1x15x15x16xf32>, tensor<3x3x16xf32>) outs(%start : tensor<1x7x7x16xf32>) -> tensor<1x7x7x16xf32>
  return %y : tensor<1x7x7x16xf32>
}

//--- narrow.mlir
func.func @narrow(%x: tensor<4x16x7x7xf16>, %w: tensor<32x4x3x3xf16>) -> tensor<4x4x8x7x7xf16> {
  %zero = arith.constant 0.0 : f16
  %start = arith.constant dense<0.0> : tensor<4x4x8x7x7xf16>
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<4x16x7x7xf16> to tensor<4x16x9x9xf16>
  %groups = tensor.expand_shape %padded [[0], [1, 2], [3], [4]] output_shape [4, 4, 4, 9, 9] : tensor<4x16x9x9xf16> into tensor<4x4x4x9x9xf16>
  %filters = tensor.expand_shape %w [[0, 1], [2], [3], [4]] output_shape [4, 8, 4, 3, 3] : tensor<32x4x3x3xf16> into tensor<4x8x4x3x3xf16>
  %y = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%groups, %filters : tensor<4x4x4x9x9xf16>, tensor<4x8x4x3x3xf16>) outs(%start : tensor<4x4x8x7x7xf16>) -> tensor<4x4x8x7x7xf16>
  return %y : tensor<4x4x8x7x7xf16>
}
