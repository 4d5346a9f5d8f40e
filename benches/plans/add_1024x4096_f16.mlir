// The sum of two 1024 x 4096 matrices.

#m_n = affine_map<(m, n) -> (m, n)>

func.func @add(%x: tensor<1024x4096xf16>,
               %y: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %z_empty = tensor.empty() : tensor<1024x4096xf16>
  %z = linalg.generic {indexing_maps = [#m_n, #m_n, #m_n], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<1024x4096xf16>, tensor<1024x4096xf16>) outs(%z_empty : tensor<1024x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<1024x4096xf16>
  return %z : tensor<1024x4096xf16>
}
