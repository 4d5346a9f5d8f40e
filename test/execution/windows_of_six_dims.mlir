// Slices of buffers that have as many dimensions as an op can iterate over, flattened and moved by one element: the window is copied first,
// and so is the buffer with its outer dimensions merged.
// RUN: rm -rf %t && mkdir %t
// RUN: split-file %s %t
// RUN: spyre-compile %t/slice.mlir -o %t/slice --validate > %t.log && spyre-run %t/slice --wipe-lx --check %t/slice.mlir | FileCheck %s
// RUN: spyre-compile %t/whole.mlir -o %t/whole --validate > %t.log && spyre-run %t/whole --wipe-lx --check %t/whole.mlir | FileCheck %s

// CHECK: result0: correct

//--- slice.mlir
func.func @main(%x: tensor<2x2x7x5x8x5xf16>) -> tensor<701xf16> {
  %slice = tensor.extract_slice %x[0, 0, 6, 0, 0, 0] [2, 2, 1, 5, 7, 5] [1, 1, 1, 1, 1, 1] : tensor<2x2x7x5x8x5xf16> to tensor<2x2x5x7x5xf16>
  %flat = tensor.collapse_shape %slice [[0, 1, 2, 3, 4]] : tensor<2x2x5x7x5xf16> into tensor<700xf16>
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %flat low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f16
  } : tensor<700xf16> to tensor<701xf16>
  return %padded : tensor<701xf16>
}

//--- whole.mlir
func.func @main(%x: tensor<2x4x9x5x5x16xbf16>) -> tensor<16001xbf16> {
  %slice = tensor.extract_slice %x[0, 0, 4, 0, 0, 0] [2, 4, 5, 5, 5, 16] [1, 1, 1, 1, 1, 1] : tensor<2x4x9x5x5x16xbf16> to tensor<2x4x5x5x5x16xbf16>
  %flat = tensor.collapse_shape %slice [[0, 1, 2, 3, 4, 5]] : tensor<2x4x5x5x5x16xbf16> into tensor<16000xbf16>
  %zero = arith.constant 0.0 : bf16
  %padded = tensor.pad %flat low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : bf16
  } : tensor<16000xbf16> to tensor<16001xbf16>
  return %padded : tensor<16001xbf16>
}
