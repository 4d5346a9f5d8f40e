// Along the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @sum(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %reduced_empty = tensor.empty() : tensor<64xf16>
    %reduced_from = arith.constant 0.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64xf16>) -> tensor<64xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %reduced : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// Along the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @max(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %reduced_empty = tensor.empty() : tensor<64xf16>
    %reduced_from = arith.constant 0xFC00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64xf16>) -> tensor<64xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %reduced : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// Along the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @min(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %reduced_empty = tensor.empty() : tensor<64xf16>
    %reduced_from = arith.constant 0x7C00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64xf16>) -> tensor<64xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.minimumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %reduced : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// Along the stick: partial results of 4 tiles.
// INPUTS: powers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @prod(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %reduced_empty = tensor.empty() : tensor<64xf16>
    %reduced_from = arith.constant 1.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64xf16>) -> tensor<64xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.mulf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %reduced : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// Along the stick: partial results of 4 tiles.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
#a_2 = affine_map<(a) -> (a)>
func.func @mean(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %reduced_empty = tensor.empty() : tensor<64xf16>
    %reduced_from = arith.constant 0.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64xf16>) -> tensor<64xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %mean_empty = tensor.empty() : tensor<64xf16>
    %mean = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%reduced : tensor<64xf16>) outs(%mean_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 256.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %mean : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a_one = affine_map<(a, b) -> (a, 0)>
func.func @sum_in_output_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 4) {
    %reduced_empty = tensor.empty() : tensor<64x1xf16>
    %reduced_from = arith.constant 0.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64x1xf16>) -> tensor<64x1xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a_one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64x1xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64x1xf16>
    spyre.yield %reduced : tensor<64x1xf16>
  }
  return %tiled : tensor<64x1xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a_one = affine_map<(a, b) -> (a, 0)>
func.func @max_in_output_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 4) {
    %reduced_empty = tensor.empty() : tensor<64x1xf16>
    %reduced_from = arith.constant 0xFC00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64x1xf16>) -> tensor<64x1xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a_one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64x1xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64x1xf16>
    spyre.yield %reduced : tensor<64x1xf16>
  }
  return %tiled : tensor<64x1xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a_one = affine_map<(a, b) -> (a, 0)>
func.func @min_in_output_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 4) {
    %reduced_empty = tensor.empty() : tensor<64x1xf16>
    %reduced_from = arith.constant 0x7C00 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<64x1xf16>) -> tensor<64x1xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a_one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%reduced_start : tensor<64x1xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.minimumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64x1xf16>
    spyre.yield %reduced : tensor<64x1xf16>
  }
  return %tiled : tensor<64x1xf16>
}
// -----
// The accumulator is a tile of the result, and the dimension stays.
// INPUTS: powers
#a_b = affine_map<(a, b) -> (a, b)>
#a_one = affine_map<(a, b) -> (a, 0)>
func.func @prod_in_output_tiles(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x1xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 4) {
    %reduced_empty = tensor.empty() : tensor<128x1xf16>
    %reduced_from = arith.constant 1.0 : f16
    %reduced_start = linalg.fill ins(%reduced_from : f16) outs(%reduced_empty : tensor<128x1xf16>) -> tensor<128x1xf16>
    %reduced = linalg.generic {indexing_maps = [#a_b, #a_one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<128x256xf16>) outs(%reduced_start : tensor<128x1xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.mulf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<128x1xf16>
    spyre.yield %reduced : tensor<128x1xf16>
  }
  return %tiled : tensor<128x1xf16>
}
// -----
// The operand of the reduction is computed in the loop.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @sum_of_a_computed_value(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                   %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64xf16> {
  %tiled = spyre.hint tiles(B = 4) {
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
    spyre.yield %sum : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// The outer loop uses the complete sum.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @sum_used_behind_its_loop(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]},
                                    %y: tensor<128xf16> {spyre.dims = ["A"]})
    -> tensor<128xf16> {
  %tiled = spyre.hint tiles(A = 2) {
    %sums = spyre.hint tiles(B = 4) {
      %sum_empty = tensor.empty() : tensor<128xf16>
      %sum_from = arith.constant 0.0 : f16
      %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<128xf16>) -> tensor<128xf16>
      %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x256xf16>) outs(%sum_start : tensor<128xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<128xf16>
      spyre.yield %sum : tensor<128xf16>
    }
    %more_empty = tensor.empty() : tensor<128xf16>
    %more = linalg.add ins(%sums, %y : tensor<128xf16>, tensor<128xf16>) outs(%more_empty : tensor<128xf16>) -> tensor<128xf16>
    spyre.yield %more : tensor<128xf16>
  }
  return %tiled : tensor<128xf16>
}
// -----
// The elements that both reductions read are also a result.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @two_sums_in_one_loop(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> (tensor<64xf16>, tensor<64xf16>, tensor<64x256xf16>) {
  %s, %m, %e = spyre.hint tiles(B = 4) {
    %difference_empty = tensor.empty() : tensor<64x256xf16>
    %difference = linalg.sub ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%difference_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%difference : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %largest_empty = tensor.empty() : tensor<64xf16>
    %largest_from = arith.constant 0xFC00 : f16
    %largest_start = linalg.fill ins(%largest_from : f16) outs(%largest_empty : tensor<64xf16>) -> tensor<64xf16>
    %largest = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%difference : tensor<64x256xf16>) outs(%largest_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %sum, %largest, %difference : tensor<64xf16>, tensor<64xf16>, tensor<64x256xf16>
  }
  return %s, %m, %e : tensor<64xf16>, tensor<64xf16>, tensor<64x256xf16>
}
// -----
// Two dimensions are reduced, one of them is tiled.
// INPUTS: integers
#c_a_b = affine_map<(c, a, b) -> (c, a, b)>
#c = affine_map<(c, a, b) -> (c)>
func.func @sum_of_both_dims(%x: tensor<4x16x256xf16> {spyre.dims = ["C", "A", "B"]}) -> tensor<4xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %sum_empty = tensor.empty() : tensor<4xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<4xf16>) -> tensor<4xf16>
    %sum = linalg.generic {indexing_maps = [#c_a_b, #c], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<4x16x256xf16>) outs(%sum_start : tensor<4xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<4xf16>
    spyre.yield %sum : tensor<4xf16>
  }
  return %tiled : tensor<4xf16>
}
