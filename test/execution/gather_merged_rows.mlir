// A gather from a table whose rows are two dimensions of an argument.
// RUN: spyre-compile %s -o %t --addresses baked > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t.2 --cores 2 > %t.log && spyre-run %t.2 --check %s | FileCheck %s

// CHECK: result0: correct
func.func @gather_merged_rows(%table: tensor<16x16x4xf16>, %list: tensor<4xi64>) -> tensor<4x4xf16> {
  %merged = tensor.collapse_shape %table [[0, 1], [2]] : tensor<16x16x4xf16> into tensor<256x4xf16>
  %e = tensor.empty() : tensor<4x4xf16>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%list : tensor<4xi64>) outs(%e : tensor<4x4xf16>) {
  ^bb0(%at: i64, %out: f16):
    %row = arith.index_cast %at : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %merged[%row, %j] : tensor<256x4xf16>
    linalg.yield %element : f16
  } -> tensor<4x4xf16>
  return %rows : tensor<4x4xf16>
}
