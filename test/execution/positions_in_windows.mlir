// The positions of the maxima of windows are positions in the whole image: larger than those in a window.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// CHECK: result0: correct
// CHECK: result1: correct

func.func @main(%x: tensor<3x8x6xf16>) -> (tensor<3x2x2xf16>, tensor<3x2x2xi64>) {
  %least = arith.constant 0xFC00 : f16
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3x2x2xf16>
  %f = linalg.fill ins(%least : f16) outs(%e : tensor<3x2x2xf16>) -> tensor<3x2x2xf16>
  %ei = tensor.empty() : tensor<3x2x2xi64>
  %fi = linalg.fill ins(%none : i64) outs(%ei : tensor<3x2x2xi64>) -> tensor<3x2x2xi64>
  %w = tensor.empty() : tensor<4x3xi1>
  %m:2 = linalg.generic {
    indexing_maps = [affine_map<(c, h, w, i, j) -> (i, j)>, affine_map<(c, h, w, i, j) -> (c, h, w)>, affine_map<(c, h, w, i, j) -> (c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%w : tensor<4x3xi1>) outs(%f, %fi : tensor<3x2x2xf16>, tensor<3x2x2xi64>) {
  ^bb0(%u: i1, %o: f16, %oi: i64):
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c = linalg.index 0 : index
    %h = linalg.index 1 : index
    %v = linalg.index 2 : index
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %h4 = arith.muli %h, %c4 : index
    %row = arith.addi %h4, %i : index
    %v3 = arith.muli %v, %c3 : index
    %column = arith.addi %v3, %j : index
    %a = tensor.extract %x[%c, %row, %column] : tensor<3x8x6xf16>
    %more = arith.cmpf ogt, %a, %o : f16
    %most = arith.select %more, %a, %o : f16
    %start = arith.muli %row, %c6 : index
    %place = arith.addi %start, %column : index
    %place64 = arith.index_cast %place : index to i64
    %at = arith.select %more, %place64, %oi : i64
    linalg.yield %most, %at : f16, i64
  } -> (tensor<3x2x2xf16>, tensor<3x2x2xi64>)
  return %m#0, %m#1 : tensor<3x2x2xf16>, tensor<3x2x2xi64>
}
