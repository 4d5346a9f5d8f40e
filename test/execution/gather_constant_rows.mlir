// Rows in an order that is known at compile time, one of them twice; and a tensor read backwards by its indices.
// RUN: rm -rf %t && spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
func.func @rows(%x: tensor<10x70xf16>) -> (tensor<4x70xf16>, tensor<10x70xf16>) {
  %rows = arith.constant dense<[7, 2, 7, 0]> : tensor<4xi64>
  %some = tensor.empty() : tensor<4x70xf16>
  %chosen = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<4xi64>) outs(%some : tensor<4x70xf16>) {
  ^bb0(%row: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %x[%i, %j] : tensor<10x70xf16>
    linalg.yield %element : f16
  } -> tensor<4x70xf16>
  %last = arith.constant 9 : index
  %all = tensor.empty() : tensor<10x70xf16>
  %backwards = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%all : tensor<10x70xf16>) {
  ^bb0(%out: f16):
    %k = linalg.index 0 : index
    %i = arith.subi %last, %k : index
    %j = linalg.index 1 : index
    %element = tensor.extract %x[%i, %j] : tensor<10x70xf16>
    linalg.yield %element : f16
  } -> tensor<10x70xf16>
  return %chosen, %backwards : tensor<4x70xf16>, tensor<10x70xf16>
}
