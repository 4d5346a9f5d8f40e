// Each element combined with all before it, in steps: products, maxima, and a sum too long for a product with a triangle.
// RUN: spyre-compile %s -o %t && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

func.func @main(%x: tensor<3x70xf16>, %y: tensor<2x2200xf16>) -> (tensor<3x70xf16>, tensor<3x70xf16>, tensor<2x2200xf16>) {
  %one = arith.constant 1.0 : f16
  %zero = arith.constant 0.0 : f16
  %low = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<3x70xf16>
  %last = tensor.empty() : tensor<3xf16>
  %ones = linalg.fill ins(%one : f16) outs(%last : tensor<3xf16>) -> tensor<3xf16>
  %p:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<3x70xf16>) outs(%e, %ones : tensor<3x70xf16>, tensor<3xf16>) {
  ^bb0(%a: f16, %b: f16):
    %c = arith.mulf %a, %b : f16
    tm_tensor.yield %c : f16
  } -> tensor<3x70xf16>, tensor<3xf16>
  %column = tensor.empty() : tensor<70xf16>
  %lows = linalg.fill ins(%low : f16) outs(%column : tensor<70xf16>) -> tensor<70xf16>
  %m:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<3x70xf16>) outs(%e, %lows : tensor<3x70xf16>, tensor<70xf16>) {
  ^bb0(%a: f16, %b: f16):
    %c = arith.maximumf %a, %b : f16
    tm_tensor.yield %c : f16
  } -> tensor<3x70xf16>, tensor<70xf16>
  %e5 = tensor.empty() : tensor<2x2200xf16>
  %last5 = tensor.empty() : tensor<2xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%last5 : tensor<2xf16>) -> tensor<2xf16>
  %s:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%y : tensor<2x2200xf16>) outs(%e5, %zeros : tensor<2x2200xf16>, tensor<2xf16>) {
  ^bb0(%a: f16, %b: f16):
    %c = arith.addf %a, %b : f16
    tm_tensor.yield %c : f16
  } -> tensor<2x2200xf16>, tensor<2xf16>
  return %p#0, %m#0, %s#0 : tensor<3x70xf16>, tensor<3x70xf16>, tensor<2x2200xf16>
}
