// A mean that is computed tile by tile adds shares of it, which are products where a tile has one of the numbers; the number that they are multiplied by is the quotient, and not what f16 has of it.
// RUN: rm -rf %t && spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t --validate --loops unroll > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
func.func @mean_tiles(%x: tensor<2x6x31xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<2xf16> {
  %mean = spyre.hint tiles(B = 6) {
    %zero = arith.constant dense<0.0> : tensor<2xf16>
    %sum = linalg.reduce { arith.addf } ins(%x : tensor<2x6x31xf16>) outs(%zero : tensor<2xf16>) dimensions = [1, 2]
    %n = arith.constant dense<186.0> : tensor<2xf16>
    %e = tensor.empty() : tensor<2xf16>
    %divided = linalg.div ins(%sum, %n : tensor<2xf16>, tensor<2xf16>) outs(%e : tensor<2xf16>) -> tensor<2xf16>
    spyre.yield %divided : tensor<2xf16>
  }
  return %mean : tensor<2xf16>
}
