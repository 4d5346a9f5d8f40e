// Elements at two indices that are known, such as those of a triangle (`x[tril_indices]`, the interactions of a recommendation model): a row each,
// and of each row one element.
// RUN: spyre-compile %s -o %t.bundle --validate > %t.log && spyre-run %t.bundle --seed 3 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t.three --cores 3 --lx-planner none > %t.log && spyre-run %t.three --check %s | FileCheck %s
// RUN: spyre-opt %s --spyre-import-linalg | FileCheck %s --check-prefix=IMPORT

// No rows of 45 by 45 elements are made, of which all but one each are dropped.
// IMPORT-NOT: 45x45x

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
#list = affine_map<(d0) -> (d0)>
#of_batch = affine_map<(d0, d1) -> (d1)>
#batch = affine_map<(d0, d1) -> (d0, d1)>
func.func @triangle(%x: tensor<9x9xf16>, %z: tensor<5x9x9xf16>, %y: tensor<9x9x40xf32>) -> (tensor<45xf16>, tensor<5x45xf16>, tensor<45x40xf32>) {
  %rows = arith.constant dense<[0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8]> : tensor<45xi64>
  %columns = arith.constant dense<[0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<45xi64>
  %e0 = tensor.empty() : tensor<45xf16>
  %one = linalg.generic {indexing_maps = [#list, #list, #list], iterator_types = ["parallel"]}
      ins(%rows, %columns : tensor<45xi64>, tensor<45xi64>) outs(%e0 : tensor<45xf16>) {
  ^bb0(%row: i64, %column: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    %j = arith.index_cast %column : i64 to index
    %element = tensor.extract %x[%i, %j] : tensor<9x9xf16>
    linalg.yield %element : f16
  } -> tensor<45xf16>
  %e1 = tensor.empty() : tensor<5x45xf16>
  %several = linalg.generic {indexing_maps = [#of_batch, #of_batch, #batch], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %columns : tensor<45xi64>, tensor<45xi64>) outs(%e1 : tensor<5x45xf16>) {
  ^bb0(%row: i64, %column: i64, %out: f16):
    %b = linalg.index 0 : index
    %i = arith.index_cast %row : i64 to index
    %j = arith.index_cast %column : i64 to index
    %element = tensor.extract %z[%b, %i, %j] : tensor<5x9x9xf16>
    linalg.yield %element : f16
  } -> tensor<5x45xf16>
  %e2 = tensor.empty() : tensor<45x40xf32>
  %vectors = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, #batch], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %columns : tensor<45xi64>, tensor<45xi64>) outs(%e2 : tensor<45x40xf32>) {
  ^bb0(%row: i64, %column: i64, %out: f32):
    %i = arith.index_cast %row : i64 to index
    %j = arith.index_cast %column : i64 to index
    %k = linalg.index 1 : index
    %element = tensor.extract %y[%i, %j, %k] : tensor<9x9x40xf32>
    linalg.yield %element : f32
  } -> tensor<45x40xf32>
  return %one, %several, %vectors : tensor<45xf16>, tensor<5x45xf16>, tensor<45x40xf32>
}
