// Layer norm of the rows of a 4096 x 4096 matrix.
//
// A core has 128 rows, 1 MiB; the differences from the mean live beside other values of that size, which LX does not hold.

#m = affine_map<(m) -> (m)>
#m_n = affine_map<(m, n) -> (m, n)>
#m_of_m_n = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

func.func @layernorm(%x: tensor<4096x4096xf16>,
                     %weight: tensor<4096xf16>,
                     %bias: tensor<4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %one_over_n = arith.constant 0.000244140625 : f16
  %eps = arith.constant 1.0e-5 : f16
  %mean_sum_empty = tensor.empty() : tensor<4096xf16>
  %mean_sum_start = linalg.fill ins(%zero : f16) outs(%mean_sum_empty : tensor<4096xf16>) -> tensor<4096xf16>
  %mean_sum = linalg.reduce { arith.addf } ins(%x : tensor<4096x4096xf16>) outs(%mean_sum_start : tensor<4096xf16>) dimensions = [1]
  %mean_empty = tensor.empty() : tensor<4096xf16>
  %mean = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%mean_sum : tensor<4096xf16>) outs(%mean_empty : tensor<4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %one_over_n : f16
    linalg.yield %r : f16
  } -> tensor<4096xf16>
  %centred_empty = tensor.empty() : tensor<4096x4096xf16>
  %centred = linalg.generic {indexing_maps = [#m_n, #m_of_m_n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%x, %mean : tensor<4096x4096xf16>, tensor<4096xf16>) outs(%centred_empty : tensor<4096x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.subf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<4096x4096xf16>
  %squares_empty = tensor.empty() : tensor<4096x4096xf16>
  %squares = linalg.generic {indexing_maps = [#m_n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%centred : tensor<4096x4096xf16>) outs(%squares_empty : tensor<4096x4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %a : f16
    linalg.yield %r : f16
  } -> tensor<4096x4096xf16>
  %variance_sum_empty = tensor.empty() : tensor<4096xf16>
  %variance_sum_start = linalg.fill ins(%zero : f16) outs(%variance_sum_empty : tensor<4096xf16>) -> tensor<4096xf16>
  %variance_sum = linalg.reduce { arith.addf } ins(%squares : tensor<4096x4096xf16>) outs(%variance_sum_start : tensor<4096xf16>) dimensions = [1]
  %variance_empty = tensor.empty() : tensor<4096xf16>
  %variance = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%variance_sum : tensor<4096xf16>) outs(%variance_empty : tensor<4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %one_over_n : f16
    linalg.yield %r : f16
  } -> tensor<4096xf16>
  %scale_empty = tensor.empty() : tensor<4096xf16>
  %scale = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%variance : tensor<4096xf16>) outs(%scale_empty : tensor<4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %0 = arith.addf %a, %eps : f16
    %r = math.rsqrt %0 : f16
    linalg.yield %r : f16
  } -> tensor<4096xf16>
  %normed_empty = tensor.empty() : tensor<4096x4096xf16>
  %normed = linalg.generic {indexing_maps = [#m_n, #m_of_m_n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%centred, %scale : tensor<4096x4096xf16>, tensor<4096xf16>) outs(%normed_empty : tensor<4096x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.mulf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<4096x4096xf16>
  %weighted_empty = tensor.empty() : tensor<4096x4096xf16>
  %weighted = linalg.generic {indexing_maps = [#m_n, #n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%normed, %weight : tensor<4096x4096xf16>, tensor<4096xf16>) outs(%weighted_empty : tensor<4096x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.mulf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<4096x4096xf16>
  %y_empty = tensor.empty() : tensor<4096x4096xf16>
  %y = linalg.generic {indexing_maps = [#m_n, #n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%weighted, %bias : tensor<4096x4096xf16>, tensor<4096xf16>) outs(%y_empty : tensor<4096x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<4096x4096xf16>
  return %y : tensor<4096x4096xf16>
}
