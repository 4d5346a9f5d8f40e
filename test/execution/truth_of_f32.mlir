// A mask of truth values that chooses among f32 numbers is stored in f32, whatever the sizes: sticks of 32 elements, not of 64.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/one --cores 1 --lx-planner none > %t.log && spyre-run %t/one --check %s | FileCheck %s
// RUN: spyre-compile %s --compile-to import -o - | FileCheck %s --check-prefix=IMPORT

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// IMPORT: spyre.view %{{.*}} : tensor<32x16x16xi1> -> tensor<32x16x16xf32>
func.func @truth(%mask: tensor<32x16x16xi1>, %x: tensor<32x16x16xf32>, %y: tensor<32x16x16xf32>,
    %flag: tensor<1xi1>, %a: tensor<1xf32>, %b: tensor<1xf32>,
    %row: tensor<1x129xi1>, %c: tensor<1x129xf32>) -> (tensor<32x16x16xf32>, tensor<1xf32>, tensor<1x129xf32>) {
  %e = tensor.empty() : tensor<32x16x16xf32>
  %chosen = linalg.select ins(%mask, %x, %y : tensor<32x16x16xi1>, tensor<32x16x16xf32>, tensor<32x16x16xf32>) outs(%e : tensor<32x16x16xf32>) -> tensor<32x16x16xf32>
  %f = tensor.empty() : tensor<1xf32>
  %one = linalg.select ins(%flag, %a, %b : tensor<1xi1>, tensor<1xf32>, tensor<1xf32>) outs(%f : tensor<1xf32>) -> tensor<1xf32>
  %g = tensor.empty() : tensor<1x129xf32>
  %above = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%row, %c : tensor<1x129xi1>, tensor<1x129xf32>) outs(%g : tensor<1x129xf32>) {
  ^bb0(%m: i1, %n: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %is_above = arith.cmpf ogt, %n, %zero : f32
    %both = arith.andi %m, %is_above : i1
    %r = arith.select %both, %n, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x129xf32>
  return %chosen, %one, %above : tensor<32x16x16xf32>, tensor<1xf32>, tensor<1x129xf32>
}
