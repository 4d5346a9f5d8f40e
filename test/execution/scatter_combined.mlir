// Parts that meet at places of run time: the largest, the smallest, the product, and how many there are; whole rows, single elements, and rows with places of their own.
// RUN: spyre-compile %s -o %t --validate && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-run %t --seed 7 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct
func.func @main(%x: tensor<8x70xf16>, %rows: tensor<20x1x70xf16>, %places: tensor<20x1xi64>, %grid: tensor<3x5xf16>, %single: tensor<9xf16>,
                %both: tensor<9x2xi64>, %one: tensor<1x1x70xf16>, %at: tensor<1x1xi64>)
    -> (tensor<8x70xf16>, tensor<8x70xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<8x70xf16>) {
  %largest = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<20x1x70xf16>, tensor<20x1xi64>) outs(%x : tensor<8x70xf16>) {
  ^bb0(%part: f16, %old: f16):
    %new = arith.maximumf %old, %part : f16
    tm_tensor.yield %new : f16
  } -> tensor<8x70xf16>
  %product = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<20x1x70xf16>, tensor<20x1xi64>) outs(%x : tensor<8x70xf16>) {
  ^bb0(%part: f16, %old: f16):
    %new = arith.mulf %part, %old : f16
    tm_tensor.yield %new : f16
  } -> tensor<8x70xf16>
  %smallest = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false)
      ins(%single, %both : tensor<9xf16>, tensor<9x2xi64>) outs(%grid : tensor<3x5xf16>) {
  ^bb0(%part: f16, %old: f16):
    %new = arith.minimumf %old, %part : f16
    tm_tensor.yield %new : f16
  } -> tensor<3x5xf16>
  %one_more = arith.constant 1.0 : f16
  %counted = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false)
      ins(%single, %both : tensor<9xf16>, tensor<9x2xi64>) outs(%grid : tensor<3x5xf16>) {
  ^bb0(%part: f16, %old: f16):
    %new = arith.addf %old, %one_more : f16
    tm_tensor.yield %new : f16
  } -> tensor<3x5xf16>
  %of_one = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true)
      ins(%one, %at : tensor<1x1x70xf16>, tensor<1x1xi64>) outs(%x : tensor<8x70xf16>) {
  ^bb0(%part: f16, %old: f16):
    %new = arith.maximumf %old, %part : f16
    tm_tensor.yield %new : f16
  } -> tensor<8x70xf16>
  return %largest, %product, %smallest, %counted, %of_one : tensor<8x70xf16>, tensor<8x70xf16>, tensor<3x5xf16>, tensor<3x5xf16>, tensor<8x70xf16>
}
