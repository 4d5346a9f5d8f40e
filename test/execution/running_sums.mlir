// Running sums along the last dimension and another one, and what all together are.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func @running_sums(%x: tensor<4x70xf16>, %y: tensor<3x5x64xf16>) -> (tensor<4x70xf16>, tensor<3x5x64xf16>, tensor<4xf16>) {
  %zero = arith.constant 0.0 : f16
  %rows = tensor.empty() : tensor<4x70xf16>
  %all = tensor.empty() : tensor<4xf16>
  %none = linalg.fill ins(%zero : f16) outs(%all : tensor<4xf16>) -> tensor<4xf16>
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x70xf16>) outs(%rows, %none : tensor<4x70xf16>, tensor<4xf16>) {
  ^bb0(%sum: f16, %element: f16):
    %next = arith.addf %sum, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<4x70xf16>, tensor<4xf16>
  %planes = tensor.empty() : tensor<3x5x64xf16>
  %last = tensor.empty() : tensor<3x64xf16>
  %down:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%y : tensor<3x5x64xf16>) outs(%planes, %last : tensor<3x5x64xf16>, tensor<3x64xf16>) {
  ^bb0(%sum: f16, %element: f16):
    %next = arith.addf %sum, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<3x5x64xf16>, tensor<3x64xf16>
  return %sums#0, %down#0, %sums#1 : tensor<4x70xf16>, tensor<3x5x64xf16>, tensor<4xf16>
}
