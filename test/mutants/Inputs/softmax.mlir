// options: --cores 4
// A softmax does not depend on the subtracted maximum, so the maximum is returned as well.
func.func @softmax(%x: tensor<70x100xf16>) -> (tensor<70x100xf16>, tensor<70x1xf16>) {
  %max = spyre.reduce max(%x) dims [1] : tensor<70x100xf16> -> tensor<70x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<70x100xf16>, tensor<70x1xf16>) -> tensor<70x100xf16>
  %exp = spyre.pointwise exp(%shifted) : tensor<70x100xf16>
  %sum = spyre.reduce sum(%exp) dims [1] : tensor<70x100xf16> -> tensor<70x1xf16>
  %softmax = spyre.pointwise realdiv(%exp, %sum) : (tensor<70x100xf16>, tensor<70x1xf16>) -> tensor<70x100xf16>
  %shown = spyre.pointwise neg(%max) : tensor<70x1xf16>
  return %softmax, %shown : tensor<70x100xf16>, tensor<70x1xf16>
}
