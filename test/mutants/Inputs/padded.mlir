// options: --cores 2
func.func @padded(%x: tensor<6x100xf16>, %y: tensor<100x150xf16>) -> tensor<6x150xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<6x100xf16>, tensor<100x150xf16>) -> tensor<6x150xf16>
  return %product : tensor<6x150xf16>
}
