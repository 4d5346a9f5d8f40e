// The product of a 2048 x 2048 and a 2048 x 2048 matrix.

func.func @matmul(%x: tensor<2048x2048xf16>,
                  %w: tensor<2048x2048xf16>) -> tensor<2048x2048xf16> {
  %zero = arith.constant 0.0 : f16
  %y_empty = tensor.empty() : tensor<2048x2048xf16>
  %y_start = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %y = linalg.matmul ins(%x, %w : tensor<2048x2048xf16>, tensor<2048x2048xf16>) outs(%y_start : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  return %y : tensor<2048x2048xf16>
}
