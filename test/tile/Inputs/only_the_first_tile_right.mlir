// Every tile has other numbers (TS-3166): a loop that does not advance repeats the first ones.
// INPUTS: integers
func.func @windows_of_arguments(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 8) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%sum, %x : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The second loop reads tiles of what the first one wrote.
// INPUTS: integers
func.func @windows_of_a_written_buffer(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                                       %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %first = spyre.hint tiles(A = 8) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %sum : tensor<64x256xf16>
  }
  %second = spyre.hint tiles(A = 4) {
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%first, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %second : tensor<64x256xf16>
}
// -----
// Tiles of both factors advance with K.
// INPUTS: integers
func.func @windows_of_both_factors(%x: tensor<32x256xf16> {spyre.dims = ["M", "K"]},
                                   %y: tensor<256x64xf16> {spyre.dims = ["K", "N"]})
    -> tensor<32x64xf16> {
  %tiled = spyre.hint tiles(K = 4) {
    %product_empty = tensor.empty() : tensor<32x64xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<32x64xf16>) -> tensor<32x64xf16>
    %product = linalg.matmul ins(%x, %y : tensor<32x256xf16>, tensor<256x64xf16>) outs(%product_start : tensor<32x64xf16>) -> tensor<32x64xf16>
    spyre.yield %product : tensor<32x64xf16>
  }
  return %tiled : tensor<32x64xf16>
}
// -----
// The inner loop begins again in every tile of the outer one.
// INPUTS: integers
#a_b_c = affine_map<(a, b, c) -> (a, b, c)>
#b_c = affine_map<(a, b, c) -> (b, c)>
func.func @inner_loops_begin_again(%x: tensor<4x16x128xf16> {spyre.dims = ["A", "B", "C"]},
                                   %y: tensor<16x128xf16> {spyre.dims = ["B", "C"]})
    -> tensor<4x16x128xf16> {
  %tiled = spyre.hint tiles(A = 4, B = 4, C = 2) {
    %sum_empty = tensor.empty() : tensor<4x16x128xf16>
    %sum = linalg.generic {indexing_maps = [#a_b_c, #b_c, #a_b_c], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<4x16x128xf16>, tensor<16x128xf16>) outs(%sum_empty : tensor<4x16x128xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<4x16x128xf16>
    %square_empty = tensor.empty() : tensor<4x16x128xf16>
    %square = linalg.mul ins(%sum, %sum : tensor<4x16x128xf16>, tensor<4x16x128xf16>) outs(%square_empty : tensor<4x16x128xf16>) -> tensor<4x16x128xf16>
    spyre.yield %square : tensor<4x16x128xf16>
  }
  return %tiled : tensor<4x16x128xf16>
}
