// Routing to two of nine experts, as torch-mlir writes a mixture of experts: the two largest scores of each token with their positions, a weight for each
// expert of each token (a scatter in which each token has places of its own), and the sum of what the chosen experts have for it.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/planned --draw ties --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
#id = affine_map<(d0, d1) -> (d0, d1)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#chosen = affine_map<(d0, d1, d2) -> (d0, d1)>
#sum = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @routing(%scores: tensor<21x9xf16>, %experts: tensor<9x70xf16>) -> (tensor<21x9xf16>, tensor<21x70xf16>) {
  %e0 = tensor.empty() : tensor<21x9xi64>
  %count = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e0 : tensor<21x9xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<21x9xi64>
  %sorted:2 = tm_tensor.sort dimension(1) outs(%scores, %count : tensor<21x9xf16>, tensor<21x9xi64>) {
  ^bb0(%a: f16, %b: f16, %c: i64, %d: i64):
    %stays = arith.cmpf oge, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<21x9xf16>, tensor<21x9xi64>
  %top = tensor.extract_slice %sorted#0[0, 0] [21, 2] [1, 1] : tensor<21x9xf16> to tensor<21x2xf16>
  %which = tensor.extract_slice %sorted#1[0, 0] [21, 2] [1, 1] : tensor<21x9xi64> to tensor<21x2xi64>
  %e1 = tensor.empty() : tensor<21x2xf16>
  %weights = linalg.softmax dimension(1) ins(%top : tensor<21x2xf16>) outs(%e1 : tensor<21x2xf16>) -> tensor<21x2xf16>

  // Each weight at its token and its expert.
  %e2 = tensor.empty() : tensor<21x2xi64>
  %tokens = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e2 : tensor<21x2xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<21x2xi64>
  %c0 = tensor.collapse_shape %tokens [[0, 1]] : tensor<21x2xi64> into tensor<42xi64>
  %c1 = tensor.collapse_shape %which [[0, 1]] : tensor<21x2xi64> into tensor<42xi64>
  %p0 = tensor.expand_shape %c0 [[0, 1]] output_shape [42, 1] : tensor<42xi64> into tensor<42x1xi64>
  %p1 = tensor.expand_shape %c1 [[0, 1]] output_shape [42, 1] : tensor<42xi64> into tensor<42x1xi64>
  %places = tensor.concat dim(1) %p0, %p1 : (tensor<42x1xi64>, tensor<42x1xi64>) -> tensor<42x2xi64>
  %flat = tensor.collapse_shape %weights [[0, 1]] : tensor<21x2xf16> into tensor<42xf16>
  %parts = tensor.expand_shape %flat [[0, 1, 2]] output_shape [42, 1, 1] : tensor<42xf16> into tensor<42x1x1xf16>
  %zero = arith.constant dense<0.0> : tensor<21x9xf16>
  %dense = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false)
      ins(%parts, %places : tensor<42x1x1xf16>, tensor<42x2xi64>) outs(%zero : tensor<21x9xf16>) {
  ^bb0(%new: f16, %old: f16):
    tm_tensor.yield %new : f16
  } -> tensor<21x9xf16>

  // Rows that the positions choose, weighted.
  %e3 = tensor.empty() : tensor<21x2x70xf16>
  %rows = linalg.generic {indexing_maps = [#chosen, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%which : tensor<21x2xi64>) outs(%e3 : tensor<21x2x70xf16>) {
  ^bb0(%in: i64, %out: f16):
    %i = arith.index_cast %in : i64 to index
    %j = linalg.index 2 : index
    %element = tensor.extract %experts[%i, %j] : tensor<9x70xf16>
    linalg.yield %element : f16
  } -> tensor<21x2x70xf16>
  %none = arith.constant dense<0.0> : tensor<21x70xf16>
  %mixed = linalg.generic {indexing_maps = [#all, #chosen, #sum], iterator_types = ["parallel", "reduction", "parallel"]} ins(%rows, %weights : tensor<21x2x70xf16>, tensor<21x2xf16>) outs(%none : tensor<21x70xf16>) {
  ^bb0(%row: f16, %weight: f16, %out: f16):
    %product = arith.mulf %row, %weight : f16
    %next = arith.addf %out, %product : f16
    linalg.yield %next : f16
  } -> tensor<21x70xf16>
  return %dense, %mixed : tensor<21x9xf16>, tensor<21x70xf16>
}
