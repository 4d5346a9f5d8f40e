// Attention of 32 heads, 1024 queries and keys, head size 128.
//
// The scores are 64 MiB, which LX does not hold.

#h_s_t = affine_map<(h, s, t) -> (h, s, t)>
#h_s = affine_map<(h, s, t) -> (h, s)>

func.func @attention(%q: tensor<32x1024x128xf16>,
                     %k: tensor<32x1024x128xf16>,
                     %v: tensor<32x1024x128xf16>) -> tensor<32x1024x128xf16> {
  %zero = arith.constant 0.0 : f16
  %minus_infinity = arith.constant 0xFC00 : f16
  %scale = arith.constant 0.08838834764831845 : f16
  %k_turned_empty = tensor.empty() : tensor<32x128x1024xf16>
  %k_turned = linalg.transpose ins(%k : tensor<32x1024x128xf16>) outs(%k_turned_empty : tensor<32x128x1024xf16>) permutation = [0, 2, 1]
  %products_empty = tensor.empty() : tensor<32x1024x1024xf16>
  %products_start = linalg.fill ins(%zero : f16) outs(%products_empty : tensor<32x1024x1024xf16>) -> tensor<32x1024x1024xf16>
  %products = linalg.batch_matmul ins(%q, %k_turned : tensor<32x1024x128xf16>, tensor<32x128x1024xf16>) outs(%products_start : tensor<32x1024x1024xf16>) -> tensor<32x1024x1024xf16>
  %scores_empty = tensor.empty() : tensor<32x1024x1024xf16>
  %scores = linalg.generic {indexing_maps = [#h_s_t, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%products : tensor<32x1024x1024xf16>) outs(%scores_empty : tensor<32x1024x1024xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %scale : f16
    linalg.yield %r : f16
  } -> tensor<32x1024x1024xf16>
  %max_empty = tensor.empty() : tensor<32x1024xf16>
  %max_start = linalg.fill ins(%minus_infinity : f16) outs(%max_empty : tensor<32x1024xf16>) -> tensor<32x1024xf16>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<32x1024x1024xf16>) outs(%max_start : tensor<32x1024xf16>) dimensions = [2]
  %shifted_empty = tensor.empty() : tensor<32x1024x1024xf16>
  %shifted = linalg.generic {indexing_maps = [#h_s_t, #h_s, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%scores, %max : tensor<32x1024x1024xf16>, tensor<32x1024xf16>) outs(%shifted_empty : tensor<32x1024x1024xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.subf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<32x1024x1024xf16>
  %exp_empty = tensor.empty() : tensor<32x1024x1024xf16>
  %exp = linalg.generic {indexing_maps = [#h_s_t, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%shifted : tensor<32x1024x1024xf16>) outs(%exp_empty : tensor<32x1024x1024xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = math.exp %a : f16
    linalg.yield %r : f16
  } -> tensor<32x1024x1024xf16>
  %sum_empty = tensor.empty() : tensor<32x1024xf16>
  %sum_start = linalg.fill ins(%zero : f16) outs(%sum_empty : tensor<32x1024xf16>) -> tensor<32x1024xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<32x1024x1024xf16>) outs(%sum_start : tensor<32x1024xf16>) dimensions = [2]
  %shares_empty = tensor.empty() : tensor<32x1024x1024xf16>
  %shares = linalg.generic {indexing_maps = [#h_s_t, #h_s, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%exp, %sum : tensor<32x1024x1024xf16>, tensor<32x1024xf16>) outs(%shares_empty : tensor<32x1024x1024xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.divf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<32x1024x1024xf16>
  %y_empty = tensor.empty() : tensor<32x1024x128xf16>
  %y_start = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<32x1024x128xf16>) -> tensor<32x1024x128xf16>
  %y = linalg.batch_matmul ins(%shares, %v : tensor<32x1024x1024xf16>, tensor<32x1024x128xf16>) outs(%y_start : tensor<32x1024x128xf16>) -> tensor<32x1024x128xf16>
  return %y : tensor<32x1024x128xf16>
}
