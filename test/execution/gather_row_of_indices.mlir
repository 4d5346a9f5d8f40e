// A gather by a tile of one row of the indices, whose result is a buffer of that row only.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
#of_index = affine_map<(n, i, j, k) -> (n, i)>
#all = affine_map<(n, i, j, k) -> (n, i, j, k)>
func.func @gather_row_of_indices(%table: tensor<32x16x16xf16>, %list: tensor<2x4xi64> {spyre.dims = ["N", "I"]}, %y: tensor<2x4x16x16xf16>)
    -> tensor<2x4x16x16xf16> {
  %0 = tensor.empty() : tensor<2x4x16x16xf16>
  %sum = spyre.hint tiles(N = 2) {
    %rows = linalg.generic {indexing_maps = [#of_index, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%list : tensor<2x4xi64>) outs(%0 : tensor<2x4x16x16xf16>) {
    ^bb0(%at: i64, %out: f16):
      %low = arith.constant 0 : i64
      %high = arith.constant 31 : i64
      %above = arith.maxsi %at, %low : i64
      %within = arith.minsi %above, %high : i64
      %row = arith.index_cast %within : i64 to index
      %j = linalg.index 2 : index
      %k = linalg.index 3 : index
      %element = tensor.extract %table[%row, %j, %k] : tensor<32x16x16xf16>
      linalg.yield %element : f16
    } -> tensor<2x4x16x16xf16>
    %both = linalg.add ins(%rows, %y : tensor<2x4x16x16xf16>, tensor<2x4x16x16xf16>)
                       outs(%0 : tensor<2x4x16x16xf16>) -> tensor<2x4x16x16xf16>
    spyre.yield %both : tensor<2x4x16x16xf16>
  }
  return %sum : tensor<2x4x16x16xf16>
}
