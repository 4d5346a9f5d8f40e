// Functions that undo sines, cosines and tangents, in f16 and f32, of sizes that end inside a stick.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/half.mlir -o %t/half --validate > %t.log && spyre-run %t/half --check %t/parts/half.mlir | FileCheck %s
// RUN: spyre-run %t/half --seed 3 --check %t/parts/half.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/single.mlir -o %t/single --validate > %t.log && spyre-run %t/single --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-run %t/single --draw extreme --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/areas.mlir -o %t/areas --validate > %t.log && spyre-run %t/areas --check %t/parts/areas.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct

//--- half.mlir
func.func @half(%x: tensor<5x77xf16>, %y: tensor<5x77xf16>) -> (tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>) {
  %inside = math.tanh %x : tensor<5x77xf16>
  %0 = math.atan %x : tensor<5x77xf16>
  %1 = math.atan2 %x, %y : tensor<5x77xf16>
  %2 = math.asin %inside : tensor<5x77xf16>
  %3 = math.tan %inside : tensor<5x77xf16>
  return %0, %1, %2, %3 : tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>
}

//--- single.mlir
func.func @single(%x: tensor<5x77xf32>, %y: tensor<5x77xf32>) -> (tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>) {
  %one = arith.constant dense<1.0> : tensor<5x77xf32>
  %square = arith.mulf %x, %x : tensor<5x77xf32>
  %more = arith.addf %square, %one : tensor<5x77xf32>
  %inside = arith.divf %x, %more : tensor<5x77xf32>
  %0 = math.atan %x : tensor<5x77xf32>
  %1 = math.atan2 %one, %y : tensor<5x77xf32>
  %2 = math.asin %inside : tensor<5x77xf32>
  %3 = math.acos %inside : tensor<5x77xf32>
  return %0, %1, %2, %3 : tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>
}

//--- areas.mlir
func.func @areas(%x: tensor<5x77xf16>) -> (tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>) {
  %half = arith.constant dense<0.5> : tensor<5x77xf16>
  %large = math.exp %x : tensor<5x77xf16>
  %magnitude = math.absf %x : tensor<5x77xf16>
  %above = math.exp %magnitude : tensor<5x77xf16>
  %bounded = math.tanh %x : tensor<5x77xf16>
  %inside = arith.mulf %bounded, %half : tensor<5x77xf16>
  %0 = math.asinh %large : tensor<5x77xf16>
  %1 = math.acosh %above : tensor<5x77xf16>
  %2 = math.atanh %inside : tensor<5x77xf16>
  %3 = math.erfc %x : tensor<5x77xf16>
  return %0, %1, %2, %3 : tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>
}
