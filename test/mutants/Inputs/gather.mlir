// options: --cores 4
func.func @gather(%table: tensor<96x128xf16>, %matrix: tensor<3x96xi64>, %words: tensor<80x64xf16>, %list: tensor<16xi32>)
    -> (tensor<3x96x128xf16>, tensor<16x64xf16>) {
  %rows = spyre.gather(%table, %matrix) dim 0 : (tensor<96x128xf16>, tensor<3x96xi64>) -> tensor<3x96x128xf16>
  %chosen = spyre.gather(%words, %list) dim 0 : (tensor<80x64xf16>, tensor<16xi32>) -> tensor<16x64xf16>
  %exp = spyre.pointwise exp(%chosen) : tensor<16x64xf16>
  return %rows, %exp : tensor<3x96x128xf16>, tensor<16x64xf16>
}
