// The rows of a softmax are cut: one loop over columns finds the maximum, one the sum, one divides. All read what is scaled in front of them.
// INLINE 1, STAGE 0, SEPARATE 0
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @softmax(%x: tensor<128x512xf16> {spyre.dims = ["rows", "columns"]}) -> tensor<128x512xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 2 in pow2 1 to 8>, #spyre.knob<C = 4 in pow2 1 to 8>]} {
  %y = spyre.hint tiles(rows = T, columns = C) {
    %empty = tensor.empty() : tensor<128x512xf16>
    %soft = linalg.softmax dimension(1) ins(%x : tensor<128x512xf16>) outs(%empty : tensor<128x512xf16>) -> tensor<128x512xf16>
    spyre.yield %soft : tensor<128x512xf16>
  }
  return %y : tensor<128x512xf16>
}

func.func @main(%x: tensor<128x512xf16>) -> tensor<128x512xf16> {
  %half = arith.constant 0.5 : f16
  %empty = tensor.empty() : tensor<128x512xf16>
  %scaled = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<128x512xf16>) outs(%empty : tensor<128x512xf16>) {
  ^bb0(%in: f16, %out: f16):
    %product = arith.mulf %in, %half : f16
    linalg.yield %product : f16
  } -> tensor<128x512xf16>
  %y = call @softmax(%scaled) : (tensor<128x512xf16>) -> tensor<128x512xf16>
  return %y : tensor<128x512xf16>
}
