// Tokens times the matrix of the expert that each of them chose, with experts as PyTorch has them (transposed) and as they are, one row and several of
// each token, columns that are no whole sticks. What an expert gives for a token that did not choose it is nothing, also where it is infinite.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/planned --draw ties --check %s | FileCheck %s
// RUN: spyre-run %t/planned --draw extreme --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
#token = affine_map<(d0) -> (d0)>
#chosen = affine_map<(d0, d1, d2) -> (d0)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @experts(%x: tensor<13x96xf16>, %rows: tensor<13x7x128xf16>, %gate: tensor<13xf16>, %up: tensor<3x40x96xf16>, %down: tensor<3x128x70xf16>)
    -> (tensor<13x40xf16>, tensor<13x7x70xf16>, tensor<13x40xf16>) {
  %low = arith.constant 0.0 : f16
  %high = arith.constant 0.5 : f16
  %e0 = tensor.empty() : tensor<13xi64>
  %which = linalg.generic {indexing_maps = [#token, #token], iterator_types = ["parallel"]} ins(%gate : tensor<13xf16>) outs(%e0 : tensor<13xi64>) {
  ^bb0(%g: f16, %out: i64):
    %a = arith.cmpf ogt, %g, %low : f16
    %b = arith.cmpf ogt, %g, %high : f16
    %n = arith.extui %a : i1 to i64
    %m = arith.extui %b : i1 to i64
    %sum = arith.addi %n, %m : i64
    linalg.yield %sum : i64
  } -> tensor<13xi64>

  %e1 = tensor.empty() : tensor<13x40x96xf16>
  %ups = linalg.generic {indexing_maps = [#chosen, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%which : tensor<13xi64>) outs(%e1 : tensor<13x40x96xf16>) {
  ^bb0(%in: i64, %out: f16):
    %i = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %up[%i, %j, %k] : tensor<3x40x96xf16>
    linalg.yield %element : f16
  } -> tensor<13x40x96xf16>
  %column = tensor.expand_shape %x [[0], [1, 2]] output_shape [13, 96, 1] : tensor<13x96xf16> into tensor<13x96x1xf16>
  %zero0 = arith.constant dense<0.0> : tensor<13x40x1xf16>
  %y0 = linalg.batch_matmul ins(%ups, %column : tensor<13x40x96xf16>, tensor<13x96x1xf16>) outs(%zero0 : tensor<13x40x1xf16>) -> tensor<13x40x1xf16>
  %first = tensor.collapse_shape %y0 [[0], [1, 2]] : tensor<13x40x1xf16> into tensor<13x40xf16>

  %e2 = tensor.empty() : tensor<13x128x70xf16>
  %downs = linalg.generic {indexing_maps = [#chosen, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%which : tensor<13xi64>) outs(%e2 : tensor<13x128x70xf16>) {
  ^bb0(%in: i64, %out: f16):
    %i = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %down[%i, %j, %k] : tensor<3x128x70xf16>
    linalg.yield %element : f16
  } -> tensor<13x128x70xf16>
  %zero1 = arith.constant dense<0.0> : tensor<13x7x70xf16>
  %second = linalg.batch_matmul ins(%rows, %downs : tensor<13x7x128xf16>, tensor<13x128x70xf16>) outs(%zero1 : tensor<13x7x70xf16>) -> tensor<13x7x70xf16>

  // The second expert is infinite; a token that did not choose it does not see that.
  %one = arith.constant 1.0 : f16
  %inf = arith.constant 0x7C00 : f16
  %e3 = tensor.empty() : tensor<3x40x96xf16>
  %broken = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%up : tensor<3x40x96xf16>) outs(%e3 : tensor<3x40x96xf16>) {
  ^bb0(%in: f16, %out: f16):
    %i = linalg.index 0 : index
    %two = arith.constant 2 : index
    %is = arith.cmpi eq, %i, %two : index
    %number = arith.select %is, %inf, %in : f16
    linalg.yield %number : f16
  } -> tensor<3x40x96xf16>
  %e4 = tensor.empty() : tensor<13x40x96xf16>
  %infinite = linalg.generic {indexing_maps = [#chosen, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%which : tensor<13xi64>) outs(%e4 : tensor<13x40x96xf16>) {
  ^bb0(%in: i64, %out: f16):
    %i = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %broken[%i, %j, %k] : tensor<3x40x96xf16>
    linalg.yield %element : f16
  } -> tensor<13x40x96xf16>
  %y1 = linalg.batch_matmul ins(%infinite, %column : tensor<13x40x96xf16>, tensor<13x96x1xf16>) outs(%zero0 : tensor<13x40x1xf16>) -> tensor<13x40x1xf16>
  %third = tensor.collapse_shape %y1 [[0], [1, 2]] : tensor<13x40x1xf16> into tensor<13x40xf16>
  return %first, %second, %third : tensor<13x40xf16>, tensor<13x7x70xf16>, tensor<13x40xf16>
}
