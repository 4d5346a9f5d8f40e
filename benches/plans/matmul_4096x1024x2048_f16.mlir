// The product of a 4096 x 1024 and a 1024 x 2048 matrix.

func.func @matmul(%x: tensor<4096x1024xf16>,
                  %w: tensor<1024x2048xf16>) -> tensor<4096x2048xf16> {
  %zero = arith.constant 0.0 : f16
  %y_empty = tensor.empty() : tensor<4096x2048xf16>
  %y_start = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<4096x2048xf16>) -> tensor<4096x2048xf16>
  %y = linalg.matmul ins(%x, %w : tensor<4096x1024xf16>, tensor<1024x2048xf16>) outs(%y_start : tensor<4096x2048xf16>) -> tensor<4096x2048xf16>
  return %y : tensor<4096x2048xf16>
}
