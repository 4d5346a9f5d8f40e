// Product, softmax, product: each tile has some of the queries.
#s_t = affine_map<(s, t) -> (s, t)>
#s = affine_map<(s, t) -> (s)>
func.func @rows(%q: tensor<32x64xf16> {spyre.dims = ["S", "D"]},
                %k: tensor<64x64xf16> {spyre.dims = ["D", "T"]},
                %v: tensor<64x64xf16> {spyre.dims = ["T", "E"]})
    -> tensor<32x64xf16> {
  %by_S = spyre.hint tiles(S = 4) {
    %scores_empty = tensor.empty() : tensor<32x64xf16>
    %scores_from = arith.constant 0.0 : f16
    %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<32x64xf16>) -> tensor<32x64xf16>
    %scores = linalg.matmul ins(%q, %k : tensor<32x64xf16>, tensor<64x64xf16>) outs(%scores_start : tensor<32x64xf16>) -> tensor<32x64xf16>
    %scaled_empty = tensor.empty() : tensor<32x64xf16>
    %scaled = linalg.generic {indexing_maps = [#s_t, #s_t], iterator_types = ["parallel", "parallel"]}
      ins(%scores : tensor<32x64xf16>) outs(%scaled_empty : tensor<32x64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0078125 : f16
      %r = arith.mulf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<32x64xf16>
    %max_empty = tensor.empty() : tensor<32xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<32xf16>) -> tensor<32xf16>
    %max = linalg.generic {indexing_maps = [#s_t, #s], iterator_types = ["parallel", "reduction"]}
      ins(%scaled : tensor<32x64xf16>) outs(%max_start : tensor<32xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<32xf16>
    %shifted_empty = tensor.empty() : tensor<32x64xf16>
    %shifted = linalg.generic {indexing_maps = [#s_t, #s, #s_t], iterator_types = ["parallel", "parallel"]}
      ins(%scaled, %max : tensor<32x64xf16>, tensor<32xf16>) outs(%shifted_empty : tensor<32x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<32x64xf16>
    %exp_empty = tensor.empty() : tensor<32x64xf16>
    %exp = linalg.exp ins(%shifted : tensor<32x64xf16>) outs(%exp_empty : tensor<32x64xf16>) -> tensor<32x64xf16>
    %sum_empty = tensor.empty() : tensor<32xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<32xf16>) -> tensor<32xf16>
    %sum = linalg.generic {indexing_maps = [#s_t, #s], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<32x64xf16>) outs(%sum_start : tensor<32xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<32xf16>
    %weights_empty = tensor.empty() : tensor<32x64xf16>
    %weights = linalg.generic {indexing_maps = [#s_t, #s, #s_t], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<32x64xf16>, tensor<32xf16>) outs(%weights_empty : tensor<32x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<32x64xf16>
    %context_empty = tensor.empty() : tensor<32x64xf16>
    %context_from = arith.constant 0.0 : f16
    %context_start = linalg.fill ins(%context_from : f16) outs(%context_empty : tensor<32x64xf16>) -> tensor<32x64xf16>
    %context = linalg.matmul ins(%weights, %v : tensor<32x64xf16>, tensor<64x64xf16>) outs(%context_start : tensor<32x64xf16>) -> tensor<32x64xf16>
    spyre.yield %context : tensor<32x64xf16>
  }
  return %by_S : tensor<32x64xf16>
}
// -----
// Each tile is one head.
#h_s_t = affine_map<(h, s, t) -> (h, s, t)>
#h_s = affine_map<(h, s, t) -> (h, s)>
func.func @heads(%q: tensor<4x32x64xf16> {spyre.dims = ["H", "S", "D"]},
                 %k: tensor<4x64x64xf16> {spyre.dims = ["H", "D", "T"]},
                 %v: tensor<4x64x64xf16> {spyre.dims = ["H", "T", "E"]})
    -> tensor<4x32x64xf16> {
  %by_H = spyre.hint tiles(H = 4) {
    %scores_empty = tensor.empty() : tensor<4x32x64xf16>
    %scores_from = arith.constant 0.0 : f16
    %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
    %scores = linalg.batch_matmul ins(%q, %k : tensor<4x32x64xf16>, tensor<4x64x64xf16>) outs(%scores_start : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
    %scaled_empty = tensor.empty() : tensor<4x32x64xf16>
    %scaled = linalg.generic {indexing_maps = [#h_s_t, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<4x32x64xf16>) outs(%scaled_empty : tensor<4x32x64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0078125 : f16
      %r = arith.mulf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<4x32x64xf16>
    %max_empty = tensor.empty() : tensor<4x32xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<4x32xf16>) -> tensor<4x32xf16>
    %max = linalg.generic {indexing_maps = [#h_s_t, #h_s], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scaled : tensor<4x32x64xf16>) outs(%max_start : tensor<4x32xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<4x32xf16>
    %shifted_empty = tensor.empty() : tensor<4x32x64xf16>
    %shifted = linalg.generic {indexing_maps = [#h_s_t, #h_s, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scaled, %max : tensor<4x32x64xf16>, tensor<4x32xf16>) outs(%shifted_empty : tensor<4x32x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<4x32x64xf16>
    %exp_empty = tensor.empty() : tensor<4x32x64xf16>
    %exp = linalg.exp ins(%shifted : tensor<4x32x64xf16>) outs(%exp_empty : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
    %sum_empty = tensor.empty() : tensor<4x32xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<4x32xf16>) -> tensor<4x32xf16>
    %sum = linalg.generic {indexing_maps = [#h_s_t, #h_s], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<4x32x64xf16>) outs(%sum_start : tensor<4x32xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<4x32xf16>
    %weights_empty = tensor.empty() : tensor<4x32x64xf16>
    %weights = linalg.generic {indexing_maps = [#h_s_t, #h_s, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x32x64xf16>, tensor<4x32xf16>) outs(%weights_empty : tensor<4x32x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<4x32x64xf16>
    %context_empty = tensor.empty() : tensor<4x32x64xf16>
    %context_from = arith.constant 0.0 : f16
    %context_start = linalg.fill ins(%context_from : f16) outs(%context_empty : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
    %context = linalg.batch_matmul ins(%weights, %v : tensor<4x32x64xf16>, tensor<4x64x64xf16>) outs(%context_start : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
    spyre.yield %context : tensor<4x32x64xf16>
  }
  return %by_H : tensor<4x32x64xf16>
}
// -----
// Queries in heads.
#h_s_t = affine_map<(h, s, t) -> (h, s, t)>
#h_s = affine_map<(h, s, t) -> (h, s)>
func.func @heads_and_rows(%q: tensor<4x32x64xf16> {spyre.dims = ["H", "S", "D"]},
                          %k: tensor<4x64x64xf16> {spyre.dims = ["H", "D", "T"]},
                          %v: tensor<4x64x64xf16> {spyre.dims = ["H", "T", "E"]})
    -> tensor<4x32x64xf16> {
  %by_H = spyre.hint tiles(H = 2) {
    %by_S = spyre.hint tiles(S = 2) {
      %scores_empty = tensor.empty() : tensor<4x32x64xf16>
      %scores_from = arith.constant 0.0 : f16
      %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
      %scores = linalg.batch_matmul ins(%q, %k : tensor<4x32x64xf16>, tensor<4x64x64xf16>) outs(%scores_start : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
      %scaled_empty = tensor.empty() : tensor<4x32x64xf16>
      %scaled = linalg.generic {indexing_maps = [#h_s_t, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%scores : tensor<4x32x64xf16>) outs(%scaled_empty : tensor<4x32x64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %c = arith.constant 0.0078125 : f16
        %r = arith.mulf %left, %c : f16
        linalg.yield %r : f16
      } -> tensor<4x32x64xf16>
      %max_empty = tensor.empty() : tensor<4x32xf16>
      %max_from = arith.constant 0xFC00 : f16
      %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<4x32xf16>) -> tensor<4x32xf16>
      %max = linalg.generic {indexing_maps = [#h_s_t, #h_s], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%scaled : tensor<4x32x64xf16>) outs(%max_start : tensor<4x32xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.maximumf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<4x32xf16>
      %shifted_empty = tensor.empty() : tensor<4x32x64xf16>
      %shifted = linalg.generic {indexing_maps = [#h_s_t, #h_s, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%scaled, %max : tensor<4x32x64xf16>, tensor<4x32xf16>) outs(%shifted_empty : tensor<4x32x64xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %r = arith.subf %left, %right : f16
        linalg.yield %r : f16
      } -> tensor<4x32x64xf16>
      %exp_empty = tensor.empty() : tensor<4x32x64xf16>
      %exp = linalg.exp ins(%shifted : tensor<4x32x64xf16>) outs(%exp_empty : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
      %sum_empty = tensor.empty() : tensor<4x32xf16>
      %sum_from = arith.constant 0.0 : f16
      %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<4x32xf16>) -> tensor<4x32xf16>
      %sum = linalg.generic {indexing_maps = [#h_s_t, #h_s], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%exp : tensor<4x32x64xf16>) outs(%sum_start : tensor<4x32xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<4x32xf16>
      %weights_empty = tensor.empty() : tensor<4x32x64xf16>
      %weights = linalg.generic {indexing_maps = [#h_s_t, #h_s, #h_s_t], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%exp, %sum : tensor<4x32x64xf16>, tensor<4x32xf16>) outs(%weights_empty : tensor<4x32x64xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %r = arith.divf %left, %right : f16
        linalg.yield %r : f16
      } -> tensor<4x32x64xf16>
      %context_empty = tensor.empty() : tensor<4x32x64xf16>
      %context_from = arith.constant 0.0 : f16
      %context_start = linalg.fill ins(%context_from : f16) outs(%context_empty : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
      %context = linalg.batch_matmul ins(%weights, %v : tensor<4x32x64xf16>, tensor<4x64x64xf16>) outs(%context_start : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
      spyre.yield %context : tensor<4x32x64xf16>
    }
    spyre.yield %by_S : tensor<4x32x64xf16>
  }
  return %by_H : tensor<4x32x64xf16>
}
