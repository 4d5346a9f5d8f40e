// Rows and columns of a matrix: broadcast operands, sums over rows, results without the dimension that was reduced.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/unplanned --lx-planner none > %t.log && spyre-run %t/unplanned --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
func.func @rows(%x: tensor<512x1024xf16>, %bias: tensor<1x1024xf16>) -> (tensor<1024xf16>, tensor<512x1024xf16>, tensor<1x1024xf16>) {
  %zero = arith.constant 0.0 : f16
  %0 = tensor.empty() : tensor<512x1024xf16>
  %biased = linalg.generic {indexing_maps = [#matrix, #row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%x, %bias : tensor<512x1024xf16>, tensor<1x1024xf16>) outs(%0 : tensor<512x1024xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %sum = arith.addf %a, %b : f16
    linalg.yield %sum : f16
  } -> tensor<512x1024xf16>
  %1 = tensor.empty() : tensor<1024xf16>
  %2 = linalg.fill ins(%zero : f16) outs(%1 : tensor<1024xf16>) -> tensor<1024xf16>
  %sums = linalg.generic {indexing_maps = [#matrix, #columns], iterator_types = ["reduction", "parallel"]}
    ins(%biased : tensor<512x1024xf16>) outs(%2 : tensor<1024xf16>) {
  ^bb0(%a: f16, %so_far: f16):
    %sum = arith.addf %so_far, %a : f16
    linalg.yield %sum : f16
  } -> tensor<1024xf16>
  %centered = linalg.generic {indexing_maps = [#matrix, #columns, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%biased, %sums : tensor<512x1024xf16>, tensor<1024xf16>) outs(%0 : tensor<512x1024xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %difference = arith.subf %a, %b : f16
    linalg.yield %difference : f16
  } -> tensor<512x1024xf16>
  return %sums, %centered, %bias : tensor<1024xf16>, tensor<512x1024xf16>, tensor<1x1024xf16>
}
