// Constants that are no scalars, in formats that round them; words by indices of 64 bits; a mean over sticks; a product of batches.
func.func @constants(%x: tensor<3x70xf32>, %words: tensor<8x64xf16>, %list: tensor<3xi64>, %k: tensor<2x64x3xf16>)
    -> (tensor<3x70xf32>, tensor<3x1xf16>, tensor<2x3x3xf16>) {
  %column = spyre.constant dense<[[1.1], [-2.0], [3.5]]> : tensor<3x1xf32>
  %tenth = spyre.constant dense<0.1> : tensor<1x1xf32>
  %weighted = spyre.pointwise mul(%x, %column) : (tensor<3x70xf32>, tensor<3x1xf32>) -> tensor<3x70xf32>
  %scaled = spyre.pointwise add(%weighted, %tenth) : (tensor<3x70xf32>, tensor<1x1xf32>) -> tensor<3x70xf32>
  %rows = spyre.gather(%words, %list) dim 0 : (tensor<8x64xf16>, tensor<3xi64>) -> tensor<3x64xf16>
  %sum = spyre.reduce sum(%rows) dims [1] : tensor<3x64xf16> -> tensor<3x1xf16>
  %tenths = spyre.constant dense<[[0.1], [0.2], [0.3]]> : tensor<3x1xf16>
  %weighed = spyre.pointwise mul(%sum, %tenths) : tensor<3x1xf16>
  %twice = spyre.view %rows by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<3x64xf16> -> tensor<2x3x64xf16>
  %scores = spyre.matmul(%twice, %k) : (tensor<2x3x64xf16>, tensor<2x64x3xf16>) -> tensor<2x3x3xf16>
  return %scaled, %weighed, %scores : tensor<3x70xf32>, tensor<3x1xf16>, tensor<2x3x3xf16>
}
