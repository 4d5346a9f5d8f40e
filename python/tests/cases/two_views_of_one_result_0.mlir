#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<8x64xf16>) -> (tensor<64x8xf16>, tensor<64x8xf16>) {
    %cst = arith.constant 2.000000e+00 : f16
    %0 = tensor.empty() : tensor<8x64xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x64xf16>) outs(%0 : tensor<8x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %3 = arith.mulf %in, %cst : f16
      linalg.yield %3 : f16
    } -> tensor<8x64xf16>
    %collapsed = tensor.collapse_shape %1 [[0, 1]] : tensor<8x64xf16> into tensor<512xf16>
    %expanded = tensor.expand_shape %collapsed [[0, 1]] output_shape [64, 8] : tensor<512xf16> into tensor<64x8xf16>
    %2 = tensor.empty() : tensor<64x8xf16>
    %transposed = linalg.transpose ins(%1 : tensor<8x64xf16>) outs(%2 : tensor<64x8xf16>) permutation = [1, 0] 
    return %expanded, %transposed : tensor<64x8xf16>, tensor<64x8xf16>
  }
}
