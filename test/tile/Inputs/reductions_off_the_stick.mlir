// Off the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @sum(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %reduced_empty = tensor.empty() : tensor<256xf16>
    %reduced_from = arith.constant 0.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<256xf16>) -> tensor<256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %reduced : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// Off the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @max(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %reduced_empty = tensor.empty() : tensor<256xf16>
    %reduced_from = arith.constant 0xFC00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<256xf16>) -> tensor<256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %reduced : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// Off the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @min(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %reduced_empty = tensor.empty() : tensor<256xf16>
    %reduced_from = arith.constant 0x7C00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<256xf16>) -> tensor<256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.minimumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %reduced : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// Off the stick: partial results of 4 tiles.
// INPUTS: powers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @prod(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %reduced_empty = tensor.empty() : tensor<256xf16>
    %reduced_from = arith.constant 1.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<256xf16>) -> tensor<256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.mulf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %reduced : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// Off the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
#b_2 = affine_map<(b) -> (b)>
func.func @mean(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %reduced_empty = tensor.empty() : tensor<256xf16>
    %reduced_from = arith.constant 0.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<256xf16>) -> tensor<256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %mean_empty = tensor.empty() : tensor<256xf16>
    %mean = linalg.generic {indexing_maps = [#b_2, #b_2], iterator_types = ["parallel"]}
      ins(%reduced : tensor<256xf16>) outs(%mean_empty : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 64.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %mean : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#one_b = affine_map<(a, b) -> (0, b)>
func.func @sum_in_output_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<1x256xf16> {
  %tiled = spyre.hint tiles(B = 2, A = 4) {
    %reduced_empty = tensor.empty() : tensor<1x256xf16>
    %reduced_from = arith.constant 0.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<1x256xf16>) -> tensor<1x256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #one_b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<1x256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<1x256xf16>
    spyre.yield %reduced : tensor<1x256xf16>
  }
  return %tiled : tensor<1x256xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#one_b = affine_map<(a, b) -> (0, b)>
func.func @max_in_output_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<1x256xf16> {
  %tiled = spyre.hint tiles(B = 2, A = 4) {
    %reduced_empty = tensor.empty() : tensor<1x256xf16>
    %reduced_from = arith.constant 0xFC00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<1x256xf16>) -> tensor<1x256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #one_b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<1x256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<1x256xf16>
    spyre.yield %reduced : tensor<1x256xf16>
  }
  return %tiled : tensor<1x256xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#one_b = affine_map<(a, b) -> (0, b)>
func.func @min_in_output_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<1x256xf16> {
  %tiled = spyre.hint tiles(B = 2, A = 4) {
    %reduced_empty = tensor.empty() : tensor<1x256xf16>
    %reduced_from = arith.constant 0x7C00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<1x256xf16>) -> tensor<1x256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #one_b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<1x256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.minimumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<1x256xf16>
    spyre.yield %reduced : tensor<1x256xf16>
  }
  return %tiled : tensor<1x256xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: powers
#a_b = affine_map<(a, b) -> (a, b)>
#one_b = affine_map<(a, b) -> (0, b)>
func.func @prod_in_output_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<1x256xf16> {
  %tiled = spyre.hint tiles(B = 2, A = 4) {
    %reduced_empty = tensor.empty() : tensor<1x256xf16>
    %reduced_from = arith.constant 1.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<1x256xf16>) -> tensor<1x256xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #one_b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<1x256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.mulf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<1x256xf16>
    spyre.yield %reduced : tensor<1x256xf16>
  }
  return %tiled : tensor<1x256xf16>
}
// -----
// The operand of the reduction is computed in the loop.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @sum_of_a_computed_value(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                   %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<256xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%product : tensor<64x256xf16>) outs(%sum_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %sum : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// The outer loop uses the complete sum.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @sum_used_behind_its_loop(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                    %y: tensor<256xf16> {spyre.dims = ["B"]})
    -> tensor<256xf16> {
  %tiled = spyre.hint tiles(B = 2) {
    %sums = spyre.hint tiles(A = 4) {
      %sum_empty = tensor.empty() : tensor<256xf16>
      %sum_from = arith.constant 0.0 : f16
      %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<256xf16>) -> tensor<256xf16>
      %sum = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<64x256xf16>) outs(%sum_start : tensor<256xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<256xf16>
      spyre.yield %sum : tensor<256xf16>
    }
    %more_empty = tensor.empty() : tensor<256xf16>
    %more = linalg.add ins(%sums, %y : tensor<256xf16>, tensor<256xf16>) outs(%more_empty : tensor<256xf16>) -> tensor<256xf16>
    spyre.yield %more : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// The elements that both reductions read are also a result.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @two_sums_in_one_loop(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> (tensor<256xf16>, tensor<256xf16>, tensor<64x256xf16>) {
  %s, %m, %e = spyre.hint tiles(A = 4) {
    %difference_empty = tensor.empty() : tensor<64x256xf16>
    %difference = linalg.sub ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%difference_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<256xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%difference : tensor<64x256xf16>) outs(%sum_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %largest_empty = tensor.empty() : tensor<256xf16>
    %largest_from = arith.constant 0xFC00 : f16
    %largest_start = linalg.fill ins(%largest_from : f16) outs(%largest_empty : tensor<256xf16>) -> tensor<256xf16>
    %largest = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%difference : tensor<64x256xf16>) outs(%largest_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %sum, %largest, %difference : tensor<256xf16>, tensor<256xf16>, tensor<64x256xf16>
  }
  return %s, %m, %e : tensor<256xf16>, tensor<256xf16>, tensor<64x256xf16>
}
// -----
// The dimension lies between two others, and its tiles have one row.
// INPUTS: integers
#c_a_b = affine_map<(c, a, b) -> (c, a, b)>
#c_b = affine_map<(c, a, b) -> (c, b)>
func.func @sum_of_the_middle(%x: tensor<4x16x128xf16> {spyre.dims = ["C", "A", "B"]}) -> tensor<4x128xf16> {
  %tiled = spyre.hint tiles(C = 2, A = 16) {
    %sum_empty = tensor.empty() : tensor<4x128xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<4x128xf16>) -> tensor<4x128xf16>
    %sum = linalg.generic {indexing_maps = [#c_a_b, #c_b], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<4x16x128xf16>) outs(%sum_start : tensor<4x128xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<4x128xf16>
    spyre.yield %sum : tensor<4x128xf16>
  }
  return %tiled : tensor<4x128xf16>
}
