// Folded constants are returned in the caller's format, also if they exceed the range of the device's f16, in which all else is computed.
// RUN: spyre-compile %s -o %t > %t.log 2>&1 && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s --compile-to import 2> %t.log | FileCheck %s --check-prefix=IR
// RUN: sed s/f32/f64/g %s > %t.f64.mlir && spyre-compile %t.f64.mlir -o %t.f64 > %t.log 2>&1 && spyre-run %t.f64 --check %t.f64.mlir | FileCheck %s

// CHECK-COUNT-3: correct
// IR: spyre.constant dense<-6.23514884E+27> : tensor<64xf32> {exact = dense<-6.2351490808116167E+27> : tensor<64xf64>}
func.func @large_folded_constant(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %number = arith.constant dense<64.0> : tensor<64xf32>
  %exp = math.exp %number : tensor<64xf32>
  %large = arith.negf %exp : tensor<64xf32>
  %log = math.log %x : tensor<64xf32>
  %sum = arith.addf %log, %number : tensor<64xf32>
  return %large, %number, %sum : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
