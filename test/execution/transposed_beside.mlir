// An op that reads one value in two ways writes its result beside the value, and not into its place.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/made.mlir -o %t/made > %t.log && spyre-run %t/made --check %t/made.mlir | FileCheck %s
// RUN: spyre-compile %t/made.mlir -o %t/first --lx-planner first-fit > %t.log && spyre-run %t/first --check %t/made.mlir | FileCheck %s
// RUN: spyre-compile %t/given.mlir -o %t/given > %t.log && spyre-run %t/given --check %t/given.mlir | FileCheck %s

// CHECK:     result0: correct
// CHECK: result1: correct
// CHECK-NOT: {{differs|error:|error\[}}

//--- made.mlir
func.func @made(%x: tensor<3x37x37xf16>) -> (tensor<3x37x37xf16>, tensor<3x37x37xf16>) {
  %e = tensor.empty() : tensor<3x37x37xf16>
  %exp = linalg.exp ins(%x : tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  %neg = linalg.negf ins(%exp : tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  %twice = linalg.add ins(%neg, %neg : tensor<3x37x37xf16>, tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  %other = linalg.transpose ins(%exp : tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) permutation = [0, 2, 1]
  %sum = linalg.add ins(%other, %exp : tensor<3x37x37xf16>, tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  %last = linalg.negf ins(%sum : tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  return %twice, %last : tensor<3x37x37xf16>, tensor<3x37x37xf16>
}

//--- given.mlir
func.func @given(%x: tensor<3x37x37xf16>) -> (tensor<3x37x37xf16>, tensor<3x37x37xf16>) {
  %e = tensor.empty() : tensor<3x37x37xf16>
  %twice = linalg.add ins(%x, %x : tensor<3x37x37xf16>, tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  %other = linalg.transpose ins(%x : tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) permutation = [0, 2, 1]
  %sum = linalg.add ins(%other, %x : tensor<3x37x37xf16>, tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  %last = linalg.negf ins(%sum : tensor<3x37x37xf16>) outs(%e : tensor<3x37x37xf16>) -> tensor<3x37x37xf16>
  return %twice, %last : tensor<3x37x37xf16>, tensor<3x37x37xf16>
}
