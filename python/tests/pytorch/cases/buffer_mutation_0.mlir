#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0) -> (d0)>
module {
  func.func @main(%arg0: tensor<64xf16>, %arg1: tensor<8x64xf16>) -> (tensor<64xf16>, tensor<8x64xf16>) {
    %cst = arith.constant 0.000000e+00 : f16
    %0 = tensor.empty() : tensor<64xf16>
    %1 = linalg.fill ins(%cst : f16) outs(%0 : tensor<64xf16>) -> tensor<64xf16>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]} ins(%arg1 : tensor<8x64xf16>) outs(%1 : tensor<64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %6 = arith.addf %in, %out : f16
      linalg.yield %6 : f16
    } -> tensor<64xf16>
    %3 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%arg0, %2 : tensor<64xf16>, tensor<64xf16>) outs(%0 : tensor<64xf16>) {
    ^bb0(%in: f16, %in_0: f16, %out: f16):
      %6 = arith.addf %in, %in_0 : f16
      linalg.yield %6 : f16
    } -> tensor<64xf16>
    %4 = tensor.empty() : tensor<8x64xf16>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1, %3 : tensor<8x64xf16>, tensor<64xf16>) outs(%4 : tensor<8x64xf16>) {
    ^bb0(%in: f16, %in_0: f16, %out: f16):
      %6 = arith.mulf %in, %in_0 : f16
      linalg.yield %6 : f16
    } -> tensor<8x64xf16>
    return %3, %5 : tensor<64xf16>, tensor<8x64xf16>
  }
}
