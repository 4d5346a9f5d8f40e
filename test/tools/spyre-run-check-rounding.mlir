// `--check` compares the rounding errors of the device with those of the program in its own formats.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts

// A difference of f32 that is computed in 16 bits: the program itself is as exact as f16.
// RUN: spyre-compile %t/parts/cancelled.mlir -o %t/cancelled -q --validate=off 2> %t.log
// RUN: not spyre-run %t/cancelled --check %t/parts/cancelled.mlir 2>&1 | FileCheck %s --check-prefix=CANCELLED
// RUN: spyre-run %t/cancelled --check %t/parts/cancelled.mlir --tolerance 0.5 | FileCheck %s --check-prefix=GIVEN
// CANCELLED: result0: correct
// CANCELLED-NEXT: root mean square error {{[0-9.]+}}e-2, {{[0-9]{3,}[.][0-9]}} times that of the program in its own formats ({{[0-9.]+}}e-4)
// CANCELLED: error[SPY1226]: 'result0' is right without rounding, but not in the formats of the device: root mean square error
// CANCELLED-SAME: 3.91e-3 allowed
// GIVEN: result0: correct
// GIVEN-NOT: error[

// Sums are rounded at their end, as hardware does: a sum of 4,096 numbers is off by one rounding, not by that of each addition.
// RUN: spyre-compile %t/parts/sum.mlir -o %t/sum -q --validate=off
// RUN: spyre-run %t/sum --check %t/parts/sum.mlir | FileCheck %s --check-prefix=SUM
// SUM: root mean square error {{.*}} times that of the program in its own formats ({{[0-9.]+}}e-4)

// A product that is too large for f16 is no error of the device, whose format has it.
// RUN: spyre-compile %t/parts/large.mlir -o %t/large -q --validate=off
// RUN: spyre-run %t/large --check %t/parts/large.mlir | FileCheck %s --check-prefix=LARGE
// LARGE: root mean square error {{.*}}; elements that are too large for the program's own formats, and not compared: {{[1-9][0-9]+$}}

// Where numbers are compared, a rounding may change a result by any amount.
// RUN: spyre-compile %t/parts/compared.mlir -o %t/compared -q --validate=off
// RUN: spyre-run %t/compared --check %t/parts/compared.mlir | FileCheck %s --check-prefix=COMPARED
// COMPARED: root mean square error {{.*}}; the program compares numbers, so a rounding may change a result by any amount

// The logarithm of numbers that cancel, which only rounding keeps from 0.
// RUN: spyre-compile %t/parts/pole.mlir -o %t/pole -q --validate=off
// RUN: spyre-run %t/pole --check %t/parts/pole.mlir | FileCheck %s --check-prefix=POLE
// POLE: result0: correct
// POLE-NEXT: elements that are finite only as the program rounds: 1, compared in its own formats

//--- cancelled.mlir
func.func @cancelled(%t: tensor<4xf32>) -> tensor<4x64xf16> {
  // Constants that are converted to integers are no numbers that a rounding changes.
  %whole = arith.constant dense<101.0> : tensor<4x64xf32>
  %integer = arith.fptosi %whole : tensor<4x64xf32> to tensor<4x64xi64>
  %f = arith.sitofp %integer : tensor<4x64xi64> to tensor<4x64xf32>
  %e = tensor.empty() : tensor<4x64xf32>
  %h = tensor.empty() : tensor<4x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t, %f : tensor<4xf32>, tensor<4x64xf32>) outs(%h : tensor<4x64xf16>) {
  ^bb0(%a: f32, %b: f32, %out: f16):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %product, %a : f32
    %rest = arith.subf %sum, %product : f32
    %narrow = arith.truncf %rest : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

//--- sum.mlir
func.func @sum(%x: tensor<64x4096xf16>) -> tensor<64xf16> {
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %y = linalg.reduce ins(%x : tensor<64x4096xf16>) outs(%zero : tensor<64xf16>) dimensions = [1] (%in: f16, %out: f16) {
    %sum = arith.addf %in, %out : f16
    linalg.yield %sum : f16
  }
  return %y : tensor<64xf16>
}

//--- large.mlir
func.func @large(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %factor = arith.constant dense<60000.0> : tensor<4x64xf16>
  %y = arith.mulf %x, %factor : tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

//--- compared.mlir
func.func @compared(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %half = arith.constant dense<0.5> : tensor<64x64xf16>
  %odd = arith.constant dense<1025.0> : tensor<64x64xf16>
  %abs = math.absf %x : tensor<64x64xf16>
  %none = arith.minimumf %abs, %zero : tensor<64x64xf16>
  %more = arith.addf %none, %odd : tensor<64x64xf16>
  %halved = arith.mulf %more, %half : tensor<64x64xf16>
  %whole = math.floor %halved : tensor<64x64xf16>
  %y = arith.subf %halved, %whole : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

//--- pole.mlir
func.func @pole(%x: tensor<2xf32>) -> tensor<2xf32> {
  %seven = arith.constant dense<7.0> : tensor<2xf32>
  %eps = arith.constant dense<1.0e-07> : tensor<2xf32>
  %count = arith.constant dense<[7.0, 3.0]> : tensor<2xf32>
  %shifted = arith.addf %count, %eps : tensor<2xf32>
  %rest = arith.subf %seven, %shifted : tensor<2xf32>
  %positive = arith.addf %rest, %eps : tensor<2xf32>
  %log = math.log %positive : tensor<2xf32>
  %y = arith.addf %x, %log : tensor<2xf32>
  return %y : tensor<2xf32>
}
