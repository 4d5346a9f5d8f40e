#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<32x64xbf16>, %arg1: tensor<64x128xbf16>) -> tensor<32x128xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : bf16
    %0 = tensor.empty() : tensor<32x128xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<32x128xf32>) -> tensor<32x128xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<32x64xbf16>, tensor<64x128xbf16>) outs(%1 : tensor<32x128xf32>) -> tensor<32x128xf32>
    %3 = tensor.empty() : tensor<32x128xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<32x128xf32>) outs(%3 : tensor<32x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %6 = arith.truncf %in : f32 to bf16
      linalg.yield %6 : bf16
    } -> tensor<32x128xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<32x128xbf16>) outs(%3 : tensor<32x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %6 = arith.cmpf ugt, %in, %cst_0 : bf16
      %7 = arith.select %6, %in, %cst_0 : bf16
      linalg.yield %7 : bf16
    } -> tensor<32x128xbf16>
    return %5 : tensor<32x128xbf16>
  }
}
