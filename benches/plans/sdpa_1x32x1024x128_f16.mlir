// PyTorch's scaled dot product attention: 32 heads, 1024 queries and keys, head size 128. Queries and keys are scaled by the root of the
// factor each, and a row without a finite score gives zeros.
//
// The scores are 64 MiB, which LX does not hold.

#b_h_s_d = affine_map<(b, h, s, d) -> (b, h, s, d)>
#b_h_d_t = affine_map<(b, h, d, t) -> (b, h, d, t)>
#b_h_s_t = affine_map<(b, h, s, t) -> (b, h, s, t)>
#b_h_s = affine_map<(b, h, s, t) -> (b, h, s)>

func.func @sdpa(%q: tensor<1x32x1024x128xf16>,
                %k: tensor<1x32x1024x128xf16>,
                %v: tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> {
  %zero = arith.constant 0.0 : f16
  %minus_infinity = arith.constant 0xFC00 : f16
  %root_of_scale = arith.constant 0.29730177875068026 : f16
  %true = arith.constant true
  %q_scaled_empty = tensor.empty() : tensor<1x32x1024x128xf16>
  %q_scaled = linalg.generic {indexing_maps = [#b_h_s_d, #b_h_s_d], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%q : tensor<1x32x1024x128xf16>) outs(%q_scaled_empty : tensor<1x32x1024x128xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %root_of_scale : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1024x128xf16>
  %k_turned_empty = tensor.empty() : tensor<1x32x128x1024xf16>
  %k_turned = linalg.transpose ins(%k : tensor<1x32x1024x128xf16>) outs(%k_turned_empty : tensor<1x32x128x1024xf16>) permutation = [0, 1, 3, 2]
  %k_scaled_empty = tensor.empty() : tensor<1x32x128x1024xf16>
  %k_scaled = linalg.generic {indexing_maps = [#b_h_d_t, #b_h_d_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%k_turned : tensor<1x32x128x1024xf16>) outs(%k_scaled_empty : tensor<1x32x128x1024xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = arith.mulf %a, %root_of_scale : f16
    linalg.yield %r : f16
  } -> tensor<1x32x128x1024xf16>
  %q_heads = tensor.collapse_shape %q_scaled [[0, 1], [2], [3]] : tensor<1x32x1024x128xf16> into tensor<32x1024x128xf16>
  %k_heads = tensor.collapse_shape %k_scaled [[0, 1], [2], [3]] : tensor<1x32x128x1024xf16> into tensor<32x128x1024xf16>
  %products_empty = tensor.empty() : tensor<32x1024x1024xf16>
  %products_start = linalg.fill ins(%zero : f16) outs(%products_empty : tensor<32x1024x1024xf16>) -> tensor<32x1024x1024xf16>
  %products = linalg.batch_matmul ins(%q_heads, %k_heads : tensor<32x1024x128xf16>, tensor<32x128x1024xf16>) outs(%products_start : tensor<32x1024x1024xf16>) -> tensor<32x1024x1024xf16>
  %scores = tensor.expand_shape %products [[0, 1], [2], [3]] output_shape [1, 32, 1024, 1024] : tensor<32x1024x1024xf16> into tensor<1x32x1024x1024xf16>
  %max_empty = tensor.empty() : tensor<1x32x1024xf16>
  %max_start = linalg.fill ins(%minus_infinity : f16) outs(%max_empty : tensor<1x32x1024xf16>) -> tensor<1x32x1024xf16>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<1x32x1024x1024xf16>) outs(%max_start : tensor<1x32x1024xf16>) dimensions = [3]
  %shifted_empty = tensor.empty() : tensor<1x32x1024x1024xf16>
  %shifted = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%scores, %max : tensor<1x32x1024x1024xf16>, tensor<1x32x1024xf16>) outs(%shifted_empty : tensor<1x32x1024x1024xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.subf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1024x1024xf16>
  %exp_empty = tensor.empty() : tensor<1x32x1024x1024xf16>
  %exp = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%shifted : tensor<1x32x1024x1024xf16>) outs(%exp_empty : tensor<1x32x1024x1024xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = math.exp %a : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1024x1024xf16>
  %sum_empty = tensor.empty() : tensor<1x32x1024xf16>
  %sum_start = linalg.fill ins(%zero : f16) outs(%sum_empty : tensor<1x32x1024xf16>) -> tensor<1x32x1024xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<1x32x1024x1024xf16>) outs(%sum_start : tensor<1x32x1024xf16>) dimensions = [3]
  %shares_empty = tensor.empty() : tensor<1x32x1024x1024xf16>
  %shares = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%exp, %sum : tensor<1x32x1024x1024xf16>, tensor<1x32x1024xf16>) outs(%shares_empty : tensor<1x32x1024x1024xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.divf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1024x1024xf16>
  %is_hidden_empty = tensor.empty() : tensor<1x32x1024x1024xi1>
  %is_hidden = linalg.generic {indexing_maps = [#b_h_s_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%scores : tensor<1x32x1024x1024xf16>) outs(%is_hidden_empty : tensor<1x32x1024x1024xi1>) {
  ^bb0(%a: f16, %out: i1):
    %r = arith.cmpf oeq, %a, %minus_infinity : f16
    linalg.yield %r : i1
  } -> tensor<1x32x1024x1024xi1>
  %all_hidden_empty = tensor.empty() : tensor<1x32x1024xi1>
  %all_hidden_start = linalg.fill ins(%true : i1) outs(%all_hidden_empty : tensor<1x32x1024xi1>) -> tensor<1x32x1024xi1>
  %all_hidden = linalg.reduce { arith.andi } ins(%is_hidden : tensor<1x32x1024x1024xi1>) outs(%all_hidden_start : tensor<1x32x1024xi1>) dimensions = [3]
  %weights_empty = tensor.empty() : tensor<1x32x1024x1024xf16>
  %weights = linalg.generic {indexing_maps = [#b_h_s, #b_h_s_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%all_hidden, %shares : tensor<1x32x1024xi1>, tensor<1x32x1024x1024xf16>) outs(%weights_empty : tensor<1x32x1024x1024xf16>) {
  ^bb0(%a: i1, %b: f16, %out: f16):
    %r = arith.select %a, %zero, %b : f16
    linalg.yield %r : f16
  } -> tensor<1x32x1024x1024xf16>
  %weight_heads = tensor.collapse_shape %weights [[0, 1], [2], [3]] : tensor<1x32x1024x1024xf16> into tensor<32x1024x1024xf16>
  %v_heads = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<1x32x1024x128xf16> into tensor<32x1024x128xf16>
  %y_heads_empty = tensor.empty() : tensor<32x1024x128xf16>
  %y_heads_start = linalg.fill ins(%zero : f16) outs(%y_heads_empty : tensor<32x1024x128xf16>) -> tensor<32x1024x128xf16>
  %y_heads = linalg.batch_matmul ins(%weight_heads, %v_heads : tensor<32x1024x1024xf16>, tensor<32x1024x128xf16>) outs(%y_heads_start : tensor<32x1024x128xf16>) -> tensor<32x1024x128xf16>
  %y = tensor.expand_shape %y_heads [[0, 1], [2], [3]] output_shape [1, 32, 1024, 128] : tensor<32x1024x128xf16> into tensor<1x32x1024x128xf16>
  return %y : tensor<1x32x1024x128xf16>
}
