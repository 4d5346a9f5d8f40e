// bf16 runs in the device format of f16, which keeps two bits more: the coarser rounding is that of the reference.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s

// CHECK: result0: correct
func.func @chain(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %empty = tensor.empty() : tensor<64x64xbf16>
  %sum = linalg.add ins(%x, %y : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%empty : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %product = linalg.mul ins(%sum, %y : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%empty : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %product : tensor<64x64xbf16>
}
