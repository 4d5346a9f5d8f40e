// Softmax over the rows of a 4096 x 2048 matrix.

#m_n = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

func.func @softmax(%x: tensor<4096x2048xf16>) -> tensor<4096x2048xf16> {
  %zero = arith.constant 0.0 : f16
  %minus_infinity = arith.constant 0xFC00 : f16
  %max_empty = tensor.empty() : tensor<4096xf16>
  %max_start = linalg.fill ins(%minus_infinity : f16) outs(%max_empty : tensor<4096xf16>) -> tensor<4096xf16>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<4096x2048xf16>) outs(%max_start : tensor<4096xf16>) dimensions = [1]
  %shifted_empty = tensor.empty() : tensor<4096x2048xf16>
  %shifted = linalg.generic {indexing_maps = [#m_n, #m, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : tensor<4096x2048xf16>, tensor<4096xf16>) outs(%shifted_empty : tensor<4096x2048xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.subf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<4096x2048xf16>
  %exp_empty = tensor.empty() : tensor<4096x2048xf16>
  %exp = linalg.generic {indexing_maps = [#m_n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%shifted : tensor<4096x2048xf16>) outs(%exp_empty : tensor<4096x2048xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = math.exp %a : f16
    linalg.yield %r : f16
  } -> tensor<4096x2048xf16>
  %sum_empty = tensor.empty() : tensor<4096xf16>
  %sum_start = linalg.fill ins(%zero : f16) outs(%sum_empty : tensor<4096xf16>) -> tensor<4096xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<4096x2048xf16>) outs(%sum_start : tensor<4096xf16>) dimensions = [1]
  %shares_empty = tensor.empty() : tensor<4096x2048xf16>
  %shares = linalg.generic {indexing_maps = [#m_n, #m, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum : tensor<4096x2048xf16>, tensor<4096xf16>) outs(%shares_empty : tensor<4096x2048xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.divf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<4096x2048xf16>
  return %shares : tensor<4096x2048xf16>
}
