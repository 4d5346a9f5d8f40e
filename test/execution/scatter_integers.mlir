// Integers that are written at places of run time: how many tokens each expert gets, a buffer of tokens that the next one is written into, rows of integers.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/single.mlir -o %t/single --validate > %t.log && spyre-run %t/single --seed 3 --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-run %t/single --draw ties --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/half.mlir -o %t/half --validate > %t.log && spyre-run %t/half --check %t/parts/half.mlir | FileCheck %s --check-prefix=HALF

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// HALF: result0: correct
// HALF: result1: correct

//--- single.mlir
func.func @single(%experts: tensor<17x1xi64>, %tokens: tensor<2x32xi64>, %next: tensor<2x1xi64>, %at: tensor<i32>,
                  %rows: tensor<3x70xi32>, %places: tensor<3x1xi64>, %whole: tensor<9x70xi32>)
    -> (tensor<10xi64>, tensor<2x32xi64>, tensor<9x70xi32>) {
  %zeros = arith.constant dense<0> : tensor<10xi64>
  %ones = arith.constant dense<1> : tensor<17xi64>
  %count = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%ones, %experts : tensor<17xi64>, tensor<17x1xi64>) outs(%zeros : tensor<10xi64>) {
  ^bb0(%new: i64, %old: i64):
    %sum = arith.addi %new, %old : i64
    tm_tensor.yield %sum : i64
  } -> tensor<10xi64>
  %number = tensor.extract %at[] : tensor<i32>
  %place = arith.index_cast %number : i32 to index
  %grown = tensor.insert_slice %next into %tokens[0, %place] [2, 1] [1, 1] : tensor<2x1xi64> into tensor<2x32xi64>
  %replaced = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x70xi32>, tensor<3x1xi64>) outs(%whole : tensor<9x70xi32>) {
  ^bb0(%new: i32, %old: i32):
    tm_tensor.yield %new : i32
  } -> tensor<9x70xi32>
  return %count, %grown, %replaced : tensor<10xi64>, tensor<2x32xi64>, tensor<9x70xi32>
}

//--- half.mlir
#list = affine_map<(d0) -> (d0)>
func.func @half(%experts: tensor<17x1xi64>, %x: tensor<10xf16>) -> (tensor<10xi32>, tensor<10xf16>) {
  %zeros = arith.constant dense<0> : tensor<10xi32>
  %ones = arith.constant dense<1> : tensor<17xi32>
  %count = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%ones, %experts : tensor<17xi32>, tensor<17x1xi64>) outs(%zeros : tensor<10xi32>) {
  ^bb0(%new: i32, %old: i32):
    %sum = arith.addi %new, %old : i32
    tm_tensor.yield %sum : i32
  } -> tensor<10xi32>
  %e = tensor.empty() : tensor<10xf16>
  %shares = linalg.generic {indexing_maps = [#list, #list, #list], iterator_types = ["parallel"]}
      ins(%count, %x : tensor<10xi32>, tensor<10xf16>) outs(%e : tensor<10xf16>) {
  ^bb0(%n: i32, %in: f16, %out: f16):
    %number = arith.sitofp %n : i32 to f16
    %product = arith.mulf %number, %in : f16
    linalg.yield %product : f16
  } -> tensor<10xf16>
  return %count, %shares : tensor<10xi32>, tensor<10xf16>
}
