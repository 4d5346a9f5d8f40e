module attributes {spyre.phase = "import", spyre.target = {cores = 4 : i64}} {
  func.func @add_mul(%arg0: tensor<1024x4096xf16>, %arg1: tensor<1024x4096xf16>, %arg2: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
    %0 = spyre.pointwise add(%arg0, %arg1) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16>
    %1 = spyre.pointwise mul(%0, %arg2) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16>
    return %1 : tensor<1024x4096xf16>
  }
}

