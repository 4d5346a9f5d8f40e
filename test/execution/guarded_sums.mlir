// Reductions that leave out what a condition known at compile time or at run time excludes, as `embedding_bag` is written: a choice between the combined
// value and the running one, or a branch around the combination. Infinities that are left out do not count.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/half.mlir -o %t/half-out --validate > %t/log && spyre-run %t/half-out --wipe-lx --check %t/half.mlir | FileCheck %s
// RUN: spyre-run %t/half-out --draw infinite --check %t/half.mlir | FileCheck %s
// RUN: spyre-compile %t/half.mlir -o %t/three --cores 3 --lx-planner none > %t/log && spyre-run %t/three --seed 2 --check %t/half.mlir | FileCheck %s
// RUN: spyre-compile %t/single.mlir -o %t/single-out --validate > %t/log && spyre-run %t/single-out --wipe-lx --check %t/single.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

//--- half.mlir
#in = affine_map<(b, r, j) -> (r, j)>
#of = affine_map<(b, r, j) -> (b)>
#out = affine_map<(b, r, j) -> (b, j)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @half(%x: tensor<21x70xf16>, %mask: tensor<9x70xf16>, %y: tensor<9x70xf16>) -> (tensor<3x70xf16>, tensor<9xf16>, tensor<9xf16>) {
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %lowest = arith.constant 0xFC00 : f16
  %c7 = arith.constant 7 : index
  %e0 = tensor.empty() : tensor<3x70xf16>
  %f0 = linalg.fill ins(%zero : f16) outs(%e0 : tensor<3x70xf16>) -> tensor<3x70xf16>
  %bags = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<21x70xf16>) outs(%f0 : tensor<3x70xf16>) {
  ^bb0(%v: f16, %sum: f16):
    %b = linalg.index 0 : index
    %r = linalg.index 1 : index
    %first = arith.muli %b, %c7 : index
    %end = arith.addi %first, %c7 : index
    %begins = arith.cmpi sge, %r, %first : index
    %ends = arith.cmpi slt, %r, %end : index
    %is_in = arith.andi %begins, %ends : i1
    %more = arith.addf %v, %sum : f16
    %next = arith.select %is_in, %more, %sum : f16
    linalg.yield %next : f16
  } -> tensor<3x70xf16>
  %e1 = tensor.empty() : tensor<9xf16>
  %f1 = linalg.fill ins(%lowest : f16) outs(%e1 : tensor<9xf16>) -> tensor<9xf16>
  %largest = linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%mask, %y : tensor<9x70xf16>, tensor<9x70xf16>) outs(%f1 : tensor<9xf16>) {
  ^bb0(%m: f16, %v: f16, %running: f16):
    %is_out = arith.cmpf ogt, %m, %zero : f16
    %next = scf.if %is_out -> (f16) {
      scf.yield %running : f16
    } else {
      %larger = arith.maximumf %running, %v : f16
      scf.yield %larger : f16
    }
    linalg.yield %next : f16
  } -> tensor<9xf16>
  %sums = linalg.fill ins(%one : f16) outs(%e1 : tensor<9xf16>) -> tensor<9xf16>
  %positive = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<9x70xf16>) outs(%sums : tensor<9xf16>) {
  ^bb0(%v: f16, %sum: f16):
    %is_in = arith.cmpf ogt, %v, %zero : f16
    %wide = arith.extf %v : f16 to f32
    %so_far = arith.extf %sum : f16 to f32
    %more = arith.addf %so_far, %wide : f32
    %narrow = arith.truncf %more : f32 to f16
    %next = arith.select %is_in, %narrow, %sum : f16
    linalg.yield %next : f16
  } -> tensor<9xf16>
  return %bags, %largest, %positive : tensor<3x70xf16>, tensor<9xf16>, tensor<9xf16>
}

//--- single.mlir
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @single(%mask: tensor<9x70xf32>, %y: tensor<9x70xf32>, %n: tensor<9x70xi32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xi32>) {
  %zero = arith.constant 0.0 : f32
  %highest = arith.constant 0x7F800000 : f32
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %e0 = tensor.empty() : tensor<9xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<9xf32>) -> tensor<9xf32>
  %sums = linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%mask, %y : tensor<9x70xf32>, tensor<9x70xf32>) outs(%f0 : tensor<9xf32>) {
  ^bb0(%m: f32, %v: f32, %sum: f32):
    %is_in = arith.cmpf ogt, %m, %v : f32
    %more = arith.addf %sum, %v : f32
    %next = arith.select %is_in, %more, %sum : f32
    linalg.yield %next : f32
  } -> tensor<9xf32>
  %f1 = linalg.fill ins(%highest : f32) outs(%e0 : tensor<9xf32>) -> tensor<9xf32>
  %smallest = linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%mask, %y : tensor<9x70xf32>, tensor<9x70xf32>) outs(%f1 : tensor<9xf32>) {
  ^bb0(%m: f32, %v: f32, %running: f32):
    %is_out = arith.cmpf olt, %m, %v : f32
    %less = arith.minimumf %running, %v : f32
    %next = arith.select %is_out, %running, %less : f32
    linalg.yield %next : f32
  } -> tensor<9xf32>
  %e2 = tensor.empty() : tensor<9xi32>
  %f2 = linalg.fill ins(%c0 : i32) outs(%e2 : tensor<9xi32>) -> tensor<9xi32>
  %counts = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<9x70xi32>) outs(%f2 : tensor<9xi32>) {
  ^bb0(%v: i32, %sum: i32):
    %is_in = arith.cmpi sgt, %v, %c5 : i32
    %more = arith.addi %sum, %v : i32
    %next = arith.select %is_in, %more, %sum : i32
    linalg.yield %next : i32
  } -> tensor<9xi32>
  return %sums, %smallest, %counts : tensor<9xf32>, tensor<9xf32>, tensor<9xi32>
}
