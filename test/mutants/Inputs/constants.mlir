// options: --cores 2
func.func @constants(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %scale = spyre.constant dense<0.3> : tensor<1x128xf16>
  %shift = spyre.constant dense<0.7> : tensor<1x128xf16>
  %clipped = spyre.pointwise clip(%x) {constants = array<f64: -0.1, 0.9>} : tensor<64x128xf16>
  %scaled = spyre.pointwise mul(%clipped, %scale) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
  %shifted = spyre.pointwise sub(%scaled, %shift) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
  return %shifted : tensor<64x128xf16>
}
