// Integers that an op computes with are numbers on the device; results that only move them are numbers, too. Lookups restrict an argument also
// where they became constants, and a range from below 0 on is no index.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/moved.mlir -o %t/moved --validate > %t.log && spyre-run %t/moved --check %t/parts/moved.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/half.mlir -o %t/half --validate > %t.log && spyre-run %t/half --check %t/parts/half.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/signs.mlir -o %t/signs --validate > %t.log && spyre-run %t/signs --check %t/parts/signs.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SIGNS --input-file=%t/signs/program.json
// RUN: spyre-compile %t/parts/large.mlir -o %t/large --validate > %t.log && spyre-run %t/large --check %t/parts/large.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=LARGE --input-file=%t/large/program.json
// RUN: spyre-compile %t/parts/below.mlir -o %t/below --validate > %t.log && spyre-run %t/below --check %t/parts/below.mlir | FileCheck %s
// RUN: not spyre-compile %t/parts/bits.mlir -o %t/bits 2>&1 | FileCheck %s --check-prefix=BITS

// CHECK: result0: correct
// CHECK-NOT: error[
// BITS: error[SPY0200]: 'arith.xori' op of runtime integers is not supported

//--- moved.mlir
func.func @main(%x: tensor<5xi32>) -> (tensor<10xi32>, tensor<5xi32>) {
  %one = arith.constant dense<1> : tensor<5xi32>
  %both = tensor.concat dim(0) %x, %x : (tensor<5xi32>, tensor<5xi32>) -> tensor<10xi32>
  %more = arith.addi %x, %one : tensor<5xi32>
  return %both, %more : tensor<10xi32>, tensor<5xi32>
}

//--- half.mlir
func.func @main(%x: tensor<5xf16>, %i: tensor<5xi64>, %j: tensor<5xi64>) -> (tensor<5xf16>, tensor<10xi64>, tensor<15xi64>) {
  %number = arith.sitofp %i : tensor<5xi64> to tensor<5xf16>
  %scaled = arith.mulf %x, %number : tensor<5xf16>
  %both = tensor.concat dim(0) %i, %j : (tensor<5xi64>, tensor<5xi64>) -> tensor<10xi64>
  %all = tensor.concat dim(0) %j, %j, %j : (tensor<5xi64>, tensor<5xi64>, tensor<5xi64>) -> tensor<15xi64>
  return %scaled, %both, %all : tensor<5xf16>, tensor<10xi64>, tensor<15xi64>
}

//--- signs.mlir
// SIGNS: "index_range": [
// SIGNS-NEXT: -9,
// SIGNS-NEXT: 7
func.func @main(%x: tensor<12xi64> {spyre.range = array<i64: -9, 7>}) -> (tensor<12xi64>, tensor<12xi64>) {
  %three = arith.constant dense<3> : tensor<12xi64>
  %zero = arith.constant dense<0> : tensor<12xi64>
  %quotient = arith.divsi %x, %three : tensor<12xi64>
  %positive = arith.maxsi %quotient, %zero : tensor<12xi64>
  %rest = arith.subi %quotient, %positive : tensor<12xi64>
  %remainder = arith.remsi %x, %three : tensor<12xi64>
  %least = arith.minsi %remainder, %zero : tensor<12xi64>
  return %rest, %least : tensor<12xi64>, tensor<12xi64>
}

//--- large.mlir
// LARGE: "index_range": [
// LARGE-NEXT: 0,
// LARGE-NEXT: 3001
func.func @main(%i: tensor<8xi64> {spyre.range = array<i64: 0, 3001>}, %x: tensor<8xf16>) -> tensor<8xf16> {
  %limit = arith.constant dense<2000> : tensor<8xi64>
  %is_above = arith.cmpi sgt, %i, %limit : tensor<8xi64>
  %negative = arith.negf %x : tensor<8xf16>
  %y = arith.select %is_above, %x, %negative : tensor<8xi1>, tensor<8xf16>
  return %y : tensor<8xf16>
}

//--- below.mlir
func.func @main(%i: tensor<8xi64> {spyre.range = array<i64: -3, -1>}) -> tensor<8xi64> {
  %five = arith.constant dense<5> : tensor<8xi64>
  %rest = arith.remsi %i, %five : tensor<8xi64>
  return %rest : tensor<8xi64>
}

//--- bits.mlir
func.func @main(%i: tensor<8xi64> {spyre.range = array<i64: -3, -1>}) -> tensor<8xi64> {
  %five = arith.constant dense<5> : tensor<8xi64>
  %bits = arith.xori %i, %five : tensor<8xi64>
  return %bits : tensor<8xi64>
}
