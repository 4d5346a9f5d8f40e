// Where a largest or smallest value stands as JAX writes it: the value and its place are chosen by comparisons, which say what becomes of a NaN and which of
// equal ones counts.
// RUN: spyre-compile %s -o %t.bundle --validate > %t.log && spyre-run %t.bundle --seed 3 --check %s | FileCheck %s
// RUN: spyre-run %t.bundle --draw ties --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t.three --cores 3 --lx-planner none > %t.log && spyre-run %t.three --draw ties --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @limits(%x: tensor<5x65xf32>) -> (tensor<5xi32>, tensor<5xf32>, tensor<65xi32>, tensor<5xi32>) {
  %lowest = arith.constant dense<0xFF800000> : tensor<5xf32>
  %highest = arith.constant dense<0x7F800000> : tensor<65xf32>
  %zeros = arith.constant dense<0> : tensor<5xi32>
  %zeros_across = arith.constant dense<0> : tensor<65xi32>
  %e = tensor.empty() : tensor<5x65xi32>
  %places = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x65xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i32
    linalg.yield %n : i32
  } -> tensor<5x65xi32>
  %rows = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x65xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    linalg.yield %n : i32
  } -> tensor<5x65xi32>

  %max:2 = linalg.generic {indexing_maps = [#whole, #whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %places : tensor<5x65xf32>, tensor<5x65xi32>) outs(%lowest, %zeros : tensor<5xf32>, tensor<5xi32>) {
  ^bb0(%new: f32, %place: i32, %old: f32, %found: i32):
    %larger = arith.cmpf ogt, %old, %new : f32
    %nan = arith.cmpf une, %old, %old : f32
    %kept = arith.ori %larger, %nan : i1
    %same = arith.cmpf oeq, %old, %new : f32
    %earlier = arith.cmpi slt, %found, %place : i32
    %first = arith.andi %same, %earlier : i1
    %stays = arith.ori %kept, %first : i1
    %value = arith.select %kept, %old, %new : f32
    %at = arith.select %stays, %found, %place : i32
    linalg.yield %value, %at : f32, i32
  } -> (tensor<5xf32>, tensor<5xi32>)

  // The smallest of each column, by a plain comparison.
  %min:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1, d0)>, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %rows : tensor<5x65xf32>, tensor<5x65xi32>) outs(%highest, %zeros_across : tensor<65xf32>, tensor<65xi32>) {
  ^bb0(%new: f32, %place: i32, %old: f32, %found: i32):
    %less = arith.cmpf olt, %new, %old : f32
    %value = arith.select %less, %new, %old : f32
    %at = arith.select %less, %place, %found : i32
    linalg.yield %value, %at : f32, i32
  } -> (tensor<65xf32>, tensor<65xi32>)

  // The last of equal ones.
  %last:2 = linalg.generic {indexing_maps = [#whole, #whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %places : tensor<5x65xf32>, tensor<5x65xi32>) outs(%lowest, %zeros : tensor<5xf32>, tensor<5xi32>) {
  ^bb0(%new: f32, %place: i32, %old: f32, %found: i32):
    %takes = arith.cmpf oge, %new, %old : f32
    %value = arith.maximumf %new, %old : f32
    %at = arith.select %takes, %place, %found : i32
    linalg.yield %value, %at : f32, i32
  } -> (tensor<5xf32>, tensor<5xi32>)
  return %max#1, %max#0, %min#1, %last#1 : tensor<5xi32>, tensor<5xf32>, tensor<65xi32>, tensor<5xi32>
}
