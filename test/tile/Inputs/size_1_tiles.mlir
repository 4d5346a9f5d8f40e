// A tile is one row (TS-3357).
// INPUTS: integers
func.func @one_row(%x: tensor<8x256xf16> {spyre.dims = ["A", "B"]}, %y: tensor<8x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<8x256xf16> {
  %tiled = spyre.hint tiles(A = 8) {
    %sum_empty = tensor.empty() : tensor<8x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<8x256xf16>, tensor<8x256xf16>) outs(%sum_empty : tensor<8x256xf16>) -> tensor<8x256xf16>
    %product_empty = tensor.empty() : tensor<8x256xf16>
    %product = linalg.mul ins(%sum, %x : tensor<8x256xf16>, tensor<8x256xf16>) outs(%product_empty : tensor<8x256xf16>) -> tensor<8x256xf16>
    spyre.yield %product : tensor<8x256xf16>
  }
  return %tiled : tensor<8x256xf16>
}
// -----
// Sums of tiles of one row.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @one_row_reduced(%x: tensor<8x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<256xf16> {
  %tiled = spyre.hint tiles(A = 8) {
    %sum_empty = tensor.empty() : tensor<256xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x256xf16>) outs(%sum_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %sum : tensor<256xf16>
  }
  return %tiled : tensor<256xf16>
}
// -----
// Each tile makes one sum.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @one_row_of_the_result(%x: tensor<8x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<8xf16> {
  %tiled = spyre.hint tiles(A = 8) {
    %sum_empty = tensor.empty() : tensor<8xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<8xf16>) -> tensor<8xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x256xf16>) outs(%sum_start : tensor<8xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<8xf16>
    spyre.yield %sum : tensor<8xf16>
  }
  return %tiled : tensor<8xf16>
}
// -----
// A product of one row.
// INPUTS: integers
func.func @one_row_of_a_product(%x: tensor<8x64xf16> {spyre.dims = ["M", "K"]},
                                %y: tensor<64x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<8x128xf16> {
  %tiled = spyre.hint tiles(M = 8) {
    %product_empty = tensor.empty() : tensor<8x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<8x128xf16>) -> tensor<8x128xf16>
    %product = linalg.matmul ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%product_start : tensor<8x128xf16>) -> tensor<8x128xf16>
    spyre.yield %product : tensor<8x128xf16>
  }
  return %tiled : tensor<8x128xf16>
}
// -----
// A product of one matrix of the batch, along K too.
// INPUTS: integers
func.func @one_matrix_of_a_batch(%x: tensor<4x8x128xf16> {spyre.dims = ["B", "M", "K"]},
                                 %y: tensor<4x128x64xf16> {spyre.dims = ["B", "K", "N"]})
    -> tensor<4x8x64xf16> {
  %tiled = spyre.hint tiles(B = 4, K = 2) {
    %product_empty = tensor.empty() : tensor<4x8x64xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<4x8x64xf16>) -> tensor<4x8x64xf16>
    %product = linalg.batch_matmul ins(%x, %y : tensor<4x8x128xf16>, tensor<4x128x64xf16>) outs(%product_start : tensor<4x8x64xf16>) -> tensor<4x8x64xf16>
    spyre.yield %product : tensor<4x8x64xf16>
  }
  return %tiled : tensor<4x8x64xf16>
}
// -----
// One tile is the whole: no loop.
// UNTILED
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @one_tile(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %tiled = spyre.hint tiles(A = 1, B = 1) {
    %negative_empty = tensor.empty() : tensor<64x256xf16>
    %negative = linalg.negf ins(%x : tensor<64x256xf16>) outs(%negative_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%negative : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %sum : tensor<64xf16>
  }
  return %tiled : tensor<64xf16>
}
// -----
// The dimension that is cut has one element.
// INPUTS: integers
func.func @dims_of_size_1(%x: tensor<1x8x128xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<1x8x128xf16> {
  %tiled = spyre.hint tiles(A = 1, B = 8) {
    %negative_empty = tensor.empty() : tensor<1x8x128xf16>
    %negative = linalg.negf ins(%x : tensor<1x8x128xf16>) outs(%negative_empty : tensor<1x8x128xf16>) -> tensor<1x8x128xf16>
    %sum_empty = tensor.empty() : tensor<1x8x128xf16>
    %sum = linalg.add ins(%negative, %x : tensor<1x8x128xf16>, tensor<1x8x128xf16>) outs(%sum_empty : tensor<1x8x128xf16>) -> tensor<1x8x128xf16>
    %product_empty = tensor.empty() : tensor<1x8x128xf16>
    %product = linalg.mul ins(%negative, %negative : tensor<1x8x128xf16>, tensor<1x8x128xf16>) outs(%product_empty : tensor<1x8x128xf16>) -> tensor<1x8x128xf16>
    spyre.yield %product : tensor<1x8x128xf16>
  }
  return %tiled : tensor<1x8x128xf16>
}
