// options: --cores 2 --addresses baked --lx-planner none
func.func @launches(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64x64xf16>, %e: tensor<64x64xf16>,
    %f: tensor<64x64xf16>, %g: tensor<64x64xf16>, %h: tensor<64x64xf16>, %i: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %kept = spyre.pointwise sub(%a, %b) : tensor<64x64xf16>
  %c1 = spyre.pointwise sub(%c, %kept) : tensor<64x64xf16>
  %d1 = spyre.pointwise sub(%c1, %d) : tensor<64x64xf16>
  %e1 = spyre.pointwise sub(%e, %d1) : tensor<64x64xf16>
  %f1 = spyre.pointwise sub(%e1, %f) : tensor<64x64xf16>
  %g1 = spyre.pointwise sub(%f1, %g) : tensor<64x64xf16>
  %h1 = spyre.pointwise sub(%g1, %h) : tensor<64x64xf16>
  %i1 = spyre.pointwise sub(%h1, %i) : tensor<64x64xf16>
  %end = spyre.pointwise sub(%i1, %kept) : tensor<64x64xf16>
  return %end : tensor<64x64xf16>
}
