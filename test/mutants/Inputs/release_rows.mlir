// options: --cores 4 --bundle-format=1.0
// No number is negative, so a minimum of a row depends on the value of masked points.
func.func @rows(%x: tensor<96x100xf16>, %y: tensor<96x100xf16>) -> (tensor<96x1xf16>, tensor<96x100xf16>) {
  %difference = spyre.pointwise sub(%x, %y) : tensor<96x100xf16>
  %size = spyre.pointwise abs(%difference) : tensor<96x100xf16>
  %min = spyre.reduce min(%size) dims [1] : tensor<96x100xf16> -> tensor<96x1xf16>
  return %min, %difference : tensor<96x1xf16>, tensor<96x100xf16>
}
