// Rows that are chosen in front of a kernel, and their exponential.
// INLINE 2, STAGE 0, SEPARATE 0
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @double(%x: tensor<256x128xf16> {spyre.dims = ["rows", ""]}) -> tensor<256x128xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>]} {
  %y = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<256x128xf16>
    %sum = linalg.add ins(%x, %x : tensor<256x128xf16>, tensor<256x128xf16>) outs(%empty : tensor<256x128xf16>) -> tensor<256x128xf16>
    spyre.yield %sum : tensor<256x128xf16>
  }
  return %y : tensor<256x128xf16>
}

func.func @main(%table: tensor<256x128xf16>, %list: tensor<256xi64>) -> tensor<256x128xf16> {
  %empty = tensor.empty() : tensor<256x128xf16>
  %chosen = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #map], iterator_types = ["parallel", "parallel"]}
    ins(%list : tensor<256xi64>) outs(%empty : tensor<256x128xf16>) {
  ^bb0(%row: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<256x128xf16>
    %e = math.exp %element : f16
    linalg.yield %e : f16
  } -> tensor<256x128xf16>
  %y = call @double(%chosen) : (tensor<256x128xf16>) -> tensor<256x128xf16>
  return %y : tensor<256x128xf16>
}
