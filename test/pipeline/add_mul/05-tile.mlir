#layout = #spyre.layout<[64, 1024, 64], [64, 4096, 1]>
#layout1 = #spyre.layout<[64, 1024, 64], [64, 4096, 1], of = [1024, 4096]>
#layout2 = #spyre.layout<[16, 512, 64], [64, 1024, 1]>
module attributes {spyre.phase = "tile", spyre.target = {cores = 4 : i64}} {
  func.func @add_mul(%arg0: tensor<1024x4096xf16, #layout> {spyre.dims = ["A", "B"]}, %arg1: tensor<1024x4096xf16, #layout> {spyre.dims = ["A", "B"]}, %arg2: tensor<1024x4096xf16, #layout> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16, #layout> attributes {spyre.dim_sizes = {A = 1024 : i64, B = 4096 : i64}} {
    %0 = spyre.loop 2 "A" tiled(%tile = %arg0[0] : tensor<1024x4096xf16, #layout>, %tile_0 = %arg1[0] : tensor<1024x4096xf16, #layout>, %tile_1 = %arg2[0] : tensor<1024x4096xf16, #layout>) {
      %1 = spyre.loop 4 "B" tiled(%tile_2 = %tile[1] : tensor<512x4096xf16, #layout1>, %tile_3 = %tile_0[1] : tensor<512x4096xf16, #layout1>, %tile_4 = %tile_1[1] : tensor<512x4096xf16, #layout1>) {
        %2 = spyre.pointwise add(%tile_2, %tile_3) {dims = ["A", "B"]} : (tensor<512x1024xf16, #layout1>, tensor<512x1024xf16, #layout1>) -> tensor<512x1024xf16, #layout2>
        %3 = spyre.pointwise mul(%2, %tile_4) {dims = ["A", "B"]} : (tensor<512x1024xf16, #layout2>, tensor<512x1024xf16, #layout1>) -> tensor<512x1024xf16, #layout1>
        spyre.yield %3[1] : tensor<512x1024xf16, #layout1>
      } : tensor<512x4096xf16, #layout1>
      spyre.yield %1[0] : tensor<512x4096xf16, #layout1>
    } : tensor<1024x4096xf16, #layout>
    return %0 : tensor<1024x4096xf16, #layout>
  }
}

