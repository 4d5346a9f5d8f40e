// Products of one row of a larger tensor, and by one matrix of several.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/one --cores 1 > %t.log && spyre-run %t/one --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
func.func @slices(%x: tensor<8x64xf16>, %y: tensor<5x64x128xf16>) -> (tensor<1x128xf16>, tensor<8x128xf16>) {
  %row = tensor.extract_slice %x[3, 0] [1, 64] [1, 1] : tensor<8x64xf16> to tensor<1x64xf16>
  %matrix = tensor.extract_slice %y[2, 0, 0] [1, 64, 128] [1, 1, 1] : tensor<5x64x128xf16> to tensor<64x128xf16>
  %zero = arith.constant 0.0 : f16
  %one_empty = tensor.empty() : tensor<1x128xf16>
  %one_start = linalg.fill ins(%zero : f16) outs(%one_empty : tensor<1x128xf16>) -> tensor<1x128xf16>
  %one = linalg.matmul ins(%row, %matrix : tensor<1x64xf16>, tensor<64x128xf16>) outs(%one_start : tensor<1x128xf16>) -> tensor<1x128xf16>
  %all_empty = tensor.empty() : tensor<8x128xf16>
  %all_start = linalg.fill ins(%zero : f16) outs(%all_empty : tensor<8x128xf16>) -> tensor<8x128xf16>
  %all = linalg.matmul ins(%x, %matrix : tensor<8x64xf16>, tensor<64x128xf16>) outs(%all_start : tensor<8x128xf16>) -> tensor<8x128xf16>
  return %one, %all : tensor<1x128xf16>, tensor<8x128xf16>
}
