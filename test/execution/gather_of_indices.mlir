// Indices that do not lie one after the other: chosen by other indices, and a column of rows of them.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/chosen.mlir -o %t/1 --validate > %t/log && spyre-run %t/1 --wipe-lx --check %t/chosen.mlir | FileCheck %s --check-prefix=CHOSEN
// RUN: spyre-compile %t/column.mlir -o %t/2 --validate > %t/log && spyre-run %t/2 --wipe-lx --check %t/column.mlir | FileCheck %s --check-prefix=COLUMN

// CHOSEN: result0: correct
// CHOSEN: result1: correct
// COLUMN: result0: correct

//--- chosen.mlir
func.func @main(%t: tensor<1x128xi64>, %i: tensor<1x64xi64>, %emb: tensor<32x64xf16>) -> (tensor<1x64xi64>, tensor<1x64x64xf16>) {
  %e = tensor.empty() : tensor<1x64xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<1x64xi64>) outs(%e : tensor<1x64xi64>) {
  ^bb0(%in: i64, %o: i64):
    %k = arith.index_cast %in : i64 to index
    %j = linalg.index 0 : index
    %v = tensor.extract %t[%j, %k] : tensor<1x128xi64>
    linalg.yield %v : i64
  } -> tensor<1x64xi64>
  %e2 = tensor.empty() : tensor<1x64x64xf16>
  %r2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<1x64xi64>) outs(%e2 : tensor<1x64x64xf16>) {
  ^bb0(%in: i64, %o: f16):
    %k = arith.index_cast %in : i64 to index
    %j = linalg.index 2 : index
    %v = tensor.extract %emb[%k, %j] : tensor<32x64xf16>
    linalg.yield %v : f16
  } -> tensor<1x64x64xf16>
  return %r, %r2 : tensor<1x64xi64>, tensor<1x64x64xf16>
}

//--- column.mlir
func.func @main(%t: tensor<5x3xi64>, %emb: tensor<32x64xf16>) -> tensor<5x64xf16> {
  %r = tensor.extract_slice %t[0, 1] [5, 1] [1, 1] : tensor<5x3xi64> to tensor<5xi64>
  %e2 = tensor.empty() : tensor<5x64xf16>
  %r2 = linalg.generic {indexing_maps = [affine_map<(d1, d2) -> (d1)>, affine_map<(d1, d2) -> (d1, d2)>], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<5xi64>) outs(%e2 : tensor<5x64xf16>) {
  ^bb0(%in: i64, %o: f16):
    %k = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %emb[%k, %j] : tensor<32x64xf16>
    linalg.yield %v : f16
  } -> tensor<5x64xf16>
  return %r2 : tensor<5x64xf16>
}
