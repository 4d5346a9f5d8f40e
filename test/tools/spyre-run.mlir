// RUN: rm -rf %t && spyre-compile %s -o %t > %t.log
// RUN: spyre-run %t --check %s | FileCheck %s
// RUN: spyre-run %t --seed 7 --output-dir %t.results --report %t.json > %t.first && spyre-run %t --seed 7 > %t.second
// RUN: diff %t.first %t.second
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json

// RUN: spyre-run %t --draw ties --check %s | FileCheck %s --check-prefix=GIVEN
// RUN: spyre-run %t --draw extreme --check %s | FileCheck %s --check-prefix=GIVEN
// RUN: spyre-run %t --draw infinite --check %s | FileCheck %s --check-prefix=INFINITE

// The first result is the second program's input: the product of ones is not what the seed gives.
// RUN: spyre-run %t --input arg0=%t.results/result0.npy --check %s | FileCheck %s --check-prefix=GIVEN

// Counting says the same of the bytes, and computes nothing.
// RUN: spyre-run %t --count --report %t.counted.json | FileCheck %s --check-prefix=COUNTED
// RUN: grep -v steps %t.json > %t.json.rest && grep -v steps %t.counted.json | diff - %t.json.rest

// COUNTED: bundle_0: 2 executes; HBM 24576 B read, 8192 B written; LX
// COUNTED-NEXT: add_mul: 1 launch, counted only
// CHECK: bundle_0: 2 executes; HBM 24576 B read, 8192 B written; LX
// CHECK: add_mul: 1 launch, {{[0-9]+}} element operations
// CHECK: result0: correct (error {{.*}}, tolerance 1.00e-9); device rounding error {{.*}} (bound {{.*}})
// CHECK: largest rounding error added in bundle_0/sdsc_0.json (add): from 0.00e0 to
// GIVEN: result0: correct
// INFINITE: result0: correct {{.*}} elements are NaN in both
// REPORT: "add_mul"
func.func @add_mul(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %sum = linalg.add ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %product = linalg.mul ins(%sum, %c : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %product : tensor<64x64xf16>
}
