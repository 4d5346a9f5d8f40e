// options: --cores 8 --bundle-format=1.0
func.func @matmul(%x: tensor<2x1024xf16>, %y: tensor<1024x128xf16>) -> tensor<2x128xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<2x1024xf16>, tensor<1024x128xf16>) -> tensor<2x128xf16>
  return %product : tensor<2x128xf16>
}
