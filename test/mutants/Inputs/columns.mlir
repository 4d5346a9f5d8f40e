// options: --cores 8
func.func @columns(%x: tensor<512x64xf16>, %y: tensor<64x64xf16>) -> (tensor<1x64xf16>, tensor<64x64xf16>) {
  %sum = spyre.reduce sum(%x) dims [0] : tensor<512x64xf16> -> tensor<1x64xf16>
  %shifted = spyre.pointwise sub(%y, %sum) : (tensor<64x64xf16>, tensor<1x64xf16>) -> tensor<64x64xf16>
  return %sum, %shifted : tensor<1x64xf16>, tensor<64x64xf16>
}
