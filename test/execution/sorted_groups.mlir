// Tokens in the order of their groups, as a mixture of experts has them: the order of a sort divided by the choices of a token is a row, and the
// group is read by the order, a table of integers that are computed.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-run %t --check %s --seed 5 | FileCheck %s
// CHECK: result0: correct
// CHECK: result1: correct

#list = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%scores: tensor<32x2x8xf16>, %tokens: tensor<32x128xf16>, %weights: tensor<8x64xf16>) -> (tensor<64x128xf16>, tensor<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %c2_i32 = arith.constant 2 : i32
  %c32_i32 = arith.constant 32 : i32
  %c7 = arith.constant 7 : index
  %c63 = arith.constant 63 : index
  // The group of each choice: how many of eight scores are positive, less one where all are.
  %e2 = tensor.empty() : tensor<64xi32>
  %flat = tensor.collapse_shape %scores [[0, 1], [2]] : tensor<32x2x8xf16> into tensor<64x8xf16>
  %zeros = linalg.fill ins(%c0_i32 : i32) outs(%e2 : tensor<64xi32>) -> tensor<64xi32>
  %counts = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%flat : tensor<64x8xf16>) outs(%zeros : tensor<64xi32>) {
  ^bb0(%in: f16, %out: i32):
    %zero = arith.constant 0.0 : f16
    %is_positive = arith.cmpf ogt, %in, %zero : f16
    %one = arith.extui %is_positive : i1 to i32
    %sum = arith.addi %out, %one : i32
    linalg.yield %sum : i32
  } -> tensor<64xi32>
  %groups = linalg.generic {indexing_maps = [#list, #list], iterator_types = ["parallel"]} ins(%counts : tensor<64xi32>) outs(%e2 : tensor<64xi32>) {
  ^bb0(%in: i32, %out: i32):
    %seven = arith.constant 7 : i32
    %group = arith.minsi %in, %seven : i32
    linalg.yield %group : i32
  } -> tensor<64xi32>
  %count = linalg.generic {indexing_maps = [#list], iterator_types = ["parallel"]} outs(%e2 : tensor<64xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %number = arith.index_cast %i : index to i32
    linalg.yield %number : i32
  } -> tensor<64xi32>
  %sorted:2 = "stablehlo.sort"(%groups, %count) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %empty = tensor.empty() : tensor<i1>
    %is_less = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
        ins(%a, %b : tensor<i32>, tensor<i32>) outs(%empty : tensor<i1>) {
    ^bb0(%x: i32, %y: i32, %out: i1):
      %less = arith.cmpi slt, %x, %y : i32
      linalg.yield %less : i1
    } -> tensor<i1>
    "stablehlo.return"(%is_less) : (tensor<i1>) -> ()
  }) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>)
  %e3 = tensor.empty() : tensor<64x128xf16>
  %chosen = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e3 : tensor<64x128xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %order = tensor.extract %sorted#1[%i] : tensor<64xi32>
    %token = arith.divsi %order, %c2_i32 : i32
    %is_negative = arith.cmpi slt, %token, %c0_i32 : i32
    %wrapped = arith.addi %token, %c32_i32 : i32
    %row = arith.select %is_negative, %wrapped, %token : i32
    %at = arith.index_cast %row : i32 to index
    %element = tensor.extract %tokens[%at, %j] : tensor<32x128xf16>
    linalg.yield %element : f16
  } -> tensor<64x128xf16>
  %of_order = linalg.generic {indexing_maps = [#list], iterator_types = ["parallel"]} outs(%e2 : tensor<64xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %order = tensor.extract %sorted#1[%i] : tensor<64xi32>
    %at = arith.index_cast %order : i32 to index
    %above = arith.maxsi %at, %c0 : index
    %below = arith.minsi %above, %c63 : index
    %group = tensor.extract %groups[%below] : tensor<64xi32>
    linalg.yield %group : i32
  } -> tensor<64xi32>
  %e4 = tensor.empty() : tensor<64x64xf16>
  %of_group = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e4 : tensor<64x64xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %group = tensor.extract %of_order[%i] : tensor<64xi32>
    %at = arith.index_cast %group : i32 to index
    %above = arith.maxsi %at, %c0 : index
    %below = arith.minsi %above, %c7 : index
    %element = tensor.extract %weights[%below, %j] : tensor<8x64xf16>
    linalg.yield %element : f16
  } -> tensor<64x64xf16>
  return %chosen, %of_group : tensor<64x128xf16>, tensor<64x64xf16>
}
