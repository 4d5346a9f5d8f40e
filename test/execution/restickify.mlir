// Operands whose sticks do not fit those of their reader are moved.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/one --cores 1 > %t.log && spyre-run %t/one --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/greedy --sticks greedy > %t.log && spyre-run %t/greedy --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/unplanned --lx-planner none > %t.log && spyre-run %t/unplanned --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
#plain = affine_map<(row, column) -> (row, column)>
#turned = affine_map<(row, column) -> (column, row)>
#left = affine_map<(m, n, k) -> (m, k)>
#right_turned = affine_map<(m, n, k) -> (n, k)>
#product = affine_map<(m, n, k) -> (m, n)>

func.func @moves(%x: tensor<96x128xf16>, %y: tensor<128x96xf16>, %w: tensor<64x128xf16>, %v: tensor<128x64xf16>)
    -> (tensor<96x128xf16>, tensor<96x64xf16>, tensor<96x128xf16>, tensor<128x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %rows = tensor.empty() : tensor<96x128xf16>
  %narrow = tensor.empty() : tensor<96x64xf16>
  %columns = tensor.empty() : tensor<128x64xf16>

  // A transposed addend.
  %sum = linalg.generic {indexing_maps = [#plain, #turned, #plain], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<96x128xf16>, tensor<128x96xf16>) outs(%rows : tensor<96x128xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %s = arith.addf %a, %b : f16
    linalg.yield %s : f16
  } -> tensor<96x128xf16>

  // w is the right operand in two ways: x @ w^T and (x @ w^T) @ w. However it lies, one of them needs it moved.
  %narrow_0 = linalg.fill ins(%zero : f16) outs(%narrow : tensor<96x64xf16>) -> tensor<96x64xf16>
  %there = linalg.generic {indexing_maps = [#left, #right_turned, #product], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<96x128xf16>, tensor<64x128xf16>) outs(%narrow_0 : tensor<96x64xf16>) {
  ^bb0(%a: f16, %b: f16, %acc: f16):
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %acc, %p : f16
    linalg.yield %s : f16
  } -> tensor<96x64xf16>
  %rows_0 = linalg.fill ins(%zero : f16) outs(%rows : tensor<96x128xf16>) -> tensor<96x128xf16>
  %back = linalg.matmul ins(%there, %w : tensor<96x64xf16>, tensor<64x128xf16>) outs(%rows_0 : tensor<96x128xf16>) -> tensor<96x128xf16>

  // A third reader, which can share the move.
  %transposed = linalg.transpose ins(%w : tensor<64x128xf16>) outs(%columns : tensor<128x64xf16>) permutation = [1, 0]
  %difference = linalg.sub ins(%v, %transposed : tensor<128x64xf16>, tensor<128x64xf16>) outs(%columns : tensor<128x64xf16>) -> tensor<128x64xf16>
  return %sum, %there, %back, %difference : tensor<96x128xf16>, tensor<96x64xf16>, tensor<96x128xf16>, tensor<128x64xf16>
}
