func.func @wished(%x: tensor<1024x256xf16> {spyre.dims = ["s0", "D"], spyre.symbolic = ["s0", ""]}) -> tensor<1024x256xf16> attributes {spyre.granularities = {s0 = 64}} {
  %exp = spyre.pointwise exp(%x) {work_div = [#spyre.work_hint<0, s0 = 4>]} : tensor<1024x256xf16>
  return %exp : tensor<1024x256xf16>
}
