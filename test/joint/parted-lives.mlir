// The splits that cost least leave no room in LX for whole lives, and do for parts of them: they are planned so, too, and everything is read once.
// RUN: spyre-compile %s -o %t --lx-bytes 32768 | FileCheck %s
// CHECK: HBM traffic 1.03 MiB (lower bound 1.03 MiB)
func.func @main(%x: tensor<2048x128xf16>, %w: tensor<128x128xf16>) -> tensor<2048x128xf16> {
  %most = spyre.reduce max(%x) dims [1] : tensor<2048x128xf16> -> tensor<2048x1xf16>
  %shifted = spyre.pointwise sub(%x, %most) : (tensor<2048x128xf16>, tensor<2048x1xf16>) -> tensor<2048x128xf16>
  %y = spyre.matmul(%shifted, %w) : (tensor<2048x128xf16>, tensor<128x128xf16>) -> tensor<2048x128xf16>
  return %y : tensor<2048x128xf16>
}
