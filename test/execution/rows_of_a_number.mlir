// Rows that integers of run time choose from a constant of one number are that number: as a window, by a list, and element by element.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK-COUNT-4: correct
func.func @rows_of_a_number(%v0: tensor<2xf16>, %v12: tensor<1xi64>, %v13: tensor<3xi64>, %n: tensor<1xf16>) -> (tensor<2xf16>, tensor<3x4xf16>, tensor<8xf16>, tensor<3xf16>) {
  %v7 = arith.constant dense<1.0> : tensor<64xf16>
  %t = arith.constant dense<2.5> : tensor<16x4xf16>
  %z13 = arith.constant 0 : index
  %p13 = tensor.extract %v12[%z13] : tensor<1xi64>
  %i13 = arith.index_cast %p13 : i64 to index
  %v = tensor.extract_slice %v7[%i13] [2] [1] : tensor<64xf16> to tensor<2xf16>
  %w = arith.addf %v, %v0 : tensor<2xf16>
  %e = tensor.empty() : tensor<3x4xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v13 : tensor<3xi64>) outs(%e : tensor<3x4xf16>) {
  ^bb0(%i: i64, %o: f16):
    %c = arith.index_cast %i : i64 to index
    %d = linalg.index 1 : index
    %x = tensor.extract %t[%c, %d] : tensor<16x4xf16>
    linalg.yield %x : f16
  } -> tensor<3x4xf16>
  %eight = arith.constant dense<0.0> : tensor<8xf16>
  %ins = tensor.insert_slice %n into %eight[%i13] [1] [1] : tensor<1xf16> into tensor<8xf16>
  %f = tensor.empty() : tensor<3xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v13 : tensor<3xi64>) outs(%f : tensor<3xf16>) {
  ^bb0(%i: i64, %o: f16):
    %c = arith.index_cast %i : i64 to index
    %x = tensor.extract %v7[%c] : tensor<64xf16>
    linalg.yield %x : f16
  } -> tensor<3xf16>
  return %w, %g, %ins, %h : tensor<2xf16>, tensor<3x4xf16>, tensor<8xf16>, tensor<3xf16>
}
