// Gathers of uneven shapes: one index, indices one a stick, tables with padding in their sticks, of f32, of three dimensions and of one row.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --seed 5 --check %t/linalg.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct
// CHECK: result5: correct

//--- spyre.mlir
func.func @gather_shapes(%table: tensor<70x100xf16>, %one: tensor<1xi64>, %column: tensor<7x1xi64>, %list: tensor<40xi64>,
                         %wide: tensor<50x72xf32>, %middle: tensor<4x20x128xf16>, %row: tensor<1x64xf16>, %cube: tensor<2x3x33xi32>,
                         %first: tensor<1xi64>)
    -> (tensor<1x100xf16>, tensor<7x1x100xf16>, tensor<40x72xf32>, tensor<40x4x128xf16>, tensor<1x64xf16>, tensor<2x3x33x100xf16>) {
  %0 = spyre.gather(%table, %one) dim 0 : (tensor<70x100xf16>, tensor<1xi64>) -> tensor<1x100xf16>
  %1 = spyre.gather(%table, %column) dim 0 : (tensor<70x100xf16>, tensor<7x1xi64>) -> tensor<7x1x100xf16>
  %2 = spyre.gather(%wide, %list) dim 0 : (tensor<50x72xf32>, tensor<40xi64>) -> tensor<40x72xf32>
  %3 = spyre.gather(%middle, %list) dim 1 : (tensor<4x20x128xf16>, tensor<40xi64>) -> tensor<40x4x128xf16>
  %4 = spyre.gather(%row, %first) dim 0 : (tensor<1x64xf16>, tensor<1xi64>) -> tensor<1x64xf16>
  %5 = spyre.gather(%table, %cube) dim 0 : (tensor<70x100xf16>, tensor<2x3x33xi32>) -> tensor<2x3x33x100xf16>
  return %0, %1, %2, %3, %4, %5
    : tensor<1x100xf16>, tensor<7x1x100xf16>, tensor<40x72xf32>, tensor<40x4x128xf16>, tensor<1x64xf16>, tensor<2x3x33x100xf16>
}

//--- linalg.mlir
#d0 = affine_map<(i, j) -> (i)>
#d01 = affine_map<(i, j) -> (i, j)>
#c0 = affine_map<(i, j, k) -> (i)>
#c01 = affine_map<(i, j, k) -> (i, j)>
#c012 = affine_map<(i, j, k) -> (i, j, k)>
#e012 = affine_map<(i, j, k, l) -> (i, j, k)>
#e0123 = affine_map<(i, j, k, l) -> (i, j, k, l)>
func.func @gather_shapes(%table: tensor<70x100xf16>, %one: tensor<1xi64>, %column: tensor<7x1xi64>, %list: tensor<40xi64>,
                         %wide: tensor<50x72xf32>, %middle: tensor<4x20x128xf16>, %row: tensor<1x64xf16>, %cube: tensor<2x3x33xi32>,
                         %first: tensor<1xi64>)
    -> (tensor<1x100xf16>, tensor<7x1x100xf16>, tensor<40x72xf32>, tensor<40x4x128xf16>, tensor<1x64xf16>, tensor<2x3x33x100xf16>) {
  %e0 = tensor.empty() : tensor<1x100xf16>
  %0 = linalg.generic {indexing_maps = [#d0, #d01], iterator_types = ["parallel", "parallel"]}
    ins(%one : tensor<1xi64>) outs(%e0 : tensor<1x100xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%at, %j] : tensor<70x100xf16>
    linalg.yield %element : f16
  } -> tensor<1x100xf16>
  %e1 = tensor.empty() : tensor<7x1x100xf16>
  %1 = linalg.generic {indexing_maps = [#c01, #c012], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%column : tensor<7x1xi64>) outs(%e1 : tensor<7x1x100xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %k = linalg.index 2 : index
    %element = tensor.extract %table[%at, %k] : tensor<70x100xf16>
    linalg.yield %element : f16
  } -> tensor<7x1x100xf16>
  %e2 = tensor.empty() : tensor<40x72xf32>
  %2 = linalg.generic {indexing_maps = [#d0, #d01], iterator_types = ["parallel", "parallel"]}
    ins(%list : tensor<40xi64>) outs(%e2 : tensor<40x72xf32>) {
  ^bb0(%i: i64, %out: f32):
    %at = arith.index_cast %i : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %wide[%at, %j] : tensor<50x72xf32>
    linalg.yield %element : f32
  } -> tensor<40x72xf32>
  %e3 = tensor.empty() : tensor<40x4x128xf16>
  %3 = linalg.generic {indexing_maps = [#c0, #c012], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%list : tensor<40xi64>) outs(%e3 : tensor<40x4x128xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %middle[%j, %at, %k] : tensor<4x20x128xf16>
    linalg.yield %element : f16
  } -> tensor<40x4x128xf16>
  %e5 = tensor.empty() : tensor<2x3x33x100xf16>
  %5 = linalg.generic {indexing_maps = [#e012, #e0123], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%cube : tensor<2x3x33xi32>) outs(%e5 : tensor<2x3x33x100xf16>) {
  ^bb0(%i: i32, %out: f16):
    %at = arith.index_cast %i : i32 to index
    %l = linalg.index 3 : index
    %element = tensor.extract %table[%at, %l] : tensor<70x100xf16>
    linalg.yield %element : f16
  } -> tensor<2x3x33x100xf16>
  return %0, %1, %2, %3, %row, %5
    : tensor<1x100xf16>, tensor<7x1x100xf16>, tensor<40x72xf32>, tensor<40x4x128xf16>, tensor<1x64xf16>, tensor<2x3x33x100xf16>
}
