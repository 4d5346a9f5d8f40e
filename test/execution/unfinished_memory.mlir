// Elements that are not written yet are neither read nor copied: PyTorch's circular padding writes rows and columns in turn, and reads
// complete ones of which a slice is written later. Negative padding crops.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/circular.mlir -o %t/circular --validate && spyre-run %t/circular --check %t/circular.mlir | FileCheck %s
// RUN: spyre-compile %t/pads.mlir -o %t/pads --validate && spyre-run %t/pads --check %t/pads.mlir | FileCheck %s --check-prefixes=CHECK,PADS

// CHECK: result0: correct
// PADS: result1: correct
// PADS: result2: correct

//--- circular.mlir
func.func @main(%x: tensor<3x10x12xf16>) -> tensor<3x13x15xf16> {
  %0 = tensor.empty() : tensor<3x13x15xf16>
  %columns = tensor.extract_slice %0[0, 0, 1] [3, 13, 12] [1, 1, 1] : tensor<3x13x15xf16> to tensor<3x13x12xf16>
  %rows = tensor.insert_slice %x into %columns[0, 2, 0] [3, 10, 12] [1, 1, 1] : tensor<3x10x12xf16> into tensor<3x13x12xf16>
  %1 = tensor.insert_slice %rows into %0[0, 0, 1] [3, 13, 12] [1, 1, 1] : tensor<3x13x12xf16> into tensor<3x13x15xf16>
  %last = tensor.extract_slice %1[0, 0, 12] [3, 13, 1] [1, 1, 1] : tensor<3x13x15xf16> to tensor<3x13x1xf16>
  %2 = tensor.insert_slice %last into %1[0, 0, 0] [3, 13, 1] [1, 1, 1] : tensor<3x13x1xf16> into tensor<3x13x15xf16>
  %first = tensor.extract_slice %2[0, 0, 1] [3, 13, 2] [1, 1, 1] : tensor<3x13x15xf16> to tensor<3x13x2xf16>
  %3 = tensor.insert_slice %first into %2[0, 0, 13] [3, 13, 2] [1, 1, 1] : tensor<3x13x2xf16> into tensor<3x13x15xf16>
  %bottom = tensor.extract_slice %3[0, 10, 0] [3, 2, 15] [1, 1, 1] : tensor<3x13x15xf16> to tensor<3x2x15xf16>
  %4 = tensor.insert_slice %bottom into %3[0, 0, 0] [3, 2, 15] [1, 1, 1] : tensor<3x2x15xf16> into tensor<3x13x15xf16>
  %top = tensor.extract_slice %4[0, 2, 0] [3, 1, 15] [1, 1, 1] : tensor<3x13x15xf16> to tensor<3x1x15xf16>
  %5 = tensor.insert_slice %top into %4[0, 12, 0] [3, 1, 15] [1, 1, 1] : tensor<3x1x15xf16> into tensor<3x13x15xf16>
  return %5 : tensor<3x13x15xf16>
}

//--- pads.mlir
func.func @main(%x: tensor<3x10x70xf16>) -> (tensor<3x7x71xf16>, tensor<3x9x70xf16>, tensor<3x8x70xf16>) {
  %half = arith.constant 0.5 : f16
  %mixed = tensor.pad %x low[0, 0, -1] high[0, -3, 2] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %half : f16
  } : tensor<3x10x70xf16> to tensor<3x7x71xf16>
  %shifted = tensor.pad %x low[0, -4, 0] high[0, 3, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %half : f16
  } : tensor<3x10x70xf16> to tensor<3x9x70xf16>
  %gone = tensor.pad %x low[0, -12, 0] high[0, 10, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %half : f16
  } : tensor<3x10x70xf16> to tensor<3x8x70xf16>
  return %mixed, %shifted, %gone : tensor<3x7x71xf16>, tensor<3x9x70xf16>, tensor<3x8x70xf16>
}
