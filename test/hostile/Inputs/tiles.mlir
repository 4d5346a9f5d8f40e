// Loops in loops, a value that is carried, a view of a part.
func.func @tiles(%x: tensor<64x256xf16>, %y: tensor<64x256xf16>) -> (tensor<64x256xf16>, tensor<32x256xf16>) {
  %0:2 = spyre.hint tiles(A = 2, B = 2) {
    %exp = spyre.pointwise exp(%x) : tensor<64x256xf16>
    %sum = spyre.pointwise add(%exp, %y) : tensor<64x256xf16>
    spyre.yield %exp, %sum : tensor<64x256xf16>, tensor<64x256xf16>
  }
  %rows = spyre.view %0#1 by affine_map<(d0, d1) -> (d0 + 32, d1)> : tensor<64x256xf16> -> tensor<32x256xf16>
  %abs = spyre.pointwise abs(%rows) : tensor<32x256xf16>
  return %0#1, %abs : tensor<64x256xf16>, tensor<32x256xf16>
}
