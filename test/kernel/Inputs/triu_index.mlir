// The places of elements choose, in front of the kernel and behind it: masks that are known, which come along.
// INLINE 2, STAGE 0, SEPARATE 0
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

func.func @main(%x: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<128x128xf16>
  %upper = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) {
  ^bb0(%in: f16, %out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi sle, %i, %j : index
    %kept = arith.select %is, %in, %zero : f16
    linalg.yield %kept : f16
  } -> tensor<128x128xf16>
  %y = call @double(%upper) : (tensor<128x128xf16>) -> tensor<128x128xf16>
  %lower = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) {
  ^bb0(%in: f16, %out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi sge, %i, %j : index
    %kept = arith.select %is, %in, %zero : f16
    linalg.yield %kept : f16
  } -> tensor<128x128xf16>
  return %lower : tensor<128x128xf16>
}
