// The heads of PyTorch's MultiheadAttention: each token's rows of all sequences lie together, and heads of 32 columns are put together in
// front of a product. Its rows stay apart, so that sticks of tokens become sticks of columns.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --check %s | FileCheck %s

// CHECK: result0: correct
func.func @heads_beside_the_batch(%p: tensor<8x64x64xf16>, %v: tensor<8x64x32xf16>, %w: tensor<128x128xf16>) -> tensor<64x2x128xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<8x64x32xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<8x64x32xf16>) -> tensor<8x64x32xf16>
  %heads = linalg.batch_matmul ins(%p, %v : tensor<8x64x64xf16>, tensor<8x64x32xf16>) outs(%start : tensor<8x64x32xf16>) -> tensor<8x64x32xf16>
  %apart = tensor.expand_shape %heads [[0, 1], [2], [3]] output_shape [2, 4, 64, 32] : tensor<8x64x32xf16> into tensor<2x4x64x32xf16>
  %tokens = tensor.empty() : tensor<64x2x4x32xf16>
  %turned = linalg.transpose ins(%apart : tensor<2x4x64x32xf16>) outs(%tokens : tensor<64x2x4x32xf16>) permutation = [2, 0, 1, 3]
  %rows = tensor.collapse_shape %turned [[0, 1], [2, 3]] : tensor<64x2x4x32xf16> into tensor<128x128xf16>
  %square = tensor.empty() : tensor<128x128xf16>
  %none = linalg.fill ins(%zero : f16) outs(%square : tensor<128x128xf16>) -> tensor<128x128xf16>
  %product = linalg.matmul ins(%rows, %w : tensor<128x128xf16>, tensor<128x128xf16>) outs(%none : tensor<128x128xf16>) -> tensor<128x128xf16>
  %result = tensor.expand_shape %product [[0, 1], [2]] output_shape [64, 2, 128] : tensor<128x128xf16> into tensor<64x2x128xf16>
  return %result : tensor<64x2x128xf16>
}
