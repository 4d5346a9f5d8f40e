// A bias in front of a product, and one behind it; others read the product with and without it.
// INLINE 1, STAGE 1, SEPARATE 0
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

func.func @main(%a: tensor<128x128xf16>, %bias: tensor<128xf16>, %b: tensor<128x256xf16>, %behind: tensor<256xf16>) -> (tensor<128x256xf16>, tensor<128x256xf16>) {
  %empty = tensor.empty() : tensor<128x128xf16>
  %wide = tensor.empty() : tensor<128x256xf16>
  %left = linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> (d1)>, #map], iterator_types = ["parallel", "parallel"]}
    ins(%a, %bias : tensor<128x128xf16>, tensor<128xf16>) outs(%empty : tensor<128x128xf16>) {
  ^bb0(%in: f16, %more: f16, %out: f16):
    %sum = arith.addf %in, %more : f16
    linalg.yield %sum : f16
  } -> tensor<128x128xf16>
  %c = call @matmul(%left, %b) : (tensor<128x128xf16>, tensor<128x256xf16>) -> tensor<128x256xf16>
  %right = linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> (d1)>, #map], iterator_types = ["parallel", "parallel"]}
    ins(%c, %behind : tensor<128x256xf16>, tensor<256xf16>) outs(%wide : tensor<128x256xf16>) {
  ^bb0(%in: f16, %more: f16, %out: f16):
    %sum = arith.addf %in, %more : f16
    linalg.yield %sum : f16
  } -> tensor<128x256xf16>
  return %c, %right : tensor<128x256xf16>, tensor<128x256xf16>
}
