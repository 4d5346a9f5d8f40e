// RMS norm of the rows of a 2048 x 4096 matrix.

#m_n = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m) -> (m)>
#m_of_m_n = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

func.func @rmsnorm(%x: tensor<2048x4096xf16>,
                   %weight: tensor<4096xf16>) -> tensor<2048x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %one_over_n = arith.constant 0.000244140625 : f16
  %eps = arith.constant 1.0e-5 : f16
  %squares_empty = tensor.empty() : tensor<2048x4096xf16>
  %squares = linalg.generic {indexing_maps = [#m_n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<2048x4096xf16>) outs(%squares_empty : tensor<2048x4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %a : f16
    linalg.yield %r : f16
  } -> tensor<2048x4096xf16>
  %mean_sum_empty = tensor.empty() : tensor<2048xf16>
  %mean_sum_start = linalg.fill ins(%zero : f16) outs(%mean_sum_empty : tensor<2048xf16>) -> tensor<2048xf16>
  %mean_sum = linalg.reduce { arith.addf } ins(%squares : tensor<2048x4096xf16>) outs(%mean_sum_start : tensor<2048xf16>) dimensions = [1]
  %mean_empty = tensor.empty() : tensor<2048xf16>
  %mean = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%mean_sum : tensor<2048xf16>) outs(%mean_empty : tensor<2048xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %one_over_n : f16
    linalg.yield %r : f16
  } -> tensor<2048xf16>
  %scale_empty = tensor.empty() : tensor<2048xf16>
  %scale = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%mean : tensor<2048xf16>) outs(%scale_empty : tensor<2048xf16>) {
  ^bb0(%a: f16, %out: f16):
    %0 = arith.addf %a, %eps : f16
    %r = math.rsqrt %0 : f16
    linalg.yield %r : f16
  } -> tensor<2048xf16>
  %normed_empty = tensor.empty() : tensor<2048x4096xf16>
  %normed = linalg.generic {indexing_maps = [#m_n, #m_of_m_n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%x, %scale : tensor<2048x4096xf16>, tensor<2048xf16>) outs(%normed_empty : tensor<2048x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.mulf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2048x4096xf16>
  %y_empty = tensor.empty() : tensor<2048x4096xf16>
  %y = linalg.generic {indexing_maps = [#m_n, #n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%normed, %weight : tensor<2048x4096xf16>, tensor<4096xf16>) outs(%y_empty : tensor<2048x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.mulf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2048x4096xf16>
  return %y : tensor<2048x4096xf16>
}
