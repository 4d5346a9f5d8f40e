// The second example of the seed on working sets: the left factor is an argument of one dimension.
// INPUTS: integers
func.func @one_dim_of_two_names(%flat: tensor<16384xf16> {spyre.dims = ["M", "K"]},
                                %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]},
                                %z: tensor<64x128xf16> {spyre.dims = ["M", "N"]})
    -> tensor<64x128xf16> attributes {spyre.dim_sizes = {M = 64, K = 256}} {
  %sum = spyre.hint tiles(M = 8, K = 4) {
    %x = tensor.expand_shape %flat [[0, 1]] output_shape [64, 256] : tensor<16384xf16> into tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    %added_empty = tensor.empty() : tensor<64x128xf16>
    %added = linalg.add ins(%product, %z : tensor<64x128xf16>, tensor<64x128xf16>) outs(%added_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %added : tensor<64x128xf16>
  }
  return %sum : tensor<64x128xf16>
}
// -----
// The view stands before the scope.
// INPUTS: integers
func.func @one_dim_of_two_names_outside(%flat: tensor<16384xf16> {spyre.dims = ["M", "K"]},
                                        %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> attributes {spyre.dim_sizes = {M = 64, K = 256}} {
  %x = tensor.expand_shape %flat [[0, 1]] output_shape [64, 256] : tensor<16384xf16> into tensor<64x256xf16>
  %tiled = spyre.hint tiles(M = 8, K = 4) {
    %product_empty = tensor.empty() : tensor<64x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %product : tensor<64x128xf16>
  }
  return %tiled : tensor<64x128xf16>
}
// -----
// An argument read under exchanged dimensions.
// INPUTS: integers
#b_a = affine_map<(a, b) -> (b, a)>
#a_b = affine_map<(a, b) -> (a, b)>
func.func @transposed_argument(%x: tensor<128x64xf16> {spyre.dims = ["B", "A"]},
                               %y: tensor<64x128xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x128xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %sum_empty = tensor.empty() : tensor<64x128xf16>
    %sum = linalg.generic {indexing_maps = [#b_a, #a_b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<128x64xf16>, tensor<64x128xf16>) outs(%sum_empty : tensor<64x128xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x128xf16>
    spyre.yield %sum : tensor<64x128xf16>
  }
  return %tiled : tensor<64x128xf16>
}
// -----
// Scores of queries and keys: the right factor is read as columns.
// INPUTS: integers
#h_s_d = affine_map<(h, s, t, d) -> (h, s, d)>
#h_t_d = affine_map<(h, s, t, d) -> (h, t, d)>
#h_s_t = affine_map<(h, s, t, d) -> (h, s, t)>
func.func @transposed_key(%q: tensor<2x32x64xf16> {spyre.dims = ["H", "S", "D"]},
                          %k: tensor<2x64x64xf16> {spyre.dims = ["H", "T", "D"]})
    -> tensor<2x32x64xf16> {
  %tiled = spyre.hint tiles(H = 2, S = 4) {
    %scores_empty = tensor.empty() : tensor<2x32x64xf16>
    %scores_from = arith.constant 0.0 : f16
    %scores_start = linalg.fill ins(%scores_from : f16) outs(%scores_empty : tensor<2x32x64xf16>) -> tensor<2x32x64xf16>
    %scores = linalg.generic {indexing_maps = [#h_s_d, #h_t_d, #h_s_t], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x32x64xf16>, tensor<2x64x64xf16>) outs(%scores_start : tensor<2x32x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %m = arith.mulf %left, %right : f16
      %r = arith.addf %m, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x32x64xf16>
    spyre.yield %scores : tensor<2x32x64xf16>
  }
  return %tiled : tensor<2x32x64xf16>
}
// -----
// Rows of rows become one dimension.
// INPUTS: integers
func.func @merged_in_a_scope(%x: tensor<4x16x128xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<64x128xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %negative_empty = tensor.empty() : tensor<4x16x128xf16>
    %negative = linalg.negf ins(%x : tensor<4x16x128xf16>) outs(%negative_empty : tensor<4x16x128xf16>) -> tensor<4x16x128xf16>
    %flat = tensor.collapse_shape %negative [[0, 1], [2]] : tensor<4x16x128xf16> into tensor<64x128xf16>
    %sum_empty = tensor.empty() : tensor<64x128xf16>
    %sum = linalg.add ins(%flat, %flat : tensor<64x128xf16>, tensor<64x128xf16>) outs(%sum_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %sum : tensor<64x128xf16>
  }
  return %tiled : tensor<64x128xf16>
}
// -----
// Columns become heads, which come first.
// INPUTS: integers
#s_h_d = affine_map<(h, s, e, d) -> (s, h, d)>
#h_d_e = affine_map<(h, s, e, d) -> (h, d, e)>
#h_s_e = affine_map<(h, s, e, d) -> (h, s, e)>
func.func @heads_of_a_projection(%x: tensor<64x128xf16> {spyre.dims = ["S", "H", "D"]},
                                 %w: tensor<2x64x64xf16> {spyre.dims = ["H", "D", "E"]})
    -> tensor<2x64x64xf16> attributes {spyre.dim_sizes = {S = 64, H = 2, D = 64}} {
  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [64, 2, 64] : tensor<64x128xf16> into tensor<64x2x64xf16>
  %tiled = spyre.hint tiles(H = 2, S = 2) {
    %heads_empty = tensor.empty() : tensor<2x64x64xf16>
    %heads_from = arith.constant 0.0 : f16
    %heads_start = linalg.fill ins(%heads_from : f16) outs(%heads_empty : tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
    %heads = linalg.generic {indexing_maps = [#s_h_d, #h_d_e, #h_s_e], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%split, %w : tensor<64x2x64xf16>, tensor<2x64x64xf16>) outs(%heads_start : tensor<2x64x64xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %m = arith.mulf %left, %right : f16
      %r = arith.addf %m, %out : f16
      linalg.yield %r : f16
    } -> tensor<2x64x64xf16>
    spyre.yield %heads : tensor<2x64x64xf16>
  }
  return %tiled : tensor<2x64x64xf16>
}
// -----
// The lower rows of an argument; the rows have another size, so only the columns keep their name.
// INPUTS: integers
func.func @slice_of_an_argument(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                %y: tensor<32x256xf16> {spyre.dims = ["", "B"]})
    -> tensor<32x256xf16> {
  %part = tensor.extract_slice %x[32, 0] [32, 256] [1, 1] : tensor<64x256xf16> to tensor<32x256xf16>
  %tiled = spyre.hint tiles(B = 4) {
    %sum_empty = tensor.empty() : tensor<32x256xf16>
    %sum = linalg.add ins(%part, %y : tensor<32x256xf16>, tensor<32x256xf16>) outs(%sum_empty : tensor<32x256xf16>) -> tensor<32x256xf16>
    spyre.yield %sum : tensor<32x256xf16>
  }
  return %tiled : tensor<32x256xf16>
}
