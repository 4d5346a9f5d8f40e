// Products that contract a length that fills no stick: 100, 33 in a batch, 1, one column, and a length that the left operand's producer
// has left padding behind.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/one --cores 1 > %t.log && spyre-run %t/one --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/unplanned --lx-planner none > %t.log && spyre-run %t/unplanned --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct
func.func @ragged(%x: tensor<40x100xf16>, %w: tensor<100x64xf16>, %a: tensor<3x8x33xf16>, %b: tensor<3x33x64xf16>,
                  %c: tensor<8x1xf16>, %d: tensor<1x64xf16>, %column: tensor<100x1xf16>)
    -> (tensor<40x64xf16>, tensor<3x8x64xf16>, tensor<8x64xf16>, tensor<40x1xf16>, tensor<40x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %0 = tensor.empty() : tensor<40x64xf16>
  %1 = linalg.fill ins(%zero : f16) outs(%0 : tensor<40x64xf16>) -> tensor<40x64xf16>
  %2 = linalg.matmul ins(%x, %w : tensor<40x100xf16>, tensor<100x64xf16>) outs(%1 : tensor<40x64xf16>) -> tensor<40x64xf16>

  %3 = tensor.empty() : tensor<3x8x64xf16>
  %4 = linalg.fill ins(%zero : f16) outs(%3 : tensor<3x8x64xf16>) -> tensor<3x8x64xf16>
  %5 = linalg.batch_matmul ins(%a, %b : tensor<3x8x33xf16>, tensor<3x33x64xf16>) outs(%4 : tensor<3x8x64xf16>) -> tensor<3x8x64xf16>

  %6 = tensor.empty() : tensor<8x64xf16>
  %7 = linalg.fill ins(%zero : f16) outs(%6 : tensor<8x64xf16>) -> tensor<8x64xf16>
  %8 = linalg.matmul ins(%c, %d : tensor<8x1xf16>, tensor<1x64xf16>) outs(%7 : tensor<8x64xf16>) -> tensor<8x64xf16>

  %9 = tensor.empty() : tensor<40x1xf16>
  %10 = linalg.fill ins(%zero : f16) outs(%9 : tensor<40x1xf16>) -> tensor<40x1xf16>
  %11 = linalg.matmul ins(%x, %column : tensor<40x100xf16>, tensor<100x1xf16>) outs(%10 : tensor<40x1xf16>) -> tensor<40x1xf16>

  // The lanes behind the 100 elements hold what exp makes of padding.
  %12 = tensor.empty() : tensor<40x100xf16>
  %13 = linalg.exp ins(%x : tensor<40x100xf16>) outs(%12 : tensor<40x100xf16>) -> tensor<40x100xf16>
  %14 = linalg.matmul ins(%13, %w : tensor<40x100xf16>, tensor<100x64xf16>) outs(%1 : tensor<40x64xf16>) -> tensor<40x64xf16>
  return %2, %5, %8, %11, %14 : tensor<40x64xf16>, tensor<3x8x64xf16>, tensor<8x64xf16>, tensor<40x1xf16>, tensor<40x64xf16>
}
