#layout = #spyre.layout<[64, 1024, 64], [64, 4096, 1]>
module attributes {spyre.phase = "hint", spyre.target = {cores = 4 : i64}} {
  func.func @add_mul(%arg0: tensor<1024x4096xf16, #layout> {spyre.dims = ["A", "B"]}, %arg1: tensor<1024x4096xf16, #layout> {spyre.dims = ["A", "B"]}, %arg2: tensor<1024x4096xf16, #layout> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16, #layout> attributes {spyre.dim_sizes = {A = 1024 : i64, B = 4096 : i64}} {
    %0 = spyre.pointwise add(%arg0, %arg1) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16, #layout>
    %1 = spyre.pointwise mul(%0, %arg2) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16, #layout>
    return %1 : tensor<1024x4096xf16, #layout>
  }
}

