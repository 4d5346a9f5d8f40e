// Products of one row, of few rows, and of a batch; K is split among cores where that is cheapest.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/one --cores 1 > %t.log && spyre-run %t/one --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func @products(%row: tensor<1x64xf16>, %rows: tensor<33x256xf16>, %x: tensor<64x128xf16>, %y: tensor<256x128xf16>,
                    %batch: tensor<3x40x64xf16>, %batch_y: tensor<3x64x100xf16>)
    -> (tensor<1x128xf16>, tensor<33x128xf16>, tensor<3x40x100xf16>) {
  %zero = arith.constant 0.0 : f16
  %0 = tensor.empty() : tensor<1x128xf16>
  %1 = linalg.fill ins(%zero : f16) outs(%0 : tensor<1x128xf16>) -> tensor<1x128xf16>
  %2 = linalg.matmul ins(%row, %x : tensor<1x64xf16>, tensor<64x128xf16>) outs(%1 : tensor<1x128xf16>) -> tensor<1x128xf16>
  %3 = tensor.empty() : tensor<33x128xf16>
  %4 = linalg.fill ins(%zero : f16) outs(%3 : tensor<33x128xf16>) -> tensor<33x128xf16>
  %5 = linalg.matmul ins(%rows, %y : tensor<33x256xf16>, tensor<256x128xf16>) outs(%4 : tensor<33x128xf16>) -> tensor<33x128xf16>
  %6 = tensor.empty() : tensor<3x40x100xf16>
  %7 = linalg.fill ins(%zero : f16) outs(%6 : tensor<3x40x100xf16>) -> tensor<3x40x100xf16>
  %8 = linalg.batch_matmul ins(%batch, %batch_y : tensor<3x40x64xf16>, tensor<3x64x100xf16>) outs(%7 : tensor<3x40x100xf16>) -> tensor<3x40x100xf16>
  return %2, %5, %8 : tensor<1x128xf16>, tensor<33x128xf16>, tensor<3x40x100xf16>
}
