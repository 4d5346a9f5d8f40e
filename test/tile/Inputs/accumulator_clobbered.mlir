// Two accumulators, and values between that want their bytes.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @two_accumulators(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                            %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> (tensor<64xf16>, tensor<64xf16>) {
  %s, %m = spyre.hint tiles(B = 4) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %total_empty = tensor.empty() : tensor<64xf16>
    %total_from = arith.constant 0.0 : f16
    %total_start = linalg.fill ins(%total_from : f16) outs(%total_empty : tensor<64xf16>) -> tensor<64xf16>
    %total = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%sum : tensor<64x256xf16>) outs(%total_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %difference_empty = tensor.empty() : tensor<64x256xf16>
    %difference = linalg.sub ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%difference_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.mul ins(%difference, %sum : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %largest_empty = tensor.empty() : tensor<64xf16>
    %largest_from = arith.constant 0xFC00 : f16
    %largest_start = linalg.fill ins(%largest_from : f16) outs(%largest_empty : tensor<64xf16>) -> tensor<64xf16>
    %largest = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%product : tensor<64x256xf16>) outs(%largest_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %total, %largest : tensor<64xf16>, tensor<64xf16>
  }
  return %s, %m : tensor<64xf16>, tensor<64xf16>
}
// -----
// The accumulator begins anew in every tile of rows.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @in_every_outer_tile(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                               %y: tensor<64x256xf16> {spyre.dims = ["A", "B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %sum_empty = tensor.empty() : tensor<64x256xf16>
    %sum = linalg.add ins(%x, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%sum_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %t = spyre.hint tiles(B = 4) {
      %product_empty = tensor.empty() : tensor<64x256xf16>
      %product = linalg.mul ins(%sum, %y : tensor<64x256xf16>, tensor<64x256xf16>) outs(%product_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      %total_empty = tensor.empty() : tensor<64xf16>
      %total_from = arith.constant 0.0 : f16
      %total_start = linalg.fill ins(%total_from : f16) outs(%total_empty : tensor<64xf16>) -> tensor<64xf16>
      %total = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
        ins(%product : tensor<64x256xf16>) outs(%total_start : tensor<64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<64xf16>
      spyre.yield %total : tensor<64xf16>
    }
    %difference_empty = tensor.empty() : tensor<64x256xf16>
    %difference = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %t : tensor<64x256xf16>, tensor<64xf16>) outs(%difference_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %difference : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// Between the loops over K, other ops use LX.
// INPUTS: integers
#m_n = affine_map<(m, n) -> (m, n)>
#m_k = affine_map<(m, k) -> (m, k)>
func.func @product_and_its_bias(%x: tensor<64x128xf16> {spyre.dims = ["M", "K"]},
                                %y: tensor<128x64xf16> {spyre.dims = ["K", "N"]},
                                %z: tensor<64x64xf16> {spyre.dims = ["M", "N"]})
    -> tensor<64x64xf16> {
  %tiled = spyre.hint tiles(M = 4) {
    %positive_empty = tensor.empty() : tensor<64x64xf16>
    %positive = linalg.generic {indexing_maps = [#m_n, #m_n], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<64x64xf16>) outs(%positive_empty : tensor<64x64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0 : f16
      %r = arith.maximumf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64x64xf16>
    %one = spyre.hint tiles(K = 2) {
      %first_empty = tensor.empty() : tensor<64x64xf16>
      %first_from = arith.constant 0.0 : f16
      %first_start = linalg.fill ins(%first_from : f16) outs(%first_empty : tensor<64x64xf16>) -> tensor<64x64xf16>
      %first = linalg.matmul ins(%x, %y : tensor<64x128xf16>, tensor<128x64xf16>) outs(%first_start : tensor<64x64xf16>) -> tensor<64x64xf16>
      spyre.yield %first : tensor<64x64xf16>
    }
    %sum_empty = tensor.empty() : tensor<64x64xf16>
    %sum = linalg.add ins(%one, %positive : tensor<64x64xf16>, tensor<64x64xf16>) outs(%sum_empty : tensor<64x64xf16>) -> tensor<64x64xf16>
    %two = spyre.hint tiles(K = 2) {
      %rectified_empty = tensor.empty() : tensor<64x128xf16>
      %rectified = linalg.generic {indexing_maps = [#m_k, #m_k], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<64x128xf16>) outs(%rectified_empty : tensor<64x128xf16>) {
      ^bb0(%left: f16, %out: f16):
        %c = arith.constant 0.0 : f16
        %r = arith.maximumf %left, %c : f16
        linalg.yield %r : f16
      } -> tensor<64x128xf16>
      %second_empty = tensor.empty() : tensor<64x64xf16>
      %second_from = arith.constant 0.0 : f16
      %second_start = linalg.fill ins(%second_from : f16) outs(%second_empty : tensor<64x64xf16>) -> tensor<64x64xf16>
      %second = linalg.matmul ins(%rectified, %y : tensor<64x128xf16>, tensor<128x64xf16>) outs(%second_start : tensor<64x64xf16>) -> tensor<64x64xf16>
      spyre.yield %second : tensor<64x64xf16>
    }
    %end_empty = tensor.empty() : tensor<64x64xf16>
    %end = linalg.add ins(%two, %sum : tensor<64x64xf16>, tensor<64x64xf16>) outs(%end_empty : tensor<64x64xf16>) -> tensor<64x64xf16>
    spyre.yield %end : tensor<64x64xf16>
  }
  return %tiled : tensor<64x64xf16>
}
// -----
// The sum is read by the loop that follows it.
// INPUTS: integers
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @partial_results_read_again(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> (tensor<256xf16>, tensor<256xf16>) {
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
  %tiled = spyre.hint tiles(A = 8) {
    %difference_empty = tensor.empty() : tensor<64x256xf16>
    %difference = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<64x256xf16>, tensor<256xf16>) outs(%difference_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %again_empty = tensor.empty() : tensor<256xf16>
    %again_from = arith.constant 0xFC00 : f16
    %again_start = linalg.fill ins(%again_from : f16) outs(%again_empty : tensor<256xf16>) -> tensor<256xf16>
    %again = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%difference : tensor<64x256xf16>) outs(%again_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    spyre.yield %again : tensor<256xf16>
  }
  return %sums, %tiled : tensor<256xf16>, tensor<256xf16>
}
