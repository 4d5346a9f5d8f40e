// Columns from the last to the first: these lie in sticks, so that two tiles of rows are the most.
// INLINE 2, STAGE 0, SEPARATE 0
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @double(%x: tensor<128x128xf16> {spyre.dims = ["rows", ""]}) -> tensor<128x128xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 2 in pow2 1 to 8>]} {
  %y = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<128x128xf16>
    %sum = linalg.add ins(%x, %x : tensor<128x128xf16>, tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
    spyre.yield %sum : tensor<128x128xf16>
  }
  return %y : tensor<128x128xf16>
}

func.func @main(%x: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %empty = tensor.empty() : tensor<128x128xf16>
  %flipped = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 127 - d1)>, #map], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) {
  ^bb0(%in: f16, %out: f16):
    %neg = arith.negf %in : f16
    linalg.yield %neg : f16
  } -> tensor<128x128xf16>
  %y = call @double(%flipped) : (tensor<128x128xf16>) -> tensor<128x128xf16>
  return %y : tensor<128x128xf16>
}
