// A cache update and a window of it, as JAX writes dynamic_update_slice and dynamic_slice: at an offset that is known at run time, held within the
// tensor. One row, several rows of a window of the columns, and a window that is read.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/planned --seed 5 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func @slices_at_run_time(%cache: tensor<2x32x64xf16>, %row: tensor<2x1x64xf16>, %block: tensor<2x3x40xf16>, %at: tensor<i32>)
    -> (tensor<2x32x64xf16>, tensor<2x32x64xf16>, tensor<2x4x64xf16>) {
  %number = tensor.extract %at[] : tensor<i32>
  %first = arith.constant 0 : i32
  %last = arith.constant 28 : i32
  %below = arith.minsi %number, %last : i32
  %within = arith.maxsi %below, %first : i32
  %i = arith.index_cast %within : i32 to index
  %one = tensor.insert_slice %row into %cache[0, %i, 0] [2, 1, 64] [1, 1, 1] : tensor<2x1x64xf16> into tensor<2x32x64xf16>
  %several = tensor.insert_slice %block into %cache[0, %i, 7] [2, 3, 40] [1, 1, 1] : tensor<2x3x40xf16> into tensor<2x32x64xf16>
  %window = tensor.extract_slice %cache[0, %i, 0] [2, 4, 64] [1, 1, 1] : tensor<2x32x64xf16> to tensor<2x4x64xf16>
  return %one, %several, %window : tensor<2x32x64xf16>, tensor<2x32x64xf16>, tensor<2x4x64xf16>
}
