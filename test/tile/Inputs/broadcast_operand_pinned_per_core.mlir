// A row that all cores read, each for its own rows (TS-2745).
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @row(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}, %row: tensor<256xf16> {spyre.dims = ["B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 2) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : tensor<64x256xf16>, tensor<256xf16>) outs(%sum_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %row : tensor<64x256xf16>, tensor<256xf16>) outs(%product_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The row is made in the loop, divided over the cores along its columns.
// INPUTS: integers
#b = affine_map<(b) -> (b)>
#a_b = affine_map<(a, b) -> (a, b)>
#b_2 = affine_map<(a, b) -> (b)>
func.func @computed_row(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                        %row: tensor<256xf16> {spyre.dims = ["B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 2) {
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
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.generic {indexing_maps = [#a_b, #b_2, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %positive : tensor<64x256xf16>, tensor<256xf16>) outs(%product_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The sums of rows are read by all columns.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @computed_column(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 2) {
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %difference_empty = tensor.empty() : tensor<64x256xf16>
    %difference = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<64x256xf16>, tensor<64xf16>) outs(%difference_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %twice_empty = tensor.empty() : tensor<64x256xf16>
    %twice = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%difference, %sum : tensor<64x256xf16>, tensor<64xf16>) outs(%twice_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %twice : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// One number for all.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#one_one = affine_map<(a, b) -> (0, 0)>
func.func @number(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}, %number: tensor<1x1xf16>) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 2) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #one_one, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %number : tensor<64x256xf16>, tensor<1x1xf16>) outs(%sum_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.generic {indexing_maps = [#a_b, #one_one, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %number : tensor<64x256xf16>, tensor<1x1xf16>) outs(%product_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The right factor is the same for all tiles of rows.
// INPUTS: integers
#m_n = affine_map<(m, n) -> (m, n)>
func.func @right_factor(%x: tensor<64x64xf16> {spyre.dims = ["M", "K"]},
                        %y: tensor<64x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %tiled = spyre.hint tiles(M = 4) {
    %product_empty = tensor.empty() : tensor<64x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %product = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    %biased_empty = tensor.empty() : tensor<64x128xf16>
    %biased = linalg.generic {indexing_maps = [#m_n, #m_n, #m_n], iterator_types = ["parallel", "parallel"]}
      ins(%product, %product : tensor<64x128xf16>, tensor<64x128xf16>) outs(%biased_empty : tensor<64x128xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x128xf16>
    spyre.yield %biased : tensor<64x128xf16>
  }
  return %tiled : tensor<64x128xf16>
}
