// options: --cores 4 --lx-planner none
func.func @concat(%x: tensor<32x64xf16>, %y: tensor<32x128xf16>, %z: tensor<32x192xf16>) -> tensor<32x192xf16> {
  %left = spyre.pointwise exp(%x) : tensor<32x64xf16>
  %right = spyre.pointwise neg(%y) : tensor<32x128xf16>
  %buffer = spyre.empty : tensor<32x192xf16>
  %half = spyre.insert %left into %buffer at [0, 0] : tensor<32x64xf16> into tensor<32x192xf16>
  %whole = spyre.insert %right into %half at [0, 64] : tensor<32x128xf16> into tensor<32x192xf16>
  %difference = spyre.pointwise sub(%whole, %z) : tensor<32x192xf16>
  return %difference : tensor<32x192xf16>
}
