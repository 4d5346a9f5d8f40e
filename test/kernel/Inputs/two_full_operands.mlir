// The sum of two matrices in front of each side of a product.
// INLINE 0, STAGE 2, SEPARATE 0
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @matmul(%a: tensor<128x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x256xf16> {spyre.dims = ["k", "n"]})
    -> tensor<128x256xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<M = 2 in pow2 1 to 8>, #spyre.knob<N = 2 in pow2 1 to 4>]} {
  %zero = arith.constant 0.0 : f16
  %c = spyre.hint tiles(m = M, n = N) {
    %empty = tensor.empty() : tensor<128x256xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%empty : tensor<128x256xf16>) -> tensor<128x256xf16>
    %product = linalg.matmul ins(%a, %b : tensor<128x128xf16>, tensor<128x256xf16>) outs(%begin : tensor<128x256xf16>) -> tensor<128x256xf16>
    spyre.yield %product : tensor<128x256xf16>
  }
  return %c : tensor<128x256xf16>
}

func.func @main(%a: tensor<128x128xf16>, %a2: tensor<128x128xf16>, %b: tensor<128x256xf16>, %b2: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %empty = tensor.empty() : tensor<128x128xf16>
  %wide = tensor.empty() : tensor<128x256xf16>
  %left = linalg.add ins(%a, %a2 : tensor<128x128xf16>, tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
  %right = linalg.add ins(%b, %b2 : tensor<128x256xf16>, tensor<128x256xf16>) outs(%wide : tensor<128x256xf16>) -> tensor<128x256xf16>
  %c = call @matmul(%left, %right) : (tensor<128x128xf16>, tensor<128x256xf16>) -> tensor<128x256xf16>
  return %c : tensor<128x256xf16>
}
