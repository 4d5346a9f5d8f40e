// The reduced dimension is the outer loop (TS-3678).
// INPUTS: integers
#a_b_c = affine_map<(a, b, c) -> (a, b, c)>
#b_c = affine_map<(a, b, c) -> (b, c)>
func.func @reduced_outside(%x: tensor<4x16x128xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<16x128xf16> {
  %by_A = spyre.hint tiles(A = 2) {
    %by_B = spyre.hint tiles(B = 4) {
      %sum_empty = tensor.empty() : tensor<16x128xf16>
      %sum_from = arith.constant 0.0 : f16
      %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<16x128xf16>) -> tensor<16x128xf16>
      %sum = linalg.generic {indexing_maps = [#a_b_c, #b_c], iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%x : tensor<4x16x128xf16>) outs(%sum_start : tensor<16x128xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<16x128xf16>
      spyre.yield %sum : tensor<16x128xf16>
    }
    spyre.yield %by_B : tensor<16x128xf16>
  }
  return %by_A : tensor<16x128xf16>
}
// -----
// The reduced dimension lies between two of the result.
// INPUTS: integers
#a_b_c = affine_map<(a, b, c) -> (a, b, c)>
#a_c = affine_map<(a, b, c) -> (a, c)>
func.func @reduced_between(%x: tensor<4x16x128xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<4x128xf16> {
  %by_A = spyre.hint tiles(A = 2) {
    %by_B = spyre.hint tiles(B = 4) {
      %by_C = spyre.hint tiles(C = 2) {
        %sum_empty = tensor.empty() : tensor<4x128xf16>
        %sum_from = arith.constant 0.0 : f16
        %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<4x128xf16>) -> tensor<4x128xf16>
        %sum = linalg.generic {indexing_maps = [#a_b_c, #a_c], iterator_types = ["parallel", "reduction", "parallel"]}
          ins(%x : tensor<4x16x128xf16>) outs(%sum_start : tensor<4x128xf16>) {
        ^bb0(%left: f16, %out: f16):
          %r = arith.addf %left, %out : f16
          linalg.yield %r : f16
        } -> tensor<4x128xf16>
        spyre.yield %sum : tensor<4x128xf16>
      }
      spyre.yield %by_C : tensor<4x128xf16>
    }
    spyre.yield %by_B : tensor<4x128xf16>
  }
  return %by_A : tensor<4x128xf16>
}
// -----
// A dimension of the result lies between two reduced ones.
// INPUTS: integers
#a_b_c = affine_map<(a, b, c) -> (a, b, c)>
#b = affine_map<(a, b, c) -> (b)>
func.func @kept_between(%x: tensor<4x16x128xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<16xf16> {
  %by_A = spyre.hint tiles(A = 2) {
    %by_B = spyre.hint tiles(B = 4) {
      %by_C = spyre.hint tiles(C = 2) {
        %sum_empty = tensor.empty() : tensor<16xf16>
        %sum_from = arith.constant 0.0 : f16
        %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<16xf16>) -> tensor<16xf16>
        %sum = linalg.generic {indexing_maps = [#a_b_c, #b], iterator_types = ["reduction", "parallel", "reduction"]}
          ins(%x : tensor<4x16x128xf16>) outs(%sum_start : tensor<16xf16>) {
        ^bb0(%left: f16, %out: f16):
          %r = arith.addf %left, %out : f16
          linalg.yield %r : f16
        } -> tensor<16xf16>
        spyre.yield %sum : tensor<16xf16>
      }
      spyre.yield %by_C : tensor<16xf16>
    }
    spyre.yield %by_B : tensor<16xf16>
  }
  return %by_A : tensor<16xf16>
}
// -----
// Two reduced dimensions, one loop in the other.
// INPUTS: integers
#a_b_c = affine_map<(a, b, c) -> (a, b, c)>
#b = affine_map<(a, b, c) -> (b)>
func.func @two_reduced(%x: tensor<4x16x128xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<16xf16> {
  %by_A = spyre.hint tiles(A = 2) {
    %by_C = spyre.hint tiles(C = 2) {
      %sum_empty = tensor.empty() : tensor<16xf16>
      %sum_from = arith.constant 0.0 : f16
      %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<16xf16>) -> tensor<16xf16>
      %sum = linalg.generic {indexing_maps = [#a_b_c, #b], iterator_types = ["reduction", "parallel", "reduction"]}
        ins(%x : tensor<4x16x128xf16>) outs(%sum_start : tensor<16xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<16xf16>
      spyre.yield %sum : tensor<16xf16>
    }
    spyre.yield %by_C : tensor<16xf16>
  }
  return %by_A : tensor<16xf16>
}
// -----
// K is the outer loop.
// INPUTS: integers
func.func @product_contracted_outside(%x: tensor<32x128xf16> {spyre.dims = ["M", "K"]},
                                      %y: tensor<128x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<32x128xf16> {
  %by_K = spyre.hint tiles(K = 2) {
    %by_M = spyre.hint tiles(M = 4) {
      %product_empty = tensor.empty() : tensor<32x128xf16>
      %product_from = arith.constant 0.0 : f16
      %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<32x128xf16>) -> tensor<32x128xf16>
      %product = linalg.matmul ins(%x, %y : tensor<32x128xf16>, tensor<128x128xf16>) outs(%product_start : tensor<32x128xf16>) -> tensor<32x128xf16>
      spyre.yield %product : tensor<32x128xf16>
    }
    spyre.yield %by_M : tensor<32x128xf16>
  }
  return %by_K : tensor<32x128xf16>
}
// -----
// K lies between M and N.
// INPUTS: integers
func.func @product_contracted_between(%x: tensor<32x128xf16> {spyre.dims = ["M", "K"]},
                                      %y: tensor<128x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<32x128xf16> {
  %by_M = spyre.hint tiles(M = 4) {
    %by_K = spyre.hint tiles(K = 2) {
      %by_N = spyre.hint tiles(N = 2) {
        %product_empty = tensor.empty() : tensor<32x128xf16>
        %product_from = arith.constant 0.0 : f16
        %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<32x128xf16>) -> tensor<32x128xf16>
        %product = linalg.matmul ins(%x, %y : tensor<32x128xf16>, tensor<128x128xf16>) outs(%product_start : tensor<32x128xf16>) -> tensor<32x128xf16>
        spyre.yield %product : tensor<32x128xf16>
      }
      spyre.yield %by_N : tensor<32x128xf16>
    }
    spyre.yield %by_K : tensor<32x128xf16>
  }
  return %by_M : tensor<32x128xf16>
}
// -----
// Two reductions of one dimension, the second of what depends on the first, in loops of rows.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @max_then_sum(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %tiled = spyre.hint tiles(A = 4, B = 4) {
    %max_empty = tensor.empty() : tensor<64xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<64xf16>) -> tensor<64xf16>
    %max = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x256xf16>, tensor<64xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %exp_empty = tensor.empty() : tensor<64x256xf16>
    %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %sum : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// A dimension that one op of the group reduces and another keeps.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @reduced_and_kept_at_one_level(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                         %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> (tensor<64xf16>, tensor<64x256xf16>) {
  %s, %e = spyre.hint tiles(B = 4) {
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%product : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %negative_empty = tensor.empty() : tensor<64x256xf16>
    %negative = linalg.negf ins(%product : tensor<64x256xf16>) outs(%negative_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %sum, %negative : tensor<64xf16>, tensor<64x256xf16>
  }
  return %s, %e : tensor<64xf16>, tensor<64x256xf16>
}
