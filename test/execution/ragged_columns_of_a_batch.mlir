// The last linear layer of a model: two sequences are 32 rows, which are returned as they came; 1000 columns are no whole sticks.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/layout.mlir --compile-to layout && FileCheck %s --check-prefix=LAYOUT < %t/layout.mlir

// CHECK: result0: correct
// CHECK: result1: correct
// Nothing is moved to return it.
// LAYOUT-NOT: spyre.copy
// LAYOUT-NOT: spyre.restickify
func.func @ragged_columns_of_a_batch(%x: tensor<2x16x256xf16>, %w: tensor<256x1000xf16>) -> (tensor<2x16x1000xf16>, tensor<4x8x1000xf16>) {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x16x256xf16> into tensor<32x256xf16>
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<32x1000xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<32x1000xf16>) -> tensor<32x1000xf16>
  %product = linalg.matmul ins(%rows, %w : tensor<32x256xf16>, tensor<256x1000xf16>) outs(%start : tensor<32x1000xf16>) -> tensor<32x1000xf16>
  %exp = linalg.exp ins(%product : tensor<32x1000xf16>) outs(%shape : tensor<32x1000xf16>) -> tensor<32x1000xf16>
  %first = tensor.expand_shape %product [[0, 1], [2]] output_shape [2, 16, 1000] : tensor<32x1000xf16> into tensor<2x16x1000xf16>
  %second = tensor.expand_shape %exp [[0, 1], [2]] output_shape [4, 8, 1000] : tensor<32x1000xf16> into tensor<4x8x1000xf16>
  return %first, %second : tensor<2x16x1000xf16>, tensor<4x8x1000xf16>
}
