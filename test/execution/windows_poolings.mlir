// Poolings: strides, dilation, padding, a ragged last window, windows that do not overlap, long ones.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/maximum.mlir -o %t/maximum --validate > %t/log && spyre-run %t/maximum --check %t/maximum.mlir | FileCheck %s
// RUN: spyre-compile %t/ragged.mlir -o %t/ragged --validate > %t/log && spyre-run %t/ragged --check %t/ragged.mlir | FileCheck %s
// RUN: spyre-compile %t/dilated.mlir -o %t/dilated --validate > %t/log && spyre-run %t/dilated --check %t/dilated.mlir | FileCheck %s
// RUN: spyre-compile %t/apart.mlir -o %t/apart --validate > %t/log && spyre-run %t/apart --check %t/apart.mlir | FileCheck %s
// RUN: spyre-compile %t/sum.mlir -o %t/sum --validate > %t/log && spyre-run %t/sum --check %t/sum.mlir | FileCheck %s
// RUN: spyre-compile %t/whole.mlir -o %t/whole --validate > %t/log && spyre-run %t/whole --check %t/whole.mlir | FileCheck %s
// RUN: spyre-compile %t/long.mlir -o %t/long --validate > %t/log && spyre-run %t/long --check %t/long.mlir | FileCheck %s
// RUN: spyre-compile %t/maximum_f32.mlir -o %t/maximum_f32 --validate > %t/log && spyre-run %t/maximum_f32 --check %t/maximum_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/ragged_f32.mlir -o %t/ragged_f32 --validate > %t/log && spyre-run %t/ragged_f32 --check %t/ragged_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/dilated_f32.mlir -o %t/dilated_f32 --validate > %t/log && spyre-run %t/dilated_f32 --check %t/dilated_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/apart_f32.mlir -o %t/apart_f32 --validate > %t/log && spyre-run %t/apart_f32 --check %t/apart_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/sum_f32.mlir -o %t/sum_f32 --validate > %t/log && spyre-run %t/sum_f32 --check %t/sum_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/whole_f32.mlir -o %t/whole_f32 --validate > %t/log && spyre-run %t/whole_f32 --check %t/whole_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/long_f32.mlir -o %t/long_f32 --validate > %t/log && spyre-run %t/long_f32 --check %t/long_f32.mlir | FileCheck %s

// CHECK: result0: correct

//--- maximum.mlir
func.func @maximum(%x: tensor<4x16x13x13xf16>) -> tensor<4x16x7x7xf16> {
  %lowest = arith.constant 0xFC00 : f16
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f16
  } : tensor<4x16x13x13xf16> to tensor<4x16x15x15xf16>
  %shape = tensor.empty() : tensor<4x16x7x7xf16>
  %start = linalg.fill ins(%lowest : f16) outs(%shape : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  %window = tensor.empty() : tensor<3x3xf16>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %window : tensor<4x16x15x15xf16>, tensor<3x3xf16>) outs(%start : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  return %y : tensor<4x16x7x7xf16>
}

//--- ragged.mlir
func.func @ragged(%x: tensor<1x96x7x7xf16>) -> tensor<1x96x4x4xf16> {
  %lowest = arith.constant 0xFC00 : f16
  %padded = tensor.pad %x low[0,0,0,0] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f16
  } : tensor<1x96x7x7xf16> to tensor<1x96x8x8xf16>
  %shape = tensor.empty() : tensor<1x96x4x4xf16>
  %start = linalg.fill ins(%lowest : f16) outs(%shape : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  %window = tensor.empty() : tensor<2x2xf16>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %window : tensor<1x96x8x8xf16>, tensor<2x2xf16>) outs(%start : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  return %y : tensor<1x96x4x4xf16>
}

//--- dilated.mlir
func.func @dilated(%x: tensor<4x16x9x9xf16>) -> tensor<4x16x9x9xf16> {
  %lowest = arith.constant 0xFC00 : f16
  %padded = tensor.pad %x low[0,0,2,2] high[0,0,2,2] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f16
  } : tensor<4x16x9x9xf16> to tensor<4x16x13x13xf16>
  %shape = tensor.empty() : tensor<4x16x9x9xf16>
  %start = linalg.fill ins(%lowest : f16) outs(%shape : tensor<4x16x9x9xf16>) -> tensor<4x16x9x9xf16>
  %window = tensor.empty() : tensor<3x3xf16>
  %y = linalg.pooling_nchw_max {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %window : tensor<4x16x13x13xf16>, tensor<3x3xf16>) outs(%start : tensor<4x16x9x9xf16>) -> tensor<4x16x9x9xf16>
  return %y : tensor<4x16x9x9xf16>
}

//--- apart.mlir
func.func @apart(%x: tensor<4x14x14x3xf16>) -> tensor<4x7x7x3xf16> {
  %highest = arith.constant 0x7C00 : f16
  %shape = tensor.empty() : tensor<4x7x7x3xf16>
  %start = linalg.fill ins(%highest : f16) outs(%shape : tensor<4x7x7x3xf16>) -> tensor<4x7x7x3xf16>
  %window = tensor.empty() : tensor<2x2xf16>
  %y = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<4x14x14x3xf16>, tensor<2x2xf16>) outs(%start : tensor<4x7x7x3xf16>) -> tensor<4x7x7x3xf16>
  return %y : tensor<4x7x7x3xf16>
}

//--- sum.mlir
func.func @sum(%x: tensor<1x96x7x7xf16>) -> tensor<1x96x7x7xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f16
  } : tensor<1x96x7x7xf16> to tensor<1x96x9x9xf16>
  %shape = tensor.empty() : tensor<1x96x7x7xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x96x7x7xf16>) -> tensor<1x96x7x7xf16>
  %window = tensor.empty() : tensor<3x3xf16>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %window : tensor<1x96x9x9xf16>, tensor<3x3xf16>) outs(%start : tensor<1x96x7x7xf16>) -> tensor<1x96x7x7xf16>
  return %y : tensor<1x96x7x7xf16>
}

//--- whole.mlir
func.func @whole(%x: tensor<4x96x7x7xf16>) -> tensor<4x96x1x1xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<4x96x1x1xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x96x1x1xf16>) -> tensor<4x96x1x1xf16>
  %window = tensor.empty() : tensor<7x7xf16>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<4x96x7x7xf16>, tensor<7x7xf16>) outs(%start : tensor<4x96x1x1xf16>) -> tensor<4x96x1x1xf16>
  return %y : tensor<4x96x1x1xf16>
}

//--- long.mlir
func.func @long(%x: tensor<4x13x13x16xf16>) -> tensor<4x13x13x16xf16> {
  %lowest = arith.constant 0xFC00 : f16
  %padded = tensor.pad %x low[0,5,5,0] high[0,5,5,0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f16
  } : tensor<4x13x13x16xf16> to tensor<4x23x23x16xf16>
  %shape = tensor.empty() : tensor<4x13x13x16xf16>
  %start = linalg.fill ins(%lowest : f16) outs(%shape : tensor<4x13x13x16xf16>) -> tensor<4x13x13x16xf16>
  %window = tensor.empty() : tensor<11x11xf16>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %window : tensor<4x23x23x16xf16>, tensor<11x11xf16>) outs(%start : tensor<4x13x13x16xf16>) -> tensor<4x13x13x16xf16>
  return %y : tensor<4x13x13x16xf16>
}

//--- maximum_f32.mlir
func.func @maximum_f32(%x: tensor<4x16x13x13xf32>) -> tensor<4x16x7x7xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f32
  } : tensor<4x16x13x13xf32> to tensor<4x16x15x15xf32>
  %shape = tensor.empty() : tensor<4x16x7x7xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%shape : tensor<4x16x7x7xf32>) -> tensor<4x16x7x7xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %window : tensor<4x16x15x15xf32>, tensor<3x3xf32>) outs(%start : tensor<4x16x7x7xf32>) -> tensor<4x16x7x7xf32>
  return %y : tensor<4x16x7x7xf32>
}

//--- ragged_f32.mlir
func.func @ragged_f32(%x: tensor<1x96x7x7xf32>) -> tensor<1x96x4x4xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %x low[0,0,0,0] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f32
  } : tensor<1x96x7x7xf32> to tensor<1x96x8x8xf32>
  %shape = tensor.empty() : tensor<1x96x4x4xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%shape : tensor<1x96x4x4xf32>) -> tensor<1x96x4x4xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %window : tensor<1x96x8x8xf32>, tensor<2x2xf32>) outs(%start : tensor<1x96x4x4xf32>) -> tensor<1x96x4x4xf32>
  return %y : tensor<1x96x4x4xf32>
}

//--- dilated_f32.mlir
func.func @dilated_f32(%x: tensor<4x16x9x9xf32>) -> tensor<4x16x9x9xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %x low[0,0,2,2] high[0,0,2,2] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f32
  } : tensor<4x16x9x9xf32> to tensor<4x16x13x13xf32>
  %shape = tensor.empty() : tensor<4x16x9x9xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%shape : tensor<4x16x9x9xf32>) -> tensor<4x16x9x9xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %window : tensor<4x16x13x13xf32>, tensor<3x3xf32>) outs(%start : tensor<4x16x9x9xf32>) -> tensor<4x16x9x9xf32>
  return %y : tensor<4x16x9x9xf32>
}

//--- apart_f32.mlir
func.func @apart_f32(%x: tensor<4x14x14x3xf32>) -> tensor<4x7x7x3xf32> {
  %highest = arith.constant 0x7F800000 : f32
  %shape = tensor.empty() : tensor<4x7x7x3xf32>
  %start = linalg.fill ins(%highest : f32) outs(%shape : tensor<4x7x7x3xf32>) -> tensor<4x7x7x3xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %y = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<4x14x14x3xf32>, tensor<2x2xf32>) outs(%start : tensor<4x7x7x3xf32>) -> tensor<4x7x7x3xf32>
  return %y : tensor<4x7x7x3xf32>
}

//--- sum_f32.mlir
func.func @sum_f32(%x: tensor<1x96x7x7xf32>) -> tensor<1x96x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0,0,1,1] high[0,0,1,1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x96x7x7xf32> to tensor<1x96x9x9xf32>
  %shape = tensor.empty() : tensor<1x96x7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<1x96x7x7xf32>) -> tensor<1x96x7x7xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %window : tensor<1x96x9x9xf32>, tensor<3x3xf32>) outs(%start : tensor<1x96x7x7xf32>) -> tensor<1x96x7x7xf32>
  return %y : tensor<1x96x7x7xf32>
}

//--- whole_f32.mlir
func.func @whole_f32(%x: tensor<4x96x7x7xf32>) -> tensor<4x96x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %shape = tensor.empty() : tensor<4x96x1x1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%shape : tensor<4x96x1x1xf32>) -> tensor<4x96x1x1xf32>
  %window = tensor.empty() : tensor<7x7xf32>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<4x96x7x7xf32>, tensor<7x7xf32>) outs(%start : tensor<4x96x1x1xf32>) -> tensor<4x96x1x1xf32>
  return %y : tensor<4x96x1x1xf32>
}

//--- long_f32.mlir
func.func @long_f32(%x: tensor<4x13x13x16xf32>) -> tensor<4x13x13x16xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %x low[0,5,5,0] high[0,5,5,0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %lowest : f32
  } : tensor<4x13x13x16xf32> to tensor<4x23x23x16xf32>
  %shape = tensor.empty() : tensor<4x13x13x16xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%shape : tensor<4x13x13x16xf32>) -> tensor<4x13x13x16xf32>
  %window = tensor.empty() : tensor<11x11xf32>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %window : tensor<4x23x23x16xf32>, tensor<11x11xf32>) outs(%start : tensor<4x13x13x16xf32>) -> tensor<4x13x13x16xf32>
  return %y : tensor<4x13x13x16xf32>
}
