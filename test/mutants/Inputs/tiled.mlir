// options: --cores 4 --dims 0=A:B --tiles A=2,B=4
func.func @tiled(%a: tensor<64x512xf16>, %b: tensor<64x512xf16>, %c: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %difference = spyre.pointwise sub(%a, %b) : tensor<64x512xf16>
  %exp = spyre.pointwise exp(%difference) : tensor<64x512xf16>
  %quotient = spyre.pointwise sub(%c, %exp) : tensor<64x512xf16>
  return %quotient : tensor<64x512xf16>
}
