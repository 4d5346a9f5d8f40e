// Linear layers whose rows are several dimensions of what they read: the device has two dimensions for them.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/merged.mlir -o %t/merged > %t/log && spyre-run %t/merged --check %t/merged.mlir | FileCheck %s
// RUN: spyre-compile %t/merged.mlir -o %t/baked --addresses baked --cores 3 > %t/log && spyre-run %t/baked --check %t/merged.mlir | FileCheck %s
// RUN: spyre-compile %t/rank4.mlir -o %t/rank4 > %t/log && spyre-run %t/rank4 --check %t/rank4.mlir | FileCheck %s
// RUN: spyre-compile %t/rank5.mlir -o %t/rank5 > %t/log && spyre-run %t/rank5 --check %t/rank5.mlir | FileCheck %s
// RUN: spyre-compile %t/batches.mlir -o %t/batches > %t/log && spyre-run %t/batches --check %t/batches.mlir | FileCheck %s

// CHECK: correct

//--- merged.mlir
func.func @merged(%x: tensor<2x4x32x64xf16>, %w: tensor<128x64xf16>) -> tensor<8x32x128xf16> {
  %rows = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x4x32x64xf16> into tensor<8x32x64xf16>
  %zero = arith.constant dense<0.0> : tensor<8x32x128xf16>
  %product = linalg.generic {
      indexing_maps = [affine_map<(a, b, n, k) -> (a, b, k)>, affine_map<(a, b, n, k) -> (n, k)>, affine_map<(a, b, n, k) -> (a, b, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%rows, %w : tensor<8x32x64xf16>, tensor<128x64xf16>) outs(%zero : tensor<8x32x128xf16>) {
  ^bb0(%p: f16, %q: f16, %sum: f16):
    %one = arith.mulf %p, %q : f16
    %next = arith.addf %sum, %one : f16
    linalg.yield %next : f16
  } -> tensor<8x32x128xf16>
  return %product : tensor<8x32x128xf16>
}

//--- rank4.mlir
func.func @rank4(%x: tensor<2x4x32x64xf16>, %w: tensor<64x128xf16>) -> tensor<2x4x32x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<2x4x32x128xf16>
  %product = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, n, k) -> (a, b, c, k)>, affine_map<(a, b, c, n, k) -> (k, n)>,
                       affine_map<(a, b, c, n, k) -> (a, b, c, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<2x4x32x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<2x4x32x128xf16>) {
  ^bb0(%p: f16, %q: f16, %sum: f16):
    %one = arith.mulf %p, %q : f16
    %next = arith.addf %sum, %one : f16
    linalg.yield %next : f16
  } -> tensor<2x4x32x128xf16>
  return %product : tensor<2x4x32x128xf16>
}

//--- rank5.mlir
func.func @rank5(%x: tensor<2x3x2x16x64xf16>, %w: tensor<64x64xf16>) -> tensor<12x16x64xf16> {
  %rows = tensor.collapse_shape %x [[0, 1, 2], [3], [4]] : tensor<2x3x2x16x64xf16> into tensor<12x16x64xf16>
  %zero = arith.constant dense<0.0> : tensor<12x16x64xf16>
  %product = linalg.generic {
      indexing_maps = [affine_map<(a, b, n, k) -> (a, b, k)>, affine_map<(a, b, n, k) -> (k, n)>, affine_map<(a, b, n, k) -> (a, b, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%rows, %w : tensor<12x16x64xf16>, tensor<64x64xf16>) outs(%zero : tensor<12x16x64xf16>) {
  ^bb0(%p: f16, %q: f16, %sum: f16):
    %one = arith.mulf %p, %q : f16
    %next = arith.addf %sum, %one : f16
    linalg.yield %next : f16
  } -> tensor<12x16x64xf16>
  return %product : tensor<12x16x64xf16>
}

//--- batches.mlir
// Three dimensions that all have.
func.func @batches(%x: tensor<2x3x2x16x64xf16>, %y: tensor<2x3x2x64x64xf16>) -> tensor<12x16x64xf16> {
  %left = tensor.collapse_shape %x [[0, 1, 2], [3], [4]] : tensor<2x3x2x16x64xf16> into tensor<12x16x64xf16>
  %right = tensor.collapse_shape %y [[0, 1, 2], [3], [4]] : tensor<2x3x2x64x64xf16> into tensor<12x64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<12x16x64xf16>
  %product = linalg.batch_matmul ins(%left, %right : tensor<12x16x64xf16>, tensor<12x64x64xf16>) outs(%zero : tensor<12x16x64xf16>) -> tensor<12x16x64xf16>
  return %product : tensor<12x16x64xf16>
}
