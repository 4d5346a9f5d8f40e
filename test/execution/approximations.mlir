// The errors of two functions may cancel: the gelu of -1 is expanded and has an error of 0.2 %. The error function after it has a stated
// error of the opposite sign there.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --tile-search none > %t.log && spyre-run %t/planned --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/none --lx-planner none > %t.log && spyre-run %t/none --check %s | FileCheck %s
// CHECK: result0: correct
func.func @gelu_then_erf(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %empty = tensor.empty() : tensor<16x64xf16>
  %squares = linalg.mul ins(%x, %x : tensor<16x64xf16>, tensor<16x64xf16>) outs(%empty : tensor<16x64xf16>) -> tensor<16x64xf16>
  %gelu = linalg.map ins(%squares : tensor<16x64xf16>) outs(%empty : tensor<16x64xf16>) (%square: f16, %out: f16) {
    %lowest = arith.constant -1.0 : f16
    %q = arith.minnumf %square, %lowest : f16
    %half = arith.constant 0.5 : f16
    %cubic = arith.constant 0.044715 : f16
    %scale = arith.constant 0.79788456080286541 : f16
    %one = arith.constant 1.0 : f16
    %halved = arith.mulf %q, %half : f16
    %second = arith.mulf %q, %q : f16
    %third = arith.mulf %second, %q : f16
    %scaled = arith.mulf %third, %cubic : f16
    %sum = arith.addf %q, %scaled : f16
    %argument = arith.mulf %sum, %scale : f16
    %tanh = math.tanh %argument : f16
    %more = arith.addf %tanh, %one : f16
    %result = arith.mulf %halved, %more : f16
    linalg.yield %result : f16
  }
  %y = linalg.map { math.erf } ins(%gelu : tensor<16x64xf16>) outs(%empty : tensor<16x64xf16>)
  return %y : tensor<16x64xf16>
}
