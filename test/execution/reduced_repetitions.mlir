// A vector repeated in rows and reduced along itself: the rows are in no stick of the vector, so the result has one element a stick.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/greedy --sticks greedy --cores 4 > %t.log && spyre-run %t/greedy --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
func.func @smallest(%x: tensor<2xf16>, %y: tensor<3xf16>) -> (tensor<5xf16>, tensor<64xf16>) {
  %a0 = tensor.empty() : tensor<5x2xf16>
  %a1 = linalg.broadcast ins(%x : tensor<2xf16>) outs(%a0 : tensor<5x2xf16>) dimensions = [0]
  %a2 = tensor.empty() : tensor<5xf16>
  %infinity = arith.constant 0x7C00 : f16
  %a3 = linalg.fill ins(%infinity : f16) outs(%a2 : tensor<5xf16>) -> tensor<5xf16>
  %a4 = linalg.reduce { arith.minimumf } ins(%a1 : tensor<5x2xf16>) outs(%a3 : tensor<5xf16>) dimensions = [1]
  %a5 = tensor.empty() : tensor<5xf16>
  %a6 = linalg.negf ins(%a4 : tensor<5xf16>) outs(%a5 : tensor<5xf16>) -> tensor<5xf16>
  %b0 = tensor.empty() : tensor<64x3xf16>
  %b1 = linalg.broadcast ins(%y : tensor<3xf16>) outs(%b0 : tensor<64x3xf16>) dimensions = [0]
  %b2 = tensor.empty() : tensor<64xf16>
  %b3 = linalg.fill ins(%infinity : f16) outs(%b2 : tensor<64xf16>) -> tensor<64xf16>
  %b4 = linalg.reduce { arith.minimumf } ins(%b1 : tensor<64x3xf16>) outs(%b3 : tensor<64xf16>) dimensions = [1]
  %b5 = tensor.empty() : tensor<64xf16>
  %b6 = linalg.negf ins(%b4 : tensor<64xf16>) outs(%b5 : tensor<64xf16>) -> tensor<64xf16>
  return %a6, %b6 : tensor<5xf16>, tensor<64xf16>
}
