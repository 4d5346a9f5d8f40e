// The logarithm of a sum that is 1 but for what f64 rounds: the device's format makes 1 of it, which says nothing of what two computations in
// f64 are apart.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// CHECK: result0: correct
func.func @log_of_sum(%x: tensor<64x64xf16>) -> tensor<64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %row = tensor.empty() : tensor<64xf16>
  %zero = arith.constant 0.0 : f16
  %zeros = linalg.fill ins(%zero : f16) outs(%row : tensor<64xf16>) -> tensor<64xf16>
  %first = linalg.softmax dimension(1) ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %second = linalg.softmax dimension(1) ins(%first : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %third = linalg.softmax dimension(1) ins(%second : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %sum = linalg.reduce { arith.addf } ins(%third : tensor<64x64xf16>) outs(%zeros : tensor<64xf16>) dimensions = [1]
  %log = linalg.log ins(%sum : tensor<64xf16>) outs(%row : tensor<64xf16>) -> tensor<64xf16>
  return %log : tensor<64xf16>
}
