// Gathers in loops over indices and over columns, of rows that were gathered, and through views.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/unrolled --loops unroll > %t/log && spyre-run %t/unrolled --check %t/linalg.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct

//--- spyre.mlir
func.func @gather_tiles(%table: tensor<80x256xf16> {spyre.dims = ["V", "D"]}, %list: tensor<128xi64> {spyre.dims = ["S"]},
                        %row: tensor<1x128xi64>, %across: tensor<80x256xf16>)
    -> (tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>) {
  %rows = spyre.hint tiles(S = 2) {
    %gathered = spyre.gather(%table, %list) dim 0 : (tensor<80x256xf16>, tensor<128xi64>) -> tensor<128x256xf16>
    %exp = spyre.pointwise exp(%gathered) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  %columns = spyre.hint tiles(D = 2) {
    %gathered = spyre.gather(%table, %list) dim 0 : (tensor<80x256xf16>, tensor<128xi64>) -> tensor<128x256xf16>
    %exp = spyre.pointwise neg(%gathered) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  %flat = spyre.view %row by affine_map<(d0) -> (0, d0)> : tensor<1x128xi64> -> tensor<128xi64>
  %viewed = spyre.view %across by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<80x256xf16> -> tensor<80x1x256xf16>
  %0 = spyre.gather(%viewed, %flat) dim 0 : (tensor<80x1x256xf16>, tensor<128xi64>) -> tensor<128x1x256xf16>
  %1 = spyre.view %0 by affine_map<(d0, d1) -> (d0, 0, d1)> : tensor<128x1x256xf16> -> tensor<128x256xf16>
  %first = spyre.gather(%table, %list) dim 0 : (tensor<80x256xf16>, tensor<128xi64>) -> tensor<128x256xf16>
  %second = spyre.gather(%first, %flat) dim 0 : (tensor<128x256xf16>, tensor<128xi64>) -> tensor<128x256xf16>
  return %rows, %columns, %1, %second : tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>
}

//--- linalg.mlir
#list = affine_map<(i, j) -> (i)>
#row = affine_map<(i, j) -> (0, i)>
#rows = affine_map<(i, j) -> (i, j)>
func.func @gather_tiles(%table: tensor<80x256xf16>, %list: tensor<128xi64>, %row: tensor<1x128xi64>, %across: tensor<80x256xf16>)
    -> (tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>) {
  %0 = tensor.empty() : tensor<128x256xf16>
  %first = linalg.generic {indexing_maps = [#list, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%list : tensor<128xi64>) outs(%0 : tensor<128x256xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%at, %column] : tensor<80x256xf16>
    linalg.yield %element : f16
  } -> tensor<128x256xf16>
  %rows = linalg.exp ins(%first : tensor<128x256xf16>) outs(%0 : tensor<128x256xf16>) -> tensor<128x256xf16>
  %columns = linalg.negf ins(%first : tensor<128x256xf16>) outs(%0 : tensor<128x256xf16>) -> tensor<128x256xf16>
  %viewed = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%row : tensor<1x128xi64>) outs(%0 : tensor<128x256xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %across[%at, %column] : tensor<80x256xf16>
    linalg.yield %element : f16
  } -> tensor<128x256xf16>
  %second = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%row : tensor<1x128xi64>) outs(%0 : tensor<128x256xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %first[%at, %column] : tensor<128x256xf16>
    linalg.yield %element : f16
  } -> tensor<128x256xf16>
  return %rows, %columns, %viewed, %second : tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>, tensor<128x256xf16>
}
