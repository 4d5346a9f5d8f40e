// A product of a few columns of a few rows, which begin inside of a stick: the rows go to the sticks and the columns back, for more rows than are seen.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t/log && spyre-run %t/out --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
func.func @main(%x: tensor<64x128xf16>, %w: tensor<128x20xf16>, %b: tensor<8x130xf16>) -> (tensor<1x130xf16>, tensor<2x130xf16>) {
  %zero = arith.constant 0.0 : f16
  %0 = tensor.empty() : tensor<64x20xf16>
  %1 = linalg.fill ins(%zero : f16) outs(%0 : tensor<64x20xf16>) -> tensor<64x20xf16>
  %2 = linalg.matmul ins(%x, %w : tensor<64x128xf16>, tensor<128x20xf16>) outs(%1 : tensor<64x20xf16>) -> tensor<64x20xf16>
  %row = tensor.extract_slice %2[5, 12] [1, 8] [1, 1] : tensor<64x20xf16> to tensor<1x8xf16>
  %3 = tensor.empty() : tensor<1x130xf16>
  %4 = linalg.fill ins(%zero : f16) outs(%3 : tensor<1x130xf16>) -> tensor<1x130xf16>
  %one = linalg.matmul ins(%row, %b : tensor<1x8xf16>, tensor<8x130xf16>) outs(%4 : tensor<1x130xf16>) -> tensor<1x130xf16>
  %rows = tensor.extract_slice %2[33, 3] [2, 8] [1, 1] : tensor<64x20xf16> to tensor<2x8xf16>
  %5 = tensor.empty() : tensor<2x130xf16>
  %6 = linalg.fill ins(%zero : f16) outs(%5 : tensor<2x130xf16>) -> tensor<2x130xf16>
  %two = linalg.matmul ins(%rows, %b : tensor<2x8xf16>, tensor<8x130xf16>) outs(%6 : tensor<2x130xf16>) -> tensor<2x130xf16>
  return %one, %two : tensor<1x130xf16>, tensor<2x130xf16>
}
