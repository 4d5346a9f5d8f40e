// Parts that are written to places known at run time: 20 rows to 8 places, so that some places are written more than once and the last row
// counts; sums of rows and of single elements; a row of a cache, spelt as torch-mlir does, element by element.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/planned --seed 7 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
#part = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#of_row = affine_map<(d0, d1, d2) -> (d1)>
func.func @scatter(%x: tensor<8x70xf16>, %rows: tensor<20x1x70xf16>, %places: tensor<20x1xi64>, %grid: tensor<3x5xf16>, %single: tensor<9xf16>,
                   %both: tensor<9x2xi64>, %cache: tensor<2x32x64xf16>, %new: tensor<2x1x64xf16>, %position: tensor<1xi64>)
    -> (tensor<8x70xf16>, tensor<8x70xf16>, tensor<3x5xf16>, tensor<2x32x64xf16>) {
  %last = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<20x1x70xf16>, tensor<20x1xi64>) outs(%x : tensor<8x70xf16>) {
  ^bb0(%part: f16, %old: f16):
    tm_tensor.yield %part : f16
  } -> tensor<8x70xf16>
  %sum = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<20x1x70xf16>, tensor<20x1xi64>) outs(%x : tensor<8x70xf16>) {
  ^bb0(%part: f16, %old: f16):
    %added = arith.addf %old, %part : f16
    tm_tensor.yield %added : f16
  } -> tensor<8x70xf16>
  %elements = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false)
      ins(%single, %both : tensor<9xf16>, tensor<9x2xi64>) outs(%grid : tensor<3x5xf16>) {
  ^bb0(%part: f16, %old: f16):
    %added = arith.addf %old, %part : f16
    tm_tensor.yield %added : f16
  } -> tensor<3x5xf16>

  // The place of each of 128 elements: of which 64 are in a row of either batch.
  %shape = tensor.empty() : tensor<2x1x64xi64>
  %batch = linalg.generic {indexing_maps = [#part], iterator_types = ["parallel", "parallel", "parallel"]} outs(%shape : tensor<2x1x64xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<2x1x64xi64>
  %row = linalg.generic {indexing_maps = [#of_row, #part], iterator_types = ["parallel", "parallel", "parallel"]} ins(%position : tensor<1xi64>) outs(%shape : tensor<2x1x64xi64>) {
  ^bb0(%in: i64, %out: i64):
    linalg.yield %in : i64
  } -> tensor<2x1x64xi64>
  %column = linalg.generic {indexing_maps = [#part], iterator_types = ["parallel", "parallel", "parallel"]} outs(%shape : tensor<2x1x64xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 2 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<2x1x64xi64>
  %c0 = tensor.collapse_shape %batch [[0, 1, 2]] : tensor<2x1x64xi64> into tensor<128xi64>
  %c1 = tensor.collapse_shape %row [[0, 1, 2]] : tensor<2x1x64xi64> into tensor<128xi64>
  %c2 = tensor.collapse_shape %column [[0, 1, 2]] : tensor<2x1x64xi64> into tensor<128xi64>
  %e0 = tensor.expand_shape %c0 [[0, 1]] output_shape [128, 1] : tensor<128xi64> into tensor<128x1xi64>
  %e1 = tensor.expand_shape %c1 [[0, 1]] output_shape [128, 1] : tensor<128xi64> into tensor<128x1xi64>
  %e2 = tensor.expand_shape %c2 [[0, 1]] output_shape [128, 1] : tensor<128xi64> into tensor<128x1xi64>
  %all = tensor.concat dim(1) %e0, %e1, %e2 : (tensor<128x1xi64>, tensor<128x1xi64>, tensor<128x1xi64>) -> tensor<128x3xi64>
  %flat = tensor.collapse_shape %new [[0, 1, 2]] : tensor<2x1x64xf16> into tensor<128xf16>
  %parts = tensor.expand_shape %flat [[0, 1, 2, 3]] output_shape [128, 1, 1, 1] : tensor<128xf16> into tensor<128x1x1x1xf16>
  %kept = tm_tensor.scatter {dimension_map = array<i64: 0, 1, 2>} unique_indices(true)
      ins(%parts, %all : tensor<128x1x1x1xf16>, tensor<128x3xi64>) outs(%cache : tensor<2x32x64xf16>) {
  ^bb0(%part: f16, %old: f16):
    tm_tensor.yield %part : f16
  } -> tensor<2x32x64xf16>
  return %last, %sum, %elements, %kept : tensor<8x70xf16>, tensor<8x70xf16>, tensor<3x5xf16>, tensor<2x32x64xf16>
}
