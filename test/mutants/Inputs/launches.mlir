// options: --cores 2 --addresses baked --lx-planner none
func.func @launches(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64x64xf16>, %e: tensor<64x64xf16>,
    %f: tensor<64x64xf16>, %g: tensor<64x64xf16>, %h: tensor<64x64xf16>, %i: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %kept = spyre.pointwise sub(%a, %b) : tensor<64x64xf16>
  %c1 = spyre.pointwise sub(%c, %kept) : tensor<64x64xf16>
  %c2 = spyre.pointwise tanh(%c1) : tensor<64x64xf16>
  %d1 = spyre.pointwise sub(%c2, %d) : tensor<64x64xf16>
  %d2 = spyre.pointwise tanh(%d1) : tensor<64x64xf16>
  %e1 = spyre.pointwise sub(%e, %d2) : tensor<64x64xf16>
  %e2 = spyre.pointwise tanh(%e1) : tensor<64x64xf16>
  %f1 = spyre.pointwise sub(%e2, %f) : tensor<64x64xf16>
  %f2 = spyre.pointwise tanh(%f1) : tensor<64x64xf16>
  %g1 = spyre.pointwise sub(%f2, %g) : tensor<64x64xf16>
  %g2 = spyre.pointwise tanh(%g1) : tensor<64x64xf16>
  %h1 = spyre.pointwise sub(%g2, %h) : tensor<64x64xf16>
  %h2 = spyre.pointwise tanh(%h1) : tensor<64x64xf16>
  %i1 = spyre.pointwise sub(%h2, %i) : tensor<64x64xf16>
  %i2 = spyre.pointwise tanh(%i1) : tensor<64x64xf16>
  %end = spyre.pointwise sub(%i2, %kept) : tensor<64x64xf16>
  return %end : tensor<64x64xf16>
}
