// An f32 value is rounded to f16 before the kernel; after fusion, the rounding is inside the kernel.
// INLINE 1, STAGE 0, SEPARATE 0
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @double(%x: tensor<128x128xf16> {spyre.dims = ["rows", ""]}) -> tensor<128x128xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>]} {
  %y = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<128x128xf16>
    %sum = linalg.add ins(%x, %x : tensor<128x128xf16>, tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
    spyre.yield %sum : tensor<128x128xf16>
  }
  return %y : tensor<128x128xf16>
}

func.func @main(%x: tensor<128x128xf32>) -> tensor<128x128xf16> {
  %part = arith.constant 0.3 : f32
  %empty = tensor.empty() : tensor<128x128xf16>
  %rounded = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<128x128xf32>) outs(%empty : tensor<128x128xf16>) {
  ^bb0(%in: f32, %out: f16):
    %product = arith.mulf %in, %part : f32
    %to = arith.truncf %product : f32 to f16
    linalg.yield %to : f16
  } -> tensor<128x128xf16>
  %y = call @double(%rounded) : (tensor<128x128xf16>) -> tensor<128x128xf16>
  return %y : tensor<128x128xf16>
}
