// options: --cores 4
func.func @layernorm(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %mean = spyre.reduce mean(%x) dims [1] {constants = array<f64: 0.0078125>} : tensor<64x128xf16> -> tensor<64x1xf16>
  %centred = spyre.pointwise sub(%x, %mean) : (tensor<64x128xf16>, tensor<64x1xf16>) -> tensor<64x128xf16>
  %square = spyre.pointwise mul(%centred, %centred) : tensor<64x128xf16>
  %variance = spyre.reduce mean(%square) dims [1] {constants = array<f64: 0.0078125>} : tensor<64x128xf16> -> tensor<64x1xf16>
  %least = spyre.constant dense<1.0e-3> : tensor<1x1xf16>
  %safe = spyre.pointwise add(%variance, %least) : (tensor<64x1xf16>, tensor<1x1xf16>) -> tensor<64x1xf16>
  %root = spyre.pointwise sqrt(%safe) : tensor<64x1xf16>
  %normal = spyre.pointwise realdiv(%centred, %root) : (tensor<64x128xf16>, tensor<64x1xf16>) -> tensor<64x128xf16>
  %shift = spyre.constant dense<0.75> : tensor<1x128xf16>
  %shifted = spyre.pointwise sub(%normal, %shift) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
  return %shifted : tensor<64x128xf16>
}
