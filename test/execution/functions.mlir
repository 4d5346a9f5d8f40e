// Functions that are made of others, in f16 and f32, of sizes that end inside a stick.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/half.mlir -o %t/half --validate > %t.log && spyre-run %t/half --check %t/parts/half.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/single.mlir -o %t/single --validate > %t.log && spyre-run %t/single --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/narrow.mlir -o %t/narrow --validate > %t.log && spyre-run %t/narrow --check %t/parts/narrow.mlir | FileCheck %s --check-prefix=NARROW
// RUN: spyre-compile %t/parts/powers.mlir -o %t/powers --validate > %t.log && spyre-run %t/powers --check %t/parts/powers.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct

//--- half.mlir
func.func @half(%x: tensor<5x77xf16>, %y: tensor<5x77xf16>) -> (tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>) {
  %0 = math.sin %x : tensor<5x77xf16>
  %1 = math.cos %x : tensor<5x77xf16>
  %2 = math.copysign %x, %y : tensor<5x77xf16>
  %3 = math.roundeven %x : tensor<5x77xf16>
  return %0, %1, %2, %3 : tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>
}

//--- single.mlir
func.func @single(%x: tensor<5x77xf32>, %y: tensor<5x77xf32>) -> (tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>) {
  %0 = math.sin %x : tensor<5x77xf32>
  %1 = math.cos %x : tensor<5x77xf32>
  %2 = math.round %x : tensor<5x77xf32>
  %3 = math.trunc %x : tensor<5x77xf32>
  return %0, %1, %2, %3 : tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>, tensor<5x77xf32>
}

//--- narrow.mlir
// The device has no logarithm in f32, so that all of it is computed in 16 bits, the reduction of the argument too.
// NARROW: result0: correct
func.func @narrow(%x: tensor<5x77xf32>) -> tensor<5x77xf32> {
  %0 = math.sin %x : tensor<5x77xf32>
  %1 = math.absf %0 : tensor<5x77xf32>
  %2 = math.log %1 : tensor<5x77xf32>
  return %2 : tensor<5x77xf32>
}

//--- powers.mlir
func.func @powers(%x: tensor<5x77xf16>, %y: tensor<5x77xf16>) -> (tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>) {
  %base = math.absf %x : tensor<5x77xf16>
  %0 = math.powf %base, %y : tensor<5x77xf16>
  %1 = math.cbrt %x : tensor<5x77xf16>
  %2 = math.sinh %x : tensor<5x77xf16>
  %3 = math.log10 %base : tensor<5x77xf16>
  return %0, %1, %2, %3 : tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>, tensor<5x77xf16>
}
