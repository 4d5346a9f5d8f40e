// Rows of rows: what one gather chooses keeps the sticks of its table, so that the next one along these reads a copy.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct

#row = affine_map<(d0, d1, d2) -> (d0)>
#column = affine_map<(d0, d1, d2) -> (d2)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%x: tensor<5x7x19xf16>, %rows: tensor<3xi64>, %columns: tensor<4xi64>) -> (tensor<3x7x4xf16>, tensor<5x7x19xf16>) {
  %part = tensor.empty() : tensor<3x7x19xf16>
  %some = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows : tensor<3xi64>) outs(%part : tensor<3x7x19xf16>) {
  ^bb0(%at: i64, %o: f16):
    %row = arith.index_cast %at : i64 to index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %e = tensor.extract %x[%row, %j, %k] : tensor<5x7x19xf16>
    linalg.yield %e : f16
  } -> tensor<3x7x19xf16>
  %few = tensor.empty() : tensor<3x7x4xf16>
  %y = linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%columns : tensor<4xi64>) outs(%few : tensor<3x7x4xf16>) {
  ^bb0(%at: i64, %o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %column = arith.index_cast %at : i64 to index
    %e = tensor.extract %some[%i, %j, %column] : tensor<3x7x19xf16>
    linalg.yield %e : f16
  } -> tensor<3x7x4xf16>
  %whole = tensor.empty() : tensor<5x7x19xf16>
  %turned = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%whole : tensor<5x7x19xf16>) {
  ^bb0(%o: f16):
    %last = arith.constant 4 : index
    %i = linalg.index 0 : index
    %row = arith.subi %last, %i : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %e = tensor.extract %x[%row, %j, %k] : tensor<5x7x19xf16>
    linalg.yield %e : f16
  } -> tensor<5x7x19xf16>
  %both = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%whole : tensor<5x7x19xf16>) {
  ^bb0(%o: f16):
    %last = arith.constant 18 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %column = arith.subi %last, %k : index
    %e = tensor.extract %turned[%i, %j, %column] : tensor<5x7x19xf16>
    linalg.yield %e : f16
  } -> tensor<5x7x19xf16>
  return %y, %both : tensor<3x7x4xf16>, tensor<5x7x19xf16>
}
