// Branches of a program, of which the input says at run time which is taken, and tensors that are generated element by element.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/f16.mlir -o %t/half --validate > %t/log
// RUN: spyre-run %t/half --wipe-lx --seed 1 --check %t/f16.mlir | FileCheck %s
// RUN: spyre-run %t/half --seed 2 --check %t/f16.mlir | FileCheck %s
// RUN: spyre-compile %t/f32.mlir -o %t/single --validate > %t/log
// RUN: spyre-run %t/single --wipe-lx --seed 1 --check %t/f32.mlir | FileCheck %s
// RUN: spyre-run %t/single --seed 4 --check %t/f32.mlir | FileCheck %s
// RUN: spyre-compile %t/generated.mlir -o %t/generated --validate > %t/log && spyre-run %t/generated --check %t/generated.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct

//--- f16.mlir
func.func @main(%x: tensor<5x70xf16>, %w: tensor<70x33xf16>, %b: i1, %n: i64) -> (tensor<5x33xf16>, tensor<5x70xf16>, f16) {
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<5x33xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<5x33xf16>) -> tensor<5x33xf16>
  %product = scf.if %b -> tensor<5x33xf16> {
    %p = linalg.matmul ins(%x, %w : tensor<5x70xf16>, tensor<70x33xf16>) outs(%f : tensor<5x33xf16>) -> tensor<5x33xf16>
    scf.yield %p : tensor<5x33xf16>
  } else {
    scf.yield %f : tensor<5x33xf16>
  }
  %two = arith.constant 2 : i64
  %few = arith.cmpi slt, %n, %two : i64
  %true = arith.constant true
  %y:2 = scf.if %few -> (tensor<5x70xf16>, f16) {
    %t = scf.if %true -> tensor<5x70xf16> {
      %u = math.tanh %x : tensor<5x70xf16>
      scf.yield %u : tensor<5x70xf16>
    } else {
      scf.yield %x : tensor<5x70xf16>
    }
    scf.yield %t, %one : tensor<5x70xf16>, f16
  } else {
    %a = math.absf %x : tensor<5x70xf16>
    scf.yield %a, %zero : tensor<5x70xf16>, f16
  }
  return %product, %y#0, %y#1 : tensor<5x33xf16>, tensor<5x70xf16>, f16
}

//--- f32.mlir
func.func @main(%x: tensor<5x70xf32>, %w: tensor<70x33xf32>, %b: i1, %n: i64) -> (tensor<5x33xf32>, tensor<5x70xf32>, f32) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<5x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x33xf32>) -> tensor<5x33xf32>
  %product = scf.if %b -> tensor<5x33xf32> {
    %p = linalg.matmul ins(%x, %w : tensor<5x70xf32>, tensor<70x33xf32>) outs(%f : tensor<5x33xf32>) -> tensor<5x33xf32>
    scf.yield %p : tensor<5x33xf32>
  } else {
    scf.yield %f : tensor<5x33xf32>
  }
  %two = arith.constant 2 : i64
  %few = arith.cmpi slt, %n, %two : i64
  %true = arith.constant true
  %y:2 = scf.if %few -> (tensor<5x70xf32>, f32) {
    %t = scf.if %true -> tensor<5x70xf32> {
      %u = math.tanh %x : tensor<5x70xf32>
      scf.yield %u : tensor<5x70xf32>
    } else {
      scf.yield %x : tensor<5x70xf32>
    }
    scf.yield %t, %one : tensor<5x70xf32>, f32
  } else {
    %a = math.absf %x : tensor<5x70xf32>
    scf.yield %a, %zero : tensor<5x70xf32>, f32
  }
  return %product, %y#0, %y#1 : tensor<5x33xf32>, tensor<5x70xf32>, f32
}

//--- generated.mlir
func.func @main(%x: tensor<5x70xf16>, %y: tensor<70xf32>) -> (tensor<70x5xf16>, tensor<5x70xf32>) {
  %t = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j, %i] : tensor<5x70xf16>
    %b = arith.addf %a, %a : f16
    tensor.yield %b : f16
  } : tensor<70x5xf16>
  %p = tensor.generate {
  ^bb0(%i: index, %j: index):
    %k = arith.index_cast %i : index to i32
    %n = arith.sitofp %k : i32 to f32
    %a = tensor.extract %y[%j] : tensor<70xf32>
    %b = arith.mulf %a, %n : f32
    tensor.yield %b : f32
  } : tensor<5x70xf32>
  return %t, %p : tensor<70x5xf16>, tensor<5x70xf32>
}
