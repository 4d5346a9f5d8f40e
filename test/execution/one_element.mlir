// One element of a tensor at a known place: a number that is added everywhere, and a position among others at which a row is written, also in a
// function that is called.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --entry main --validate > %t/log && spyre-run %t/out --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --entry main --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/strict --entry main --precision strict > %t/strict.log && spyre-run %t/strict --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func private @scattered(%x: tensor<8x70xf16>, %rows: tensor<3x1x70xf16>, %places: tensor<3x1xi64>) -> tensor<8x70xf16> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x1x70xf16>, tensor<3x1xi64>) outs(%x : tensor<8x70xf16>) {
  ^bb0(%part: f16, %old: f16):
    tm_tensor.yield %part : f16
  } -> tensor<8x70xf16>
  return %0 : tensor<8x70xf16>
}
func.func @main(%x: tensor<8x70xf16>, %positions: tensor<4xi64>, %row: tensor<1x70xf16>, %rows: tensor<3x1x70xf16>, %places: tensor<3x1xi64>)
    -> (tensor<8x70xf16>, tensor<8x70xf16>, tensor<8x70xf16>) {
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %element = tensor.extract %x[%c2, %c64] : tensor<8x70xf16>
  %everywhere = tensor.splat %element : tensor<8x70xf16>
  %sum = arith.addf %x, %everywhere : tensor<8x70xf16>
  %position = tensor.extract %positions[%c2] : tensor<4xi64>
  %first = arith.index_cast %position : i64 to index
  %written = tensor.insert_slice %row into %x[%first, 0] [1, 70] [1, 1] : tensor<1x70xf16> into tensor<8x70xf16>
  %scattered = func.call @scattered(%x, %rows, %places) : (tensor<8x70xf16>, tensor<3x1x70xf16>, tensor<3x1xi64>) -> tensor<8x70xf16>
  return %sum, %written, %scattered : tensor<8x70xf16>, tensor<8x70xf16>, tensor<8x70xf16>
}
