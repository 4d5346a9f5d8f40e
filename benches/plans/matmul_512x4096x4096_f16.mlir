// The product of a 512 x 4096 and a 4096 x 4096 matrix.

func.func @matmul(%x: tensor<512x4096xf16>,
                  %w: tensor<4096x4096xf16>) -> tensor<512x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %y_empty = tensor.empty() : tensor<512x4096xf16>
  %y_start = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<512x4096xf16>) -> tensor<512x4096xf16>
  %y = linalg.matmul ins(%x, %w : tensor<512x4096xf16>, tensor<4096x4096xf16>) outs(%y_start : tensor<512x4096xf16>) -> tensor<512x4096xf16>
  return %y : tensor<512x4096xf16>
}
