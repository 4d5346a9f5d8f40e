// Every result is a buffer of its own, also where one value is returned twice.
// RUN: spyre-compile %s -o %t && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s --compile-to layout | FileCheck %s --check-prefix=COPIES

// CHECK: result0: agrees with the reference
// CHECK: result1: agrees with the reference
// CHECK: result2: agrees with the reference

// COPIES-COUNT-3: spyre.copy
func.func @results(%x: tensor<64xf16>) -> (tensor<64xf16>, tensor<64xf16>, tensor<64xf16>) {
  return %x, %x, %x : tensor<64xf16>, tensor<64xf16>, tensor<64xf16>
}
