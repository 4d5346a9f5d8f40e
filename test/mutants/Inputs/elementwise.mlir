// options: --cores 4
func.func @elementwise(%a: tensor<64x128xf16>, %b: tensor<64x128xf16>, %c: tensor<1x128xf16>) -> tensor<64x128xf16> {
  %difference = spyre.pointwise sub(%a, %b) : tensor<64x128xf16>
  %exp = spyre.pointwise exp(%difference) : tensor<64x128xf16>
  %quotient = spyre.pointwise sub(%exp, %c) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
  return %quotient : tensor<64x128xf16>
}
