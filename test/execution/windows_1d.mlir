// Convolutions and poolings in one dimension.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/channels_outside.mlir -o %t/channels_outside --validate > %t/log && spyre-run %t/channels_outside --check %t/channels_outside.mlir | FileCheck %s
// RUN: spyre-compile %t/channels_inside.mlir -o %t/channels_inside --validate > %t/log && spyre-run %t/channels_inside --check %t/channels_inside.mlir | FileCheck %s
// RUN: spyre-compile %t/one_channel.mlir -o %t/one_channel --validate > %t/log && spyre-run %t/one_channel --check %t/one_channel.mlir | FileCheck %s
// RUN: spyre-compile %t/causal.mlir -o %t/causal --validate > %t/log && spyre-run %t/causal --check %t/causal.mlir | FileCheck %s
// RUN: spyre-compile %t/maximum.mlir -o %t/maximum --validate > %t/log && spyre-run %t/maximum --check %t/maximum.mlir | FileCheck %s
// RUN: spyre-compile %t/sum.mlir -o %t/sum --validate > %t/log && spyre-run %t/sum --check %t/sum.mlir | FileCheck %s

// CHECK: result0: correct

//--- channels_outside.mlir
func.func @channels_outside(%x: tensor<4x80x13xf16>, %w: tensor<64x80x3xf16>) -> tensor<4x64x7xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,1] high[0,0,1] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f16
  } : tensor<4x80x13xf16> to tensor<4x80x15xf16>
  %shape = tensor.empty() : tensor<4x64x7xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x64x7xf16>) -> tensor<4x64x7xf16>
  %y = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%padded, %w : tensor<4x80x15xf16>, tensor<64x80x3xf16>) outs(%start : tensor<4x64x7xf16>) -> tensor<4x64x7xf16>
  return %y : tensor<4x64x7xf16>
}

//--- channels_inside.mlir
func.func @channels_inside(%x: tensor<1x30x16xf16>, %w: tensor<5x16x96xf16>) -> tensor<1x11x96xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<1x11x96xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x11x96xf16>) -> tensor<1x11x96xf16>
  %y = linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%x, %w : tensor<1x30x16xf16>, tensor<5x16x96xf16>) outs(%start : tensor<1x11x96xf16>) -> tensor<1x11x96xf16>
  return %y : tensor<1x11x96xf16>
}

//--- one_channel.mlir
func.func @one_channel(%x: tensor<4x1x50xf16>, %w: tensor<64x1x10xf16>) -> tensor<4x64x9xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<4x64x9xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x64x9xf16>) -> tensor<4x64x9xf16>
  %y = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<5> : tensor<1xi64>} ins(%x, %w : tensor<4x1x50xf16>, tensor<64x1x10xf16>) outs(%start : tensor<4x64x9xf16>) -> tensor<4x64x9xf16>
  return %y : tensor<4x64x9xf16>
}

//--- causal.mlir
func.func @causal(%x: tensor<4x96x13xf16>, %w: tensor<96x4xf16>) -> tensor<4x96x13xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0,0,3] high[0,0,0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f16
  } : tensor<4x96x13xf16> to tensor<4x96x16xf16>
  %shape = tensor.empty() : tensor<4x96x13xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<4x96x13xf16>) -> tensor<4x96x13xf16>
  %y = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%padded, %w : tensor<4x96x16xf16>, tensor<96x4xf16>) outs(%start : tensor<4x96x13xf16>) -> tensor<4x96x13xf16>
  return %y : tensor<4x96x13xf16>
}

//--- maximum.mlir
func.func @maximum(%x: tensor<4x16x13xf16>) -> tensor<4x16x7xf16> {
  %lowest = arith.constant 0xFC00 : f16
  %padded = tensor.pad %x low[0,0,1] high[0,0,1] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %lowest : f16
  } : tensor<4x16x13xf16> to tensor<4x16x15xf16>
  %shape = tensor.empty() : tensor<4x16x7xf16>
  %start = linalg.fill ins(%lowest : f16) outs(%shape : tensor<4x16x7xf16>) -> tensor<4x16x7xf16>
  %window = tensor.empty() : tensor<3xf16>
  %y = linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%padded, %window : tensor<4x16x15xf16>, tensor<3xf16>) outs(%start : tensor<4x16x7xf16>) -> tensor<4x16x7xf16>
  return %y : tensor<4x16x7xf16>
}

//--- sum.mlir
func.func @sum(%x: tensor<1x30x96xf16>) -> tensor<1x19x96xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<1x19x96xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x19x96xf16>) -> tensor<1x19x96xf16>
  %window = tensor.empty() : tensor<12xf16>
  %y = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x, %window : tensor<1x30x96xf16>, tensor<12xf16>) outs(%start : tensor<1x19x96xf16>) -> tensor<1x19x96xf16>
  return %y : tensor<1x19x96xf16>
}
