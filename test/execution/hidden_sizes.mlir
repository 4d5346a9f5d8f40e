// Types that do not say the sizes of tensors that are known, as torch-mlir writes the parts of a roll.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t.log && spyre-run %t/out --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
func.func @main(%x: tensor<4x70xf16>) -> (tensor<4x70xf16>, tensor<4x9xf16>) {
  %s = tensor.extract_slice %x[0, 61] [4, 9] [1, 1] : tensor<4x70xf16> to tensor<4x9xf16>
  %c = tensor.cast %s : tensor<4x9xf16> to tensor<4x?xf16>
  %t = tensor.extract_slice %x[0, 0] [4, 61] [1, 1] : tensor<4x70xf16> to tensor<4x61xf16>
  %d = tensor.cast %t : tensor<4x61xf16> to tensor<?x?xf16>
  %r = tensor.concat dim(1) %c, %d : (tensor<4x?xf16>, tensor<?x?xf16>) -> tensor<4x70xf16>
  %back = tensor.cast %c : tensor<4x?xf16> to tensor<4x9xf16>
  return %r, %back : tensor<4x70xf16>, tensor<4x9xf16>
}
