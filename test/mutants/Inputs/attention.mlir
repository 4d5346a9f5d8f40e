// options: --cores 4
// A softmax does not depend on the subtracted maximum, so the maximum is returned as well.
func.func @attention(%q: tensor<2x16x64xf16>, %k: tensor<2x64x128xf16>, %v: tensor<2x128x64xf16>) -> (tensor<2x16x64xf16>, tensor<2x16x1xf16>) {
  %scores = spyre.matmul(%q, %k) : (tensor<2x16x64xf16>, tensor<2x64x128xf16>) -> tensor<2x16x128xf16>
  %max = spyre.reduce max(%scores) dims [2] : tensor<2x16x128xf16> -> tensor<2x16x1xf16>
  %shifted = spyre.pointwise sub(%scores, %max) : (tensor<2x16x128xf16>, tensor<2x16x1xf16>) -> tensor<2x16x128xf16>
  %exp = spyre.pointwise exp(%shifted) : tensor<2x16x128xf16>
  %sum = spyre.reduce sum(%exp) dims [2] : tensor<2x16x128xf16> -> tensor<2x16x1xf16>
  %weights = spyre.pointwise realdiv(%exp, %sum) : (tensor<2x16x128xf16>, tensor<2x16x1xf16>) -> tensor<2x16x128xf16>
  %mixed = spyre.matmul(%weights, %v) : (tensor<2x16x128xf16>, tensor<2x128x64xf16>) -> tensor<2x16x64xf16>
  %shown = spyre.pointwise neg(%max) : tensor<2x16x1xf16>
  return %mixed, %shown : tensor<2x16x64xf16>, tensor<2x16x1xf16>
}
