// Every pass that works on a tensor program is judged by what the program computes before and after; remarks name the others.
// RUN: spyre-opt %s --spyre-compile --spyre-validate-each -o /dev/null 2>&1 | FileCheck %s
// RUN: spyre-opt %s --spyre-expand-functions --spyre-validate-each 2>&1 | FileCheck %s --check-prefix=ALONE

// CHECK: remark{{.*}}not validated from pass 'spyre-lower-to-sdsc' on: there is no function
// CHECK-NOT: op is not validated
// ALONE-NOT: remark
// ALONE: func.func @gelu
// ALONE: spyre.pointwise exp

// The function becomes a chain of others, which is the same by the law that it is computed by.
func.func @gelu(%x: tensor<64x100xf16>, %w: tensor<100x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise gelufwd(%x) : tensor<64x100xf16>
  %r = spyre.pointwise relufwd(%y) : tensor<64x100xf16>
  %z = spyre.matmul(%r, %w) : (tensor<64x100xf16>, tensor<100x64xf16>) -> tensor<64x64xf16>
  return %z : tensor<64x64xf16>
}
