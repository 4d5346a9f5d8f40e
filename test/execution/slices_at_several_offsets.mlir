// Slices from several offsets of run time on, also of every third row and second column, and one written there; producers clamp them.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t/log && spyre-run %t/out --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func @main(%x: tensor<3x20x96xf16>, %part: tensor<2x4x96xf16>, %i: tensor<i64>, %j: tensor<i32>, %k: tensor<i64>)
    -> (tensor<2x5x64xf16>, tensor<3x20x96xf16>, tensor<1x2x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c32 = arith.constant 32 : index
  %0 = tensor.extract %i[] : tensor<i64>
  %1 = arith.index_cast %0 : i64 to index
  %2 = arith.maxsi %1, %c0 : index
  %batch = arith.minsi %2, %c1 : index
  %3 = tensor.extract %j[] : tensor<i32>
  %4 = arith.index_cast %3 : i32 to index
  %5 = arith.maxsi %4, %c0 : index
  %row = arith.minsi %5, %c15 : index
  %6 = tensor.extract %k[] : tensor<i64>
  %7 = arith.index_cast %6 : i64 to index
  %8 = arith.maxsi %7, %c0 : index
  %column = arith.minsi %8, %c32 : index
  %slice = tensor.extract_slice %x[%batch, %row, %column] [2, 5, 64] [1, 1, 1] : tensor<3x20x96xf16> to tensor<2x5x64xf16>
  %written = tensor.insert_slice %part into %x[%batch, %row, 0] [2, 4, 96] [1, 1, 1] : tensor<2x4x96xf16> into tensor<3x20x96xf16>
  %steps = tensor.extract_slice %x[1, %row, %column] [1, 2, 32] [1, 3, 2] : tensor<3x20x96xf16> to tensor<1x2x32xf16>
  return %slice, %written, %steps : tensor<2x5x64xf16>, tensor<3x20x96xf16>, tensor<1x2x32xf16>
}
