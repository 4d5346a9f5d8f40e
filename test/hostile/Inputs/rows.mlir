// Rows by indices, several launches, a constant.
func.func @rows(%table: tensor<64x128xf16>, %list: tensor<16xi32>) -> (tensor<16x128xf16>, tensor<16x128xf16>) {
  %rows = spyre.gather(%table, %list) dim 0 : (tensor<64x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  %weights = spyre.constant dense<0.5> : tensor<16x128xf16>
  %product = spyre.pointwise mul(%rows, %weights) : tensor<16x128xf16>
  %exp = spyre.pointwise exp(%product) : tensor<16x128xf16>
  return %product, %exp : tensor<16x128xf16>, tensor<16x128xf16>
}
