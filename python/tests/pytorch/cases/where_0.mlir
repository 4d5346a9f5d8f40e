#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<8x64xf16>) -> tensor<8x64xf16> {
    %cst = arith.constant 1.000000e-01 : f64
    %cst_0 = arith.constant 0.000000e+00 : f16
    %0 = tensor.empty() : tensor<8x64xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x64xf16>) outs(%0 : tensor<8x64xi1>) {
    ^bb0(%in: f16, %out: i1):
      %5 = arith.cmpf ogt, %in, %cst_0 : f16
      linalg.yield %5 : i1
    } -> tensor<8x64xi1>
    %2 = tensor.empty() : tensor<8x64xf16>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x64xf16>) outs(%2 : tensor<8x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %5 = arith.truncf %cst : f64 to f16
      %6 = arith.mulf %in, %5 : f16
      linalg.yield %6 : f16
    } -> tensor<8x64xf16>
    %4 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %arg0, %3 : tensor<8x64xi1>, tensor<8x64xf16>, tensor<8x64xf16>) outs(%2 : tensor<8x64xf16>) {
    ^bb0(%in: i1, %in_1: f16, %in_2: f16, %out: f16):
      %5 = arith.select %in, %in_1, %in_2 : f16
      linalg.yield %5 : f16
    } -> tensor<8x64xf16>
    return %4 : tensor<8x64xf16>
  }
}
