// SwiGLU: y = (silu(x Wg) * (x Wu)) Wd, for 2048 rows, 4096 columns and 12800 inner ones.
// The weights are (in, out).
//
// The inner columns do not fit in LX, nor do the weights.

#m_f = affine_map<(m, f) -> (m, f)>

func.func @swiglu(%x: tensor<2048x4096xf16>,
                  %gate_weight: tensor<4096x12800xf16>,
                  %up_weight: tensor<4096x12800xf16>,
                  %down_weight: tensor<12800x4096xf16>) -> tensor<2048x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %gate_empty = tensor.empty() : tensor<2048x12800xf16>
  %gate_start = linalg.fill ins(%zero : f16) outs(%gate_empty : tensor<2048x12800xf16>) -> tensor<2048x12800xf16>
  %gate = linalg.matmul ins(%x, %gate_weight : tensor<2048x4096xf16>, tensor<4096x12800xf16>) outs(%gate_start : tensor<2048x12800xf16>) -> tensor<2048x12800xf16>
  %silu_empty = tensor.empty() : tensor<2048x12800xf16>
  %silu = linalg.generic {indexing_maps = [#m_f, #m_f], iterator_types = ["parallel", "parallel"]}
    ins(%gate : tensor<2048x12800xf16>) outs(%silu_empty : tensor<2048x12800xf16>) {
  ^bb0(%a: f16, %out: f16):
    %0 = arith.negf %a : f16
    %1 = math.exp %0 : f16
    %2 = arith.addf %1, %one : f16
    %3 = arith.divf %one, %2 : f16
    %r = arith.mulf %a, %3 : f16
    linalg.yield %r : f16
  } -> tensor<2048x12800xf16>
  %up_empty = tensor.empty() : tensor<2048x12800xf16>
  %up_start = linalg.fill ins(%zero : f16) outs(%up_empty : tensor<2048x12800xf16>) -> tensor<2048x12800xf16>
  %up = linalg.matmul ins(%x, %up_weight : tensor<2048x4096xf16>, tensor<4096x12800xf16>) outs(%up_start : tensor<2048x12800xf16>) -> tensor<2048x12800xf16>
  %inner_empty = tensor.empty() : tensor<2048x12800xf16>
  %inner = linalg.generic {indexing_maps = [#m_f, #m_f, #m_f], iterator_types = ["parallel", "parallel"]}
    ins(%silu, %up : tensor<2048x12800xf16>, tensor<2048x12800xf16>) outs(%inner_empty : tensor<2048x12800xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.mulf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2048x12800xf16>
  %y_empty = tensor.empty() : tensor<2048x4096xf16>
  %y_start = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  %y = linalg.matmul ins(%inner, %down_weight : tensor<2048x12800xf16>, tensor<12800x4096xf16>) outs(%y_start : tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  return %y : tensor<2048x4096xf16>
}
