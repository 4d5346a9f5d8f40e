#layout = #spyre.layout<[64, 1024, 64], [64, 4096, 1]>
module attributes {spyre.phase = "layout", spyre.target = {cores = 4 : i64}} {
  func.func @add_mul(%arg0: tensor<1024x4096xf16, #layout>, %arg1: tensor<1024x4096xf16, #layout>, %arg2: tensor<1024x4096xf16, #layout>) -> tensor<1024x4096xf16, #layout> {
    %0 = spyre.pointwise add(%arg0, %arg1) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16, #layout>
    %1 = spyre.pointwise mul(%0, %arg2) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16, #layout>
    return %1 : tensor<1024x4096xf16, #layout>
  }
}

