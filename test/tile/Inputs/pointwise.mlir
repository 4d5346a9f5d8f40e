// The example of the seed on coarse tiling: two rows of tiles, four in each.
// INPUTS: integers
func.func @add_mul(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                   %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                   %z: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %outer = spyre.hint tiles(A = 2) {
    %inner = spyre.hint tiles(B = 4) {
      %sum_empty = tensor.empty() : tensor<64x256xf16>
      %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      %product_empty = tensor.empty() : tensor<64x256xf16>
      %product = linalg.mul ins(%sum, %z : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      spyre.yield %product : tensor<64x256xf16>
    }
    spyre.yield %inner : tensor<64x256xf16>
  }
  return %outer : tensor<64x256xf16>
}
// -----
// Two dimensions of one scope are two loops.
// INPUTS: integers
func.func @add_mul_in_one_scope(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                %z: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 4) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%sum, %z : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The inner loop is along the outer dimension of the tensor.
// INPUTS: integers
func.func @columns_outside(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                           %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                           %z: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(B = 4, A = 2) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%sum, %z : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The sum is read in its loop, behind it and by the caller.
// INPUTS: integers
func.func @used_inside_and_outside(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                   %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %sums, %products = spyre.hint tiles(A = 4) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%sum, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %sum, %product : tensor<64x256xf16>, tensor<64x256xf16>
  }
  %difference_empty = tensor.empty() : tensor<64x256xf16>
  %difference = linalg.sub ins(%sums, %products : tensor<64x256xf16>, tensor<64x256xf16>) outs(%difference_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
  return %sums, %difference : tensor<64x256xf16>, tensor<64x256xf16>
}
// -----
// The row has no rows: its op is the same in every iteration.
// INPUTS: integers
#b = affine_map<(b) -> (b)>
#a_b = affine_map<(a, b) -> (a, b)>
#b_2 = affine_map<(a, b) -> (b)>
func.func @loop_invariant_op(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                             %row: tensor<256xf16> {spyre.dims = ["B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %positive_empty = tensor.empty() : tensor<256xf16>
    %positive = linalg.generic {indexing_maps = [#b, #b], iterator_types = ["parallel"]}
      ins(%row : tensor<256xf16>) outs(%positive_empty : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0 : f16
      %r = arith.maximumf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b_2, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %positive : tensor<64x256xf16>, tensor<256xf16>) outs(%sum_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %sum : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// As above, and the caller wants the row.
// INPUTS: integers
#b = affine_map<(b) -> (b)>
#a_b = affine_map<(a, b) -> (a, b)>
#b_2 = affine_map<(a, b) -> (b)>
func.func @loop_invariant_op_used_outside(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                          %row: tensor<256xf16> {spyre.dims = ["B"]})
    -> (tensor<256xf16>, tensor<64x256xf16>) {
  %rows, %tiled = spyre.hint tiles(A = 4) {
    %positive_empty = tensor.empty() : tensor<256xf16>
    %positive = linalg.generic {indexing_maps = [#b, #b], iterator_types = ["parallel"]}
      ins(%row : tensor<256xf16>) outs(%positive_empty : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0 : f16
      %r = arith.maximumf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b_2, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %positive : tensor<64x256xf16>, tensor<256xf16>) outs(%sum_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %positive, %sum : tensor<256xf16>, tensor<64x256xf16>
  }
  return %rows, %tiled : tensor<256xf16>, tensor<64x256xf16>
}
// -----
// A row, a column and a number.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
#a_one = affine_map<(a, b) -> (a, 0)>
#one_one = affine_map<(a, b) -> (0, 0)>
func.func @broadcast_operands(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                              %row: tensor<256xf16> {spyre.dims = ["B"]},
                              %column: tensor<64x1xf16> {spyre.dims = ["A", ""]},
                              %number: tensor<1x1xf16>)
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 2) {
    %v0_empty = tensor.empty() : tensor<64x256xf16>
    %v0 = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : tensor<64x256xf16>, tensor<256xf16>) outs(%v0_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %v1_empty = tensor.empty() : tensor<64x256xf16>
    %v1 = linalg.generic {indexing_maps = [#a_b, #a_one, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%v0, %column : tensor<64x256xf16>, tensor<64x1xf16>) outs(%v1_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %v2_empty = tensor.empty() : tensor<64x256xf16>
    %v2 = linalg.generic {indexing_maps = [#a_b, #one_one, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%v1, %number : tensor<64x256xf16>, tensor<1x1xf16>) outs(%v2_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %v2 : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// 64 rows in 2 x 4 tiles.
// INPUTS: integers
func.func @a_dim_cut_twice(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                           %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %outer = spyre.hint tiles(A = 2) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %inner = spyre.hint tiles(A = 4) {
      %product_empty = tensor.empty() : tensor<64x256xf16>
      %product = linalg.mul ins(%sum, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      spyre.yield %product : tensor<64x256xf16>
    }
    %end_empty = tensor.empty() : tensor<64x256xf16>
    %end = linalg.sub ins(%inner, %x : tensor<64x256xf16>, tensor<64x256xf16>) outs(%end_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %end : tensor<64x256xf16>
  }
  return %outer : tensor<64x256xf16>
}
// -----
// The dimension that is cut is the first of one op and the last of another.
// INPUTS: integers
func.func @other_positions(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]},
                           %y: tensor<256x128xf16> {spyre.dims = ["B", "A"]})
    -> (tensor<128x256xf16>, tensor<256x128xf16>) {
  %first, %second = spyre.hint tiles(A = 2) {
    %negative_empty = tensor.empty() : tensor<128x256xf16>
    %negative = linalg.negf ins(%x : tensor<128x256xf16>) outs(%negative_empty : tensor<128x256xf16>) -> tensor<128x256xf16>
    %square_empty = tensor.empty() : tensor<256x128xf16>
    %square = linalg.mul ins(%y, %y : tensor<256x128xf16>, tensor<256x128xf16>) outs(%square_empty : tensor<256x128xf16>) -> tensor<256x128xf16>
    spyre.yield %negative, %square : tensor<128x256xf16>, tensor<256x128xf16>
  }
  return %first, %second : tensor<128x256xf16>, tensor<256x128xf16>
}
// -----
// The row stands between the ops of the matrix.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(b) -> (b)>
#b_2 = affine_map<(a, b) -> (b)>
func.func @an_op_without_the_dim_between(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                         %row: tensor<256xf16> {spyre.dims = ["B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4, B = 2) {
    %v0_empty = tensor.empty() : tensor<64x256xf16>
    %v0 = linalg.generic {indexing_maps = [#a_b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%v0_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0 : f16
      %r = arith.maximumf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %positive_empty = tensor.empty() : tensor<256xf16>
    %positive = linalg.generic {indexing_maps = [#b, #b], iterator_types = ["parallel"]}
      ins(%row : tensor<256xf16>) outs(%positive_empty : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0 : f16
      %r = arith.maximumf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %v1_empty = tensor.empty() : tensor<64x256xf16>
    %v1 = linalg.generic {indexing_maps = [#a_b, #b_2, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%v0, %positive : tensor<64x256xf16>, tensor<256xf16>) outs(%v1_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %v1 : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
