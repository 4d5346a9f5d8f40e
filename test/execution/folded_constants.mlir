// Numbers that are known at compile time are computed without rounding, whoever writes the program and whatever MLIR could fold.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s --compile-to import | FileCheck %s --check-prefix=IR

// CHECK-COUNT-3: correct
// IR: spyre.constant dense<3.71828175> : tensor<64xf32>{{$}}
// IR: spyre.constant dense<3.71828175> : tensor<64xf32> {exact = dense<3.7182818284590451> : tensor<64xf64>}
func.func @folded_constants(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %rounded = arith.constant dense<3.71828175> : tensor<64xf32>
  %shape = tensor.empty() : tensor<64xf32>
  %sum = linalg.add ins(%x, %one : tensor<64xf32>, tensor<64xf32>) outs(%shape : tensor<64xf32>) -> tensor<64xf32>
  %exp = math.exp %one : tensor<64xf32>
  %known = arith.addf %exp, %one : tensor<64xf32>
  return %sum, %known, %rounded : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
