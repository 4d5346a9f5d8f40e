// Both at one scope (TS-4133).
// INPUTS: integers
#b_h_s_d = affine_map<(b, h, s, t, d) -> (b, h, s, d)>
#b_h_d_t = affine_map<(b, h, s, t, d) -> (b, h, d, t)>
#b_h_s_t = affine_map<(b, h, s, t, d) -> (b, h, s, t)>
#b_h_s_t_2 = affine_map<(b, h, s, t) -> (b, h, s, t)>
func.func @one_scope(%q: tensor<2x4x16x64xf16> {spyre.dims = ["B", "H", "S", "D"]},
                     %k: tensor<2x4x64x64xf16> {spyre.dims = ["B", "H", "D", "T"]})
    -> tensor<2x4x16x64xf16> {
  %by_B_H = spyre.hint tiles(B = 2, H = 4) {
    %scores_empty = tensor.empty() : tensor<2x4x16x64xf16>
    %scores_from = arith.constant 0.0 : f16
    %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<2x4x16x64xf16>) -> tensor<2x4x16x64xf16>
    %scores = linalg.generic {indexing_maps = [#b_h_s_d, #b_h_d_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x4x16x64xf16>, tensor<2x4x64x64xf16>) outs(%scores_start : tensor<2x4x16x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %m = arith.mulf %left, %right : f16
      %r = arith.addf %m, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x4x16x64xf16>
    %scaled_empty = tensor.empty() : tensor<2x4x16x64xf16>
    %scaled = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s_t_2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores : tensor<2x4x16x64xf16>) outs(%scaled_empty : tensor<2x4x16x64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.5 : f16
      %r = arith.mulf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<2x4x16x64xf16>
    spyre.yield %scaled : tensor<2x4x16x64xf16>
  }
  return %by_B_H : tensor<2x4x16x64xf16>
}
// -----
// Heads in batches.
// INPUTS: integers
#b_h_s_d = affine_map<(b, h, s, t, d) -> (b, h, s, d)>
#b_h_d_t = affine_map<(b, h, s, t, d) -> (b, h, d, t)>
#b_h_s_t = affine_map<(b, h, s, t, d) -> (b, h, s, t)>
#b_h_s_t_2 = affine_map<(b, h, s, t) -> (b, h, s, t)>
func.func @nested(%q: tensor<2x4x16x64xf16> {spyre.dims = ["B", "H", "S", "D"]},
                  %k: tensor<2x4x64x64xf16> {spyre.dims = ["B", "H", "D", "T"]})
    -> tensor<2x4x16x64xf16> {
  %by_B = spyre.hint tiles(B = 2) {
    %by_H = spyre.hint tiles(H = 4) {
      %scores_empty = tensor.empty() : tensor<2x4x16x64xf16>
      %scores_from = arith.constant 0.0 : f16
      %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<2x4x16x64xf16>) -> tensor<2x4x16x64xf16>
      %scores = linalg.generic {indexing_maps = [#b_h_s_d, #b_h_d_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x4x16x64xf16>, tensor<2x4x64x64xf16>) outs(%scores_start : tensor<2x4x16x64xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %m = arith.mulf %left, %right : f16
        %r = arith.addf %m, %out : f16
        linalg.yield %r : f16
      } -> tensor<2x4x16x64xf16>
      %scaled_empty = tensor.empty() : tensor<2x4x16x64xf16>
      %scaled = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s_t_2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%scores : tensor<2x4x16x64xf16>) outs(%scaled_empty : tensor<2x4x16x64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %c = arith.constant 0.5 : f16
        %r = arith.mulf %left, %c : f16
        linalg.yield %r : f16
      } -> tensor<2x4x16x64xf16>
      spyre.yield %scaled : tensor<2x4x16x64xf16>
    }
    spyre.yield %by_H : tensor<2x4x16x64xf16>
  }
  return %by_B : tensor<2x4x16x64xf16>
}
// -----
// Batches in heads.
// INPUTS: integers
#b_h_s_d = affine_map<(b, h, s, t, d) -> (b, h, s, d)>
#b_h_d_t = affine_map<(b, h, s, t, d) -> (b, h, d, t)>
#b_h_s_t = affine_map<(b, h, s, t, d) -> (b, h, s, t)>
#b_h_s_t_2 = affine_map<(b, h, s, t) -> (b, h, s, t)>
func.func @heads_outside(%q: tensor<2x4x16x64xf16> {spyre.dims = ["B", "H", "S", "D"]},
                         %k: tensor<2x4x64x64xf16> {spyre.dims = ["B", "H", "D", "T"]})
    -> tensor<2x4x16x64xf16> {
  %by_H = spyre.hint tiles(H = 2) {
    %by_B = spyre.hint tiles(B = 2) {
      %scores_empty = tensor.empty() : tensor<2x4x16x64xf16>
      %scores_from = arith.constant 0.0 : f16
      %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<2x4x16x64xf16>) -> tensor<2x4x16x64xf16>
      %scores = linalg.generic {indexing_maps = [#b_h_s_d, #b_h_d_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x4x16x64xf16>, tensor<2x4x64x64xf16>) outs(%scores_start : tensor<2x4x16x64xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %m = arith.mulf %left, %right : f16
        %r = arith.addf %m, %out : f16
        linalg.yield %r : f16
      } -> tensor<2x4x16x64xf16>
      %scaled_empty = tensor.empty() : tensor<2x4x16x64xf16>
      %scaled = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s_t_2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%scores : tensor<2x4x16x64xf16>) outs(%scaled_empty : tensor<2x4x16x64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %c = arith.constant 0.5 : f16
        %r = arith.mulf %left, %c : f16
        linalg.yield %r : f16
      } -> tensor<2x4x16x64xf16>
      spyre.yield %scaled : tensor<2x4x16x64xf16>
    }
    spyre.yield %by_B : tensor<2x4x16x64xf16>
  }
  return %by_H : tensor<2x4x16x64xf16>
}
// -----
// And rows in them.
// INPUTS: integers
#b_h_s_d = affine_map<(b, h, s, t, d) -> (b, h, s, d)>
#b_h_d_t = affine_map<(b, h, s, t, d) -> (b, h, d, t)>
#b_h_s_t = affine_map<(b, h, s, t, d) -> (b, h, s, t)>
#b_h_s_t_2 = affine_map<(b, h, s, t) -> (b, h, s, t)>
func.func @with_rows(%q: tensor<2x4x16x64xf16> {spyre.dims = ["B", "H", "S", "D"]},
                     %k: tensor<2x4x64x64xf16> {spyre.dims = ["B", "H", "D", "T"]})
    -> tensor<2x4x16x64xf16> {
  %by_B_H = spyre.hint tiles(B = 2, H = 2) {
    %by_S = spyre.hint tiles(S = 4) {
      %scores_empty = tensor.empty() : tensor<2x4x16x64xf16>
      %scores_from = arith.constant 0.0 : f16
      %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<2x4x16x64xf16>) -> tensor<2x4x16x64xf16>
      %scores = linalg.generic {indexing_maps = [#b_h_s_d, #b_h_d_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x4x16x64xf16>, tensor<2x4x64x64xf16>) outs(%scores_start : tensor<2x4x16x64xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %m = arith.mulf %left, %right : f16
        %r = arith.addf %m, %out : f16
        linalg.yield %r : f16
      } -> tensor<2x4x16x64xf16>
      %scaled_empty = tensor.empty() : tensor<2x4x16x64xf16>
      %scaled = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s_t_2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%scores : tensor<2x4x16x64xf16>) outs(%scaled_empty : tensor<2x4x16x64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %c = arith.constant 0.5 : f16
        %r = arith.mulf %left, %c : f16
        linalg.yield %r : f16
      } -> tensor<2x4x16x64xf16>
      spyre.yield %scaled : tensor<2x4x16x64xf16>
    }
    spyre.yield %by_S : tensor<2x4x16x64xf16>
  }
  return %by_B_H : tensor<2x4x16x64xf16>
}
// -----
// Two queries share a key: the right factor has no such dimension.
// INPUTS: integers
#b_g_s_d = affine_map<(b, g, s, t, d) -> (b, g, s, d)>
#b_d_t = affine_map<(b, g, s, t, d) -> (b, d, t)>
#b_g_s_t = affine_map<(b, g, s, t, d) -> (b, g, s, t)>
func.func @shared_heads(%q: tensor<2x2x16x64xf16> {spyre.dims = ["B", "G", "S", "D"]},
                        %k: tensor<2x64x64xf16> {spyre.dims = ["B", "D", "T"]})
    -> tensor<2x2x16x64xf16> {
  %tiled = spyre.hint tiles(B = 2, G = 2) {
    %scores_empty = tensor.empty() : tensor<2x2x16x64xf16>
    %scores_from = arith.constant 0.0 : f16
    %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<2x2x16x64xf16>) -> tensor<2x2x16x64xf16>
    %scores = linalg.generic {indexing_maps = [#b_g_s_d, #b_d_t, #b_g_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x2x16x64xf16>, tensor<2x64x64xf16>) outs(%scores_start : tensor<2x2x16x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %m = arith.mulf %left, %right : f16
      %r = arith.addf %m, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16x64xf16>
    spyre.yield %scores : tensor<2x2x16x64xf16>
  }
  return %tiled : tensor<2x2x16x64xf16>
}
// -----
// Products and softmax of all heads and batches.
#b_h_s_d = affine_map<(b, h, s, t, d) -> (b, h, s, d)>
#b_h_d_t = affine_map<(b, h, s, t, d) -> (b, h, d, t)>
#b_h_s_t = affine_map<(b, h, s, t, d) -> (b, h, s, t)>
#b_h_s_t_2 = affine_map<(b, h, s, t) -> (b, h, s, t)>
#b_h_s = affine_map<(b, h, s, t) -> (b, h, s)>
#b_h_s_t_3 = affine_map<(b, h, s, e, t) -> (b, h, s, t)>
#b_h_t_e = affine_map<(b, h, s, e, t) -> (b, h, t, e)>
#b_h_s_e = affine_map<(b, h, s, e, t) -> (b, h, s, e)>
func.func @attention(%q: tensor<2x2x16x64xf16> {spyre.dims = ["B", "H", "S", "D"]},
                     %k: tensor<2x2x64x64xf16> {spyre.dims = ["B", "H", "D", "T"]},
                     %v: tensor<2x2x64x64xf16> {spyre.dims = ["B", "H", "T", "E"]})
    -> tensor<2x2x16x64xf16> {
  %tiled = spyre.hint tiles(B = 2, H = 2) {
    %scores_empty = tensor.empty() : tensor<2x2x16x64xf16>
    %scores_from = arith.constant 0.0 : f16
    %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<2x2x16x64xf16>) -> tensor<2x2x16x64xf16>
    %scores = linalg.generic {indexing_maps = [#b_h_s_d, #b_h_d_t, #b_h_s_t], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x2x16x64xf16>, tensor<2x2x64x64xf16>) outs(%scores_start : tensor<2x2x16x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %m = arith.mulf %left, %right : f16
      %r = arith.addf %m, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16x64xf16>
    %scaled_empty = tensor.empty() : tensor<2x2x16x64xf16>
    %scaled = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s_t_2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores : tensor<2x2x16x64xf16>) outs(%scaled_empty : tensor<2x2x16x64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0078125 : f16
      %r = arith.mulf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16x64xf16>
    %max_empty = tensor.empty() : tensor<2x2x16xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<2x2x16xf16>) -> tensor<2x2x16xf16>
    %max = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%scaled : tensor<2x2x16x64xf16>) outs(%max_start : tensor<2x2x16xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16xf16>
    %shifted_empty = tensor.empty() : tensor<2x2x16x64xf16>
    %shifted = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s, #b_h_s_t_2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scaled, %max : tensor<2x2x16x64xf16>, tensor<2x2x16xf16>) outs(%shifted_empty : tensor<2x2x16x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16x64xf16>
    %exp_empty = tensor.empty() : tensor<2x2x16x64xf16>
    %exp = linalg.exp ins(%shifted : tensor<2x2x16x64xf16>) outs(%exp_empty : tensor<2x2x16x64xf16>) -> tensor<2x2x16x64xf16>
    %sum_empty = tensor.empty() : tensor<2x2x16xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<2x2x16xf16>) -> tensor<2x2x16xf16>
    %sum = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%exp : tensor<2x2x16x64xf16>) outs(%sum_start : tensor<2x2x16xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16xf16>
    %weights_empty = tensor.empty() : tensor<2x2x16x64xf16>
    %weights = linalg.generic {indexing_maps = [#b_h_s_t_2, #b_h_s, #b_h_s_t_2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<2x2x16x64xf16>, tensor<2x2x16xf16>) outs(%weights_empty : tensor<2x2x16x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16x64xf16>
    %context_empty = tensor.empty() : tensor<2x2x16x64xf16>
    %context_from = arith.constant 0.0 : f16
    %context_start = linalg.fill ins(%context_from : f16) outs(%context_empty : tensor<2x2x16x64xf16>) -> tensor<2x2x16x64xf16>
    %context = linalg.generic {indexing_maps = [#b_h_s_t_3, #b_h_t_e, #b_h_s_e], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%weights, %v : tensor<2x2x16x64xf16>, tensor<2x2x64x64xf16>) outs(%context_start : tensor<2x2x16x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %m = arith.mulf %left, %right : f16
      %r = arith.addf %m, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x2x16x64xf16>
    spyre.yield %context : tensor<2x2x16x64xf16>
  }
  return %tiled : tensor<2x2x16x64xf16>
}
