// A result whose dimensions were put together has no padding between its elements: where no stick is full, it is copied.
// RUN: spyre-compile %s -o %t && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
func.func @f(%x: tensor<2x65xf16>) -> tensor<130xf16> {
  %e = tensor.empty() : tensor<2x65xf16>
  %n = linalg.negf ins(%x : tensor<2x65xf16>) outs(%e : tensor<2x65xf16>) -> tensor<2x65xf16>
  %c = tensor.collapse_shape %n [[0, 1]] : tensor<2x65xf16> into tensor<130xf16>
  return %c : tensor<130xf16>
}
