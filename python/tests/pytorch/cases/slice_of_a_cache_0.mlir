#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<4x64x64xf16>, %arg1: tensor<4x1x64xf16>) -> (tensor<4x64x64xf16>, tensor<4x64xf16>) {
    %cst = arith.constant 0.000000e+00 : f16
    %inserted_slice = tensor.insert_slice %arg1 into %arg0[0, 16, 0] [4, 1, 64] [1, 1, 1] : tensor<4x1x64xf16> into tensor<4x64x64xf16>
    %0 = tensor.empty() : tensor<4x64xf16>
    %1 = linalg.fill ins(%cst : f16) outs(%0 : tensor<4x64xf16>) -> tensor<4x64xf16>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%inserted_slice : tensor<4x64x64xf16>) outs(%1 : tensor<4x64xf16>) {
    ^bb0(%in: f16, %out: f16):
      %3 = arith.addf %in, %out : f16
      linalg.yield %3 : f16
    } -> tensor<4x64xf16>
    return %inserted_slice, %2 : tensor<4x64x64xf16>, tensor<4x64xf16>
  }
}
