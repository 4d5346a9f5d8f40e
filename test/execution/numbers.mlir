// Numbers that a function takes or returns are tensors of one element for who launches it.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/f16.mlir -o %t/half --validate > %t/log && spyre-run %t/half --wipe-lx --seed 3 --check %t/f16.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: FileCheck %s --check-prefix=SIGNATURE --input-file=%t/half/program.json
// RUN: spyre-compile %t/f32.mlir -o %t/single --validate > %t/log && spyre-run %t/single --seed 3 --check %t/f32.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: spyre-compile %t/integers.mlir -o %t/integers --validate > %t/log
// RUN: spyre-run %t/integers --seed 3 --check %t/integers.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: spyre-run %t/integers --seed 4 --check %t/integers.mlir | FileCheck %s --check-prefixes=CHECK,TWO

// CHECK: result0: correct
// TWO: result1: correct
// TWO: result2: correct

// SIGNATURE: "name": "arg1",
// SIGNATURE-NEXT: "shape": [],
// SIGNATURE-NEXT: "element_type": "f16"

//--- f16.mlir
func.func @main(%x: tensor<5x70xf16>, %s: f16) -> (tensor<5x70xf16>, tensor<5x70xf16>, f16) {
  %e = tensor.empty() : tensor<5x70xf16>
  %f = linalg.fill ins(%s : f16) outs(%e : tensor<5x70xf16>) -> tensor<5x70xf16>
  %y = arith.mulf %x, %f : tensor<5x70xf16>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x70xf16>) outs(%e : tensor<5x70xf16>) {
  ^bb0(%a: f16, %o: f16):
    %c = arith.addf %a, %s : f16
    linalg.yield %c : f16
  } -> tensor<5x70xf16>
  %t = arith.addf %s, %s : f16
  return %y, %z, %t : tensor<5x70xf16>, tensor<5x70xf16>, f16
}

//--- f32.mlir
func.func @main(%x: tensor<5x70xf32>, %s: f32) -> (tensor<5x70xf32>, tensor<5x70xf32>, f32) {
  %e = tensor.empty() : tensor<5x70xf32>
  %f = tensor.splat %s : tensor<5x70xf32>
  %y = arith.mulf %x, %f : tensor<5x70xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x70xf32>) outs(%e : tensor<5x70xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.addf %a, %s : f32
    linalg.yield %c : f32
  } -> tensor<5x70xf32>
  %t = arith.addf %s, %s : f32
  return %y, %z, %t : tensor<5x70xf32>, tensor<5x70xf32>, f32
}

//--- integers.mlir
func.func @main(%x: tensor<5x70xf16>, %i: index, %n: i64, %m: i32, %b: i1) -> (tensor<1x70xf16>, tensor<5x70xf16>, tensor<5x70xf16>) {
  %y = tensor.extract_slice %x[%i, 0] [1, 70] [1, 1] : tensor<5x70xf16> to tensor<1x70xf16>
  %e = tensor.empty() : tensor<5x70xf16>
  %zero = arith.constant 0.0 : f16
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x70xf16>) outs(%e : tensor<5x70xf16>) {
  ^bb0(%a: f16, %o: f16):
    %p = linalg.index 0 : index
    %k = arith.index_cast %p : index to i64
    %l = arith.cmpi sle, %k, %n : i64
    %q = linalg.index 1 : index
    %r = arith.index_cast %q : index to i32
    %s = arith.cmpi sge, %r, %m : i32
    %t = arith.andi %l, %s : i1
    %c = arith.select %t, %a, %zero : f16
    linalg.yield %c : f16
  } -> tensor<5x70xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x70xf16>) outs(%e : tensor<5x70xf16>) {
  ^bb0(%a: f16, %o: f16):
    %c = arith.select %b, %a, %zero : f16
    linalg.yield %c : f16
  } -> tensor<5x70xf16>
  return %y, %z, %w : tensor<1x70xf16>, tensor<5x70xf16>, tensor<5x70xf16>
}
