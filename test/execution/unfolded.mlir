// Reads of a table through windows that overlap, at indices that a body computes: the patches of an image as torch-mlir writes `unfold`, with strides and
// dilation, of sizes that fill no stick; lists of indices that are shown as tables and tables that are shown as lists.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/patches.mlir -o %t/patches-out --validate > %t/log && spyre-run %t/patches-out --wipe-lx --check %t/patches.mlir | FileCheck %s
// RUN: spyre-compile %t/patches.mlir -o %t/three --cores 3 --lx-planner none > %t/log && spyre-run %t/three --seed 2 --check %t/patches.mlir | FileCheck %s
// RUN: spyre-compile %t/lists.mlir -o %t/lists-out --validate > %t/log && spyre-run %t/lists-out --wipe-lx --check %t/lists.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct

//--- patches.mlir
#out = affine_map<(c, i, k, j, l) -> (c, i, k, j, l)>
func.func @patches(%x: tensor<4x9x70xf16>, %y: tensor<3x11x13xf32>) -> (tensor<36x340xf16>, tensor<3x4x3x9x3xf32>) {
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<4x5x3x68x3xf16>
  %p = linalg.generic {indexing_maps = [#out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<4x5x3x68x3xf16>) {
  ^bb0(%o: f16):
    %c = linalg.index 0 : index
    %i = linalg.index 1 : index
    %k = linalg.index 2 : index
    %j = linalg.index 3 : index
    %l = linalg.index 4 : index
    %dilated = arith.muli %k, %two : index
    %row = arith.addi %i, %dilated : index
    %column = arith.addi %j, %l : index
    %v = tensor.extract %x[%c, %row, %column] : tensor<4x9x70xf16>
    linalg.yield %v : f16
  } -> tensor<4x5x3x68x3xf16>
  %t0 = tensor.empty() : tensor<4x3x3x5x68xf16>
  %t = linalg.transpose ins(%p : tensor<4x5x3x68x3xf16>) outs(%t0 : tensor<4x3x3x5x68xf16>) permutation = [0, 2, 4, 1, 3]
  %r = tensor.collapse_shape %t [[0, 1, 2], [3, 4]] : tensor<4x3x3x5x68xf16> into tensor<36x340xf16>
  %e1 = tensor.empty() : tensor<3x4x3x9x3xf32>
  %q = linalg.generic {indexing_maps = [#out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%e1 : tensor<3x4x3x9x3xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 0 : index
    %i = linalg.index 1 : index
    %k = linalg.index 2 : index
    %j = linalg.index 3 : index
    %l = linalg.index 4 : index
    %strided = arith.muli %i, %two : index
    %row = arith.addi %strided, %k : index
    %dilated = arith.muli %l, %two : index
    %column = arith.addi %j, %dilated : index
    %v = tensor.extract %y[%c, %row, %column] : tensor<3x11x13xf32>
    linalg.yield %v : f32
  } -> tensor<3x4x3x9x3xf32>
  return %r, %q : tensor<36x340xf16>, tensor<3x4x3x9x3xf32>
}

//--- lists.mlir
func.func @lists(%table: tensor<50x70xf16>, %of: tensor<3x7xi64>, %list: tensor<24xi64>) -> (tensor<21x70xf16>, tensor<2x12x70xf16>) {
  %flat = tensor.collapse_shape %of [[0, 1]] : tensor<3x7xi64> into tensor<21xi64>
  %e0 = tensor.empty() : tensor<21x70xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%flat : tensor<21xi64>) outs(%e0 : tensor<21x70xf16>) {
  ^bb0(%row: i64, %o: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<50x70xf16>
    linalg.yield %v : f16
  } -> tensor<21x70xf16>
  %rows = tensor.expand_shape %list [[0, 1]] output_shape [2, 12] : tensor<24xi64> into tensor<2x12xi64>
  %e1 = tensor.empty() : tensor<2x12x70xf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows : tensor<2x12xi64>) outs(%e1 : tensor<2x12x70xf16>) {
  ^bb0(%row: i64, %o: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 2 : index
    %v = tensor.extract %table[%i, %j] : tensor<50x70xf16>
    linalg.yield %v : f16
  } -> tensor<2x12x70xf16>
  return %0, %1 : tensor<21x70xf16>, tensor<2x12x70xf16>
}
