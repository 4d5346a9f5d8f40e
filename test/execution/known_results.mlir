// Integers that are known when the program is compiled, as results.
// RUN: rm -rf %t && spyre-compile %s -o %t --validate && spyre-run %t --check %s | FileCheck %s
// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<70xf16>) -> (tensor<70xi64>, tensor<70xi32>, tensor<70xf16>) {
  %empty64 = tensor.empty() : tensor<70xi64>
  %positions = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%empty64 : tensor<70xi64>) {
  ^bb0(%out: i64):
    %position = linalg.index 0 : index
    %number = arith.index_cast %position : index to i64
    linalg.yield %number : i64
  } -> tensor<70xi64>
  %empty32 = tensor.empty() : tensor<70xi32>
  %negated = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%empty32 : tensor<70xi32>) {
  ^bb0(%out: i32):
    %position = linalg.index 0 : index
    %number = arith.index_cast %position : index to i32
    %c7 = arith.constant 7 : i32
    %less = arith.subi %c7, %number : i32
    linalg.yield %less : i32
  } -> tensor<70xi32>
  return %positions, %negated, %x : tensor<70xi64>, tensor<70xi32>, tensor<70xf16>
}
