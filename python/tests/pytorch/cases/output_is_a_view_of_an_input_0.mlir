#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<8x64xf16>, %arg1: tensor<8x64xf16>) -> (tensor<64x8xf16>, tensor<8x64xf16>) {
    %collapsed = tensor.collapse_shape %arg0 [[0, 1]] : tensor<8x64xf16> into tensor<512xf16>
    %expanded = tensor.expand_shape %collapsed [[0, 1]] output_shape [64, 8] : tensor<512xf16> into tensor<64x8xf16>
    %0 = tensor.empty() : tensor<8x64xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<8x64xf16>, tensor<8x64xf16>) outs(%0 : tensor<8x64xf16>) {
    ^bb0(%in: f16, %in_0: f16, %out: f16):
      %2 = arith.addf %in, %in_0 : f16
      linalg.yield %2 : f16
    } -> tensor<8x64xf16>
    return %expanded, %1 : tensor<64x8xf16>, tensor<8x64xf16>
  }
}
