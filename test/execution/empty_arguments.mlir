// A cache that is empty at first, beside what goes into it; an argument of integers without elements.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --wipe-lx --check %s | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROGRAM < %t/program.json

// CHECK: result0: correct

// PROGRAM:      "name": "arg0",
// PROGRAM-NEXT: "shape": [
// PROGRAM-NEXT:   1,
// PROGRAM-NEXT:   4,
// PROGRAM-NEXT:   0,
// PROGRAM-NEXT:   64
// PROGRAM-NEXT: ],
// PROGRAM:      "bytes": 128
// PROGRAM:      "launches":
// PROGRAM-NOT:  arg0

func.func @main(%past: tensor<1x4x0x64xf16>, %x: tensor<1x4x3x64xf16>, %none: tensor<0xi64>) -> tensor<1x4x3x64xf16> {
  %all = tensor.concat dim(2) %past, %x : (tensor<1x4x0x64xf16>, tensor<1x4x3x64xf16>) -> tensor<1x4x3x64xf16>
  %y = math.tanh %all : tensor<1x4x3x64xf16>
  return %y : tensor<1x4x3x64xf16>
}
