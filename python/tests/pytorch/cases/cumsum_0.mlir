module {
  func.func @main(%arg0: tensor<8x64xf16>) -> tensor<8x64xf16> {
    %cst = arith.constant 0.000000e+00 : f16
    %0 = tensor.empty() : tensor<8x64xf16>
    %1 = linalg.fill ins(%cst : f16) outs(%0 : tensor<8x64xf16>) -> tensor<8x64xf16>
    %2 = tensor.empty() : tensor<8xf16>
    %3 = linalg.fill ins(%cst : f16) outs(%2 : tensor<8xf16>) -> tensor<8xf16>
    %4:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%arg0 : tensor<8x64xf16>) outs(%1, %3 : tensor<8x64xf16>, tensor<8xf16>) {
    ^bb0(%arg1: f16, %arg2: f16):
      %5 = arith.addf %arg1, %arg2 : f16
      tm_tensor.yield %5 : f16
    } -> tensor<8x64xf16>, tensor<8xf16>
    return %4#0 : tensor<8x64xf16>
  }
}
