// One step of decoding: 32 heads, one query, 4096 keys, head size 128, with a mask that is added to the scores.

#b_h_s_t = affine_map<(b, h, s, t) -> (b, h, s, t)>
#t = affine_map<(b, h, s, t) -> (t)>
#b_h_s = affine_map<(b, h, s, t) -> (b, h, s)>

func.func @decode(%q: tensor<1x32x1x128xf16>,
                  %k: tensor<1x32x4096x128xf16>,
                  %v: tensor<1x32x4096x128xf16>,
                  %mask: tensor<1x1x1x4096xf16>) -> tensor<1x32x1x128xf16> {
  %zero = arith.constant 0.0 : f16
  %minus_infinity = arith.constant 0xFC00 : f16
  %scale = arith.constant 0.08838834764831845 : f16
  %k_turned_empty = tensor.empty() : tensor<1x32x128x4096xf16>
  %k_turned = linalg.transpose ins(%k : tensor<1x32x4096x128xf16>) outs(%k_turned_empty : tensor<1x32x128x4096xf16>) permutation = [0, 1, 3, 2]
  %q_heads = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<1x32x1x128xf16> into tensor<32x1x128xf16>
  %k_heads = tensor.collapse_shape %k_turned [[0, 1], [2], [3]] : tensor<1x32x128x4096xf16> into tensor<32x128x4096xf16>
  %products_empty = tensor.empty() : tensor<32x1x4096xf16>
  %products_start = linalg.fill ins(%zero : f16) outs(%products_empty : tensor<32x1x4096xf16>) -> tensor<32x1x4096xf16>
  %products = linalg.batch_matmul ins(%q_heads, %k_heads : tensor<32x1x128xf16>, tensor<32x128x4096xf16>) outs(%products_start : tensor<32x1x4096xf16>) -> tensor<32x1x4096xf16>
  %all_scores = tensor.expand_shape %products [[0, 1], [2], [3]] output_shape [1, 32, 1, 4096] : tensor<32x1x4096xf16> into tensor<1x32x1x4096xf16>
  %scaled_empty = tensor.empty() : tensor<1x32x1x4096xf16>
  %scaled = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%all_scores : tensor<1x32x1x4096xf16>) outs(%scaled_empty : tensor<1x32x1x4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %scale : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1x4096xf16>
  %mask_row = tensor.collapse_shape %mask [[0, 1, 2, 3]] : tensor<1x1x1x4096xf16> into tensor<4096xf16>
  %scores_empty = tensor.empty() : tensor<1x32x1x4096xf16>
  %scores = linalg.generic {indexing_maps = [#b_h_s_t, #t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%scaled, %mask_row : tensor<1x32x1x4096xf16>, tensor<4096xf16>) outs(%scores_empty : tensor<1x32x1x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1x4096xf16>
  %max_empty = tensor.empty() : tensor<1x32x1xf16>
  %max_start = linalg.fill ins(%minus_infinity : f16) outs(%max_empty : tensor<1x32x1xf16>) -> tensor<1x32x1xf16>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<1x32x1x4096xf16>) outs(%max_start : tensor<1x32x1xf16>) dimensions = [3]
  %shifted_empty = tensor.empty() : tensor<1x32x1x4096xf16>
  %shifted = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%scores, %max : tensor<1x32x1x4096xf16>, tensor<1x32x1xf16>) outs(%shifted_empty : tensor<1x32x1x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.subf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1x4096xf16>
  %exp_empty = tensor.empty() : tensor<1x32x1x4096xf16>
  %exp = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%shifted : tensor<1x32x1x4096xf16>) outs(%exp_empty : tensor<1x32x1x4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = math.exp %a : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1x4096xf16>
  %sum_empty = tensor.empty() : tensor<1x32x1xf16>
  %sum_start = linalg.fill ins(%zero : f16) outs(%sum_empty : tensor<1x32x1xf16>) -> tensor<1x32x1xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<1x32x1x4096xf16>) outs(%sum_start : tensor<1x32x1xf16>) dimensions = [3]
  %shares_empty = tensor.empty() : tensor<1x32x1x4096xf16>
  %shares = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%exp, %sum : tensor<1x32x1x4096xf16>, tensor<1x32x1xf16>) outs(%shares_empty : tensor<1x32x1x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.divf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1x4096xf16>
  %share_heads = tensor.collapse_shape %shares [[0, 1], [2], [3]] : tensor<1x32x1x4096xf16> into tensor<32x1x4096xf16>
  %v_heads = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<1x32x4096x128xf16> into tensor<32x4096x128xf16>
  %y_heads_empty = tensor.empty() : tensor<32x1x128xf16>
  %y_heads_start = linalg.fill ins(%zero : f16) outs(%y_heads_empty : tensor<32x1x128xf16>) -> tensor<32x1x128xf16>
  %y_heads = linalg.batch_matmul ins(%share_heads, %v_heads : tensor<32x1x4096xf16>, tensor<32x4096x128xf16>) outs(%y_heads_start : tensor<32x1x128xf16>) -> tensor<32x1x128xf16>
  %y = tensor.expand_shape %y_heads [[0, 1], [2], [3]] output_shape [1, 32, 1, 128] : tensor<32x1x128xf16> into tensor<1x32x1x128xf16>
  return %y : tensor<1x32x1x128xf16>
}
