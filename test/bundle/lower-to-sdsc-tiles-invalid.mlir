// RUN: spyre-opt --spyre-compile="compile-to=lx tiles=A=2 dims=0=A:K,1=K:B" --spyre-form-bundles --spyre-lower-to-sdsc --verify-diagnostics %s

func.func @one_row_of_two(%x: tensor<2x128xf16>, %y: tensor<128x128xf16>) -> tensor<2x128xf16> {
  // expected-error @+1 {{'spyre.matmul' op multiplies one row of a larger buffer: not supported yet}}
  %z = spyre.matmul(%x, %y) : (tensor<2x128xf16>, tensor<128x128xf16>) -> tensor<2x128xf16>
  return %z : tensor<2x128xf16>
}
