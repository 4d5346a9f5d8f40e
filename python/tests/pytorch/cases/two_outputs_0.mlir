#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @main(%arg0: tensor<64x128xf16>) -> (tensor<64xf16>, tensor<64x128xf16>) {
    %cst = arith.constant 0.000000e+00 : f16
    %0 = tensor.empty() : tensor<64xf16>
    %1 = linalg.fill ins(%cst : f16) outs(%0 : tensor<64xf16>) -> tensor<64xf16>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<64x128xf16>) outs(%1 : tensor<64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %5 = arith.addf %in, %out : f16
      linalg.yield %5 : f16
    } -> tensor<64xf16>
    %3 = tensor.empty() : tensor<64x128xf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x128xf16>) outs(%3 : tensor<64x128xf16>) {
    ^bb0(%in: f16, %out: f16):
      %5 = math.exp %in : f16
      linalg.yield %5 : f16
    } -> tensor<64x128xf16>
    return %2, %4 : tensor<64xf16>, tensor<64x128xf16>
  }
}
