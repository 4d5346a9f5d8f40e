// A tile of one row in a buffer of two: the row keeps its dimension, which the other row stands in.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --dims 0=A:B --tiles A=2,B=2 > %t.log && spyre-run %t/out --check %s | FileCheck %s

// CHECK: result0: correct
func.func @exp(%x: tensor<2x256xf16>) -> tensor<2x256xf16> {
  %empty = tensor.empty() : tensor<2x256xf16>
  %y = linalg.exp ins(%x : tensor<2x256xf16>) outs(%empty : tensor<2x256xf16>) -> tensor<2x256xf16>
  return %y : tensor<2x256xf16>
}
