// The second loop reads what the first has written.
// INPUTS: integers
func.func @two_in_sequence(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                           %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %first = spyre.hint tiles(A = 4) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %sum : tensor<64x256xf16>
  }
  %second = spyre.hint tiles(B = 4) {
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%first, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %end_empty = tensor.empty() : tensor<64x256xf16>
    %end = linalg.sub ins(%product, %x : tensor<64x256xf16>, tensor<64x256xf16>) outs(%end_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %end : tensor<64x256xf16>
  }
  return %second : tensor<64x256xf16>
}
// -----
// An op before the inner loop, and one behind it.
// INPUTS: integers
func.func @inner_group(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                       %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %outer = spyre.hint tiles(A = 2) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %inner = spyre.hint tiles(B = 4) {
      %product_empty = tensor.empty() : tensor<64x256xf16>
      %product = linalg.mul ins(%sum, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      %negative_empty = tensor.empty() : tensor<64x256xf16>
      %negative = linalg.negf ins(%product : tensor<64x256xf16>) outs(%negative_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      spyre.yield %negative : tensor<64x256xf16>
    }
    %end_empty = tensor.empty() : tensor<64x256xf16>
    %end = linalg.sub ins(%inner, %x : tensor<64x256xf16>, tensor<64x256xf16>) outs(%end_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %end : tensor<64x256xf16>
  }
  return %outer : tensor<64x256xf16>
}
// -----
// Two inner loops of one outer loop; the second reads what the first made.
// INPUTS: integers
func.func @sibling_inner_groups(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %outer = spyre.hint tiles(A = 2) {
    %one = spyre.hint tiles(B = 4) {
      %sum_empty = tensor.empty() : tensor<64x256xf16>
      %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      %product_empty = tensor.empty() : tensor<64x256xf16>
      %product = linalg.mul ins(%sum, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      spyre.yield %product : tensor<64x256xf16>
    }
    %two = spyre.hint tiles(B = 2) {
      %negative_empty = tensor.empty() : tensor<64x256xf16>
      %negative = linalg.negf ins(%one : tensor<64x256xf16>) outs(%negative_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      %end_empty = tensor.empty() : tensor<64x256xf16>
      %end = linalg.sub ins(%negative, %x : tensor<64x256xf16>, tensor<64x256xf16>) outs(%end_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      spyre.yield %end : tensor<64x256xf16>
    }
    spyre.yield %two : tensor<64x256xf16>
  }
  return %outer : tensor<64x256xf16>
}
// -----
// One inner loop goes along columns, the other along the rows of its tile.
// INPUTS: integers
func.func @siblings_along_other_dims(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                     %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %outer = spyre.hint tiles(A = 2) {
    %one = spyre.hint tiles(B = 4) {
      %sum_empty = tensor.empty() : tensor<64x256xf16>
      %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      spyre.yield %sum : tensor<64x256xf16>
    }
    %two = spyre.hint tiles(A = 8) {
      %product_empty = tensor.empty() : tensor<64x256xf16>
      %product = linalg.mul ins(%one, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      spyre.yield %product : tensor<64x256xf16>
    }
    spyre.yield %two : tensor<64x256xf16>
  }
  return %outer : tensor<64x256xf16>
}
// -----
// The op without a hint has nothing to do with the loop.
// INPUTS: integers
func.func @an_unrelated_op_between(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                   %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %first = spyre.hint tiles(A = 4) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %sum : tensor<64x256xf16>
  }
  %other_empty = tensor.empty() : tensor<64x256xf16>
  %other = linalg.mul ins(%y, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%other_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
  %second = spyre.hint tiles(A = 4) {
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%first, %other : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %second, %other : tensor<64x256xf16>, tensor<64x256xf16>
}
// -----
// A loop for a sum, and one that uses it.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @reduction_then_rows(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %sums = spyre.hint tiles(B = 4) {
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %sum : tensor<64xf16>
  }
  %tiled = spyre.hint tiles(A = 4) {
    %difference_empty = tensor.empty() : tensor<64x256xf16>
    %difference = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<64x256xf16>, tensor<64xf16>) outs(%difference_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %difference : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// Three levels: rows, columns, and the contracted dimension of the product; a bias behind.
// INPUTS: integers
#m_n = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>
func.func @product_in_an_outer_loop(%x: tensor<64x128xf16> {spyre.dims = ["M", "K"]},
                                    %y: tensor<128x128xf16> {spyre.dims = ["K", "N"]},
                                    %bias: tensor<128xf16> {spyre.dims = ["N"]})
    -> tensor<64x128xf16> {
  %rows = spyre.hint tiles(M = 2) {
    %columns = spyre.hint tiles(N = 2) {
      %products = spyre.hint tiles(K = 2) {
        %product_empty = tensor.empty() : tensor<64x128xf16>
        %product_from = arith.constant 0.0 : f16
        %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
        %product = linalg.matmul ins(%x, %y : tensor<64x128xf16>, tensor<128x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
        spyre.yield %product : tensor<64x128xf16>
      }
      %biased_empty = tensor.empty() : tensor<64x128xf16>
      %biased = linalg.generic {indexing_maps = [#m_n, #n, #m_n], iterator_types = ["parallel", "parallel"]}
        ins(%products, %bias : tensor<64x128xf16>, tensor<128xf16>) outs(%biased_empty : tensor<64x128xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %r = arith.addf %left, %right : f16
        linalg.yield %r : f16
      } -> tensor<64x128xf16>
      spyre.yield %biased : tensor<64x128xf16>
    }
    %positive_empty = tensor.empty() : tensor<64x128xf16>
    %positive = linalg.generic {indexing_maps = [#m_n, #m_n], iterator_types = ["parallel", "parallel"]}
      ins(%columns : tensor<64x128xf16>) outs(%positive_empty : tensor<64x128xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0 : f16
      %r = arith.maximumf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64x128xf16>
    spyre.yield %positive : tensor<64x128xf16>
  }
  return %rows : tensor<64x128xf16>
}
// -----
// A sum and the elements, both from the inner loop.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @two_results_of_an_inner_loop(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %elements, %ends = spyre.hint tiles(A = 2) {
    %squares, %sums = spyre.hint tiles(B = 4) {
      %square_empty = tensor.empty() : tensor<64x256xf16>
      %square = linalg.mul ins(%x, %x : tensor<64x256xf16>, tensor<64x256xf16>) outs(%square_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      %sum_empty = tensor.empty() : tensor<64xf16>
      %sum_from = arith.constant 0.0 : f16
      %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
      %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
        ins(%square : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<64xf16>
      spyre.yield %square, %sum : tensor<64x256xf16>, tensor<64xf16>
    }
    %end_empty = tensor.empty() : tensor<64x256xf16>
    %end = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%squares, %sums : tensor<64x256xf16>, tensor<64xf16>) outs(%end_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %squares, %end : tensor<64x256xf16>, tensor<64x256xf16>
  }
  return %elements, %ends : tensor<64x256xf16>, tensor<64x256xf16>
}
