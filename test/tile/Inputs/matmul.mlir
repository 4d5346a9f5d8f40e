// Along M.
// INPUTS: integers
func.func @rows(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %by_M = spyre.hint tiles(M = 8) {
    %product_empty = tensor.empty() : tensor<64x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %product : tensor<64x128xf16>
  }
  return %by_M : tensor<64x128xf16>
}
// -----
// Along N.
// INPUTS: integers
func.func @columns(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                   %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %by_N = spyre.hint tiles(N = 2) {
    %product_empty = tensor.empty() : tensor<64x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %product : tensor<64x128xf16>
  }
  return %by_N : tensor<64x128xf16>
}
// -----
// Along K: partial products are added up.
// INPUTS: integers
func.func @contracted(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                      %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %by_K = spyre.hint tiles(K = 4) {
    %product_empty = tensor.empty() : tensor<64x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %product : tensor<64x128xf16>
  }
  return %by_K : tensor<64x128xf16>
}
// -----
// Along M, and along K in it: the accumulator is a tile.
// INPUTS: integers
func.func @contracted_in_rows(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                              %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %by_M = spyre.hint tiles(M = 8) {
    %by_K = spyre.hint tiles(K = 4) {
      %product_empty = tensor.empty() : tensor<64x128xf16>
      %product_from = arith.constant 0.0 : f16
      %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
      %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    spyre.yield %by_K : tensor<64x128xf16>
  }
  return %by_M : tensor<64x128xf16>
}
// -----
// Along N, and along K in it.
// INPUTS: integers
func.func @contracted_in_columns(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                                 %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %by_N = spyre.hint tiles(N = 2) {
    %by_K = spyre.hint tiles(K = 4) {
      %product_empty = tensor.empty() : tensor<64x128xf16>
      %product_from = arith.constant 0.0 : f16
      %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
      %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    spyre.yield %by_K : tensor<64x128xf16>
  }
  return %by_N : tensor<64x128xf16>
}
// -----
// Along all three.
// INPUTS: integers
func.func @all_dims(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                    %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %by_M = spyre.hint tiles(M = 4) {
    %by_N = spyre.hint tiles(N = 2) {
      %by_K = spyre.hint tiles(K = 2) {
        %product_empty = tensor.empty() : tensor<64x128xf16>
        %product_from = arith.constant 0.0 : f16
        %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
        %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
        spyre.yield %product : tensor<64x128xf16>
      }
      spyre.yield %by_K : tensor<64x128xf16>
    }
    spyre.yield %by_N : tensor<64x128xf16>
  }
  return %by_M : tensor<64x128xf16>
}
// -----
// Along K in K.
// INPUTS: integers
func.func @contracted_twice(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                            %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %by_K = spyre.hint tiles(K = 2) {
    %by_K = spyre.hint tiles(K = 2) {
      %product_empty = tensor.empty() : tensor<64x128xf16>
      %product_from = arith.constant 0.0 : f16
      %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
      %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    spyre.yield %by_K : tensor<64x128xf16>
  }
  return %by_K : tensor<64x128xf16>
}
// -----
// The first example of the seed on working sets: the matmul is tiled along M and K, the addition along M only.
// INPUTS: integers
func.func @contracted_then_added(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                                 %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]},
                                 %z: tensor<64x128xf16> {spyre.dims = ["M", "N"]})
    -> tensor<64x128xf16> {
  %sum = spyre.hint tiles(M = 8) {
    %p = spyre.hint tiles(K = 4) {
      %product_empty = tensor.empty() : tensor<64x128xf16>
      %product_from = arith.constant 0.0 : f16
      %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
      %product = linalg.matmul ins(%x, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    %added_empty = tensor.empty() : tensor<64x128xf16>
    %added = linalg.add ins(%p, %z : tensor<64x128xf16>, tensor<64x128xf16>) outs(%added_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %added : tensor<64x128xf16>
  }
  return %sum : tensor<64x128xf16>
}
// -----
// Both ops in one scope: the addition has no K.
// INPUTS: integers
func.func @contracted_and_added(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                                %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]},
                                %z: tensor<64x128xf16> {spyre.dims = ["M", "N"]})
    -> tensor<64x128xf16> {
  %sum = spyre.hint tiles(M = 8, K = 4) {
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
// The left factor is computed in the loop, tile by tile.
// INPUTS: integers
#m_k = affine_map<(m, k) -> (m, k)>
func.func @computed_operand(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]},
                            %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]})
    -> tensor<64x128xf16> {
  %tiled = spyre.hint tiles(M = 2, K = 4) {
    %positive_empty = tensor.empty() : tensor<64x256xf16>
    %positive = linalg.generic {indexing_maps = [#m_k, #m_k], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%positive_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0 : f16
      %r = arith.maximumf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %product_empty = tensor.empty() : tensor<64x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %product = linalg.matmul ins(%positive, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%product_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    spyre.yield %product : tensor<64x128xf16>
  }
  return %tiled : tensor<64x128xf16>
}
// -----
// Two products along the rows that they share.
// INPUTS: integers
#m_n = affine_map<(m, n) -> (m, n)>
func.func @chain(%x: tensor<64x64xf16> {spyre.dims = ["M", "K"]},
                 %y: tensor<64x128xf16> {spyre.dims = ["K", "N"]},
                 %z: tensor<128x64xf16> {spyre.dims = ["N", "L"]})
    -> tensor<64x64xf16> {
  %tiled = spyre.hint tiles(M = 4) {
    %first_empty = tensor.empty() : tensor<64x128xf16>
    %first_from = arith.constant 0.0 : f16
    %first_start = linalg.fill ins(%first_from : f16) outs(%first_empty : tensor<64x128xf16>) -> tensor<64x128xf16>
    %first = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x128xf16>) outs(%first_start : tensor<64x128xf16>) -> tensor<64x128xf16>
    %scaled_empty = tensor.empty() : tensor<64x128xf16>
    %scaled = linalg.generic {indexing_maps = [#m_n, #m_n], iterator_types = ["parallel", "parallel"]}
      ins(%first : tensor<64x128xf16>) outs(%scaled_empty : tensor<64x128xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 0.0625 : f16
      %r = arith.mulf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64x128xf16>
    %second_empty = tensor.empty() : tensor<64x64xf16>
    %second_from = arith.constant 0.0 : f16
    %second_start = linalg.fill ins(%second_from : f16) outs(%second_empty : tensor<64x64xf16>) -> tensor<64x64xf16>
    %second = linalg.matmul ins(%scaled, %z : tensor<64x128xf16>, tensor<128x64xf16>) outs(%second_start : tensor<64x64xf16>) -> tensor<64x64xf16>
    spyre.yield %second : tensor<64x64xf16>
  }
  return %tiled : tensor<64x64xf16>
}
// -----
// A batch of products, each by itself.
// INPUTS: integers
func.func @batch(%x: tensor<4x32x64xf16> {spyre.dims = ["B", "M", "K"]},
                 %y: tensor<4x64x128xf16> {spyre.dims = ["B", "K", "N"]})
    -> tensor<4x32x128xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %product_empty = tensor.empty() : tensor<4x32x128xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<4x32x128xf16>) -> tensor<4x32x128xf16>
    %product = linalg.batch_matmul ins(%x, %y : tensor<4x32x64xf16>, tensor<4x64x128xf16>) outs(%product_start : tensor<4x32x128xf16>) -> tensor<4x32x128xf16>
    spyre.yield %product : tensor<4x32x128xf16>
  }
  return %tiled : tensor<4x32x128xf16>
}
// -----
// A batch, and K in it.
// INPUTS: integers
func.func @batch_contracted(%x: tensor<4x32x128xf16> {spyre.dims = ["B", "M", "K"]},
                            %y: tensor<4x128x64xf16> {spyre.dims = ["B", "K", "N"]})
    -> tensor<4x32x64xf16> {
  %tiled = spyre.hint tiles(B = 2, K = 2) {
    %product_empty = tensor.empty() : tensor<4x32x64xf16>
    %product_from = arith.constant 0.0 : f16
    %product_start = linalg.fill ins(%product_from : f16) outs(%product_empty : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
    %product = linalg.batch_matmul ins(%x, %y : tensor<4x32x128xf16>, tensor<4x128x64xf16>) outs(%product_start : tensor<4x32x64xf16>) -> tensor<4x32x64xf16>
    spyre.yield %product : tensor<4x32x64xf16>
  }
  return %tiled : tensor<4x32x64xf16>
}
