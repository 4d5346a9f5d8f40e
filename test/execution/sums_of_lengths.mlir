// Running sums and the sum of a few large integers, whose ranges are given: blocks of one and two elements. A mask of truth values has known ranges.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct

func.func @main(%lengths: tensor<2x9xi32> {spyre.range = array<i64: 0, 1025>}, %some: tensor<7x3xi32> {spyre.range = array<i64: 0, 400>}, %x: tensor<3x1100xf16>)
    -> (tensor<2x9xi32>, tensor<7x3xi32>, tensor<2xi32>, tensor<3xi32>) {
  %e = tensor.empty() : tensor<2x9xi32>
  %last = tensor.empty() : tensor<2xi32>
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%lengths : tensor<2x9xi32>) outs(%e, %last : tensor<2x9xi32>, tensor<2xi32>) {
  ^bb0(%sum: i32, %element: i32):
    %next = arith.addi %sum, %element : i32
    tm_tensor.yield %next : i32
  } -> tensor<2x9xi32>, tensor<2xi32>
  %e2 = tensor.empty() : tensor<7x3xi32>
  %last2 = tensor.empty() : tensor<3xi32>
  %down:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%some : tensor<7x3xi32>) outs(%e2, %last2 : tensor<7x3xi32>, tensor<3xi32>) {
  ^bb0(%sum: i32, %element: i32):
    %next = arith.addi %sum, %element : i32
    tm_tensor.yield %next : i32
  } -> tensor<7x3xi32>, tensor<3xi32>
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f16
  %e3 = tensor.empty() : tensor<3xi32>
  %zeros = linalg.fill ins(%c0 : i32) outs(%e3 : tensor<3xi32>) -> tensor<3xi32>
  %positive = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x1100xf16>) outs(%zeros : tensor<3xi32>) {
  ^bb0(%in: f16, %count: i32):
    %is_positive = arith.cmpf oge, %in, %zero : f16
    %one = arith.extui %is_positive : i1 to i32
    %next = arith.addi %count, %one : i32
    linalg.yield %next : i32
  } -> tensor<3xi32>
  return %sums#0, %down#0, %sums#1, %positive : tensor<2x9xi32>, tensor<7x3xi32>, tensor<2xi32>, tensor<3xi32>
}
