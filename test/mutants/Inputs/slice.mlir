// options: --cores 2
func.func @slice(%x: tensor<64x256xf16>, %y: tensor<32x128xf16>) -> (tensor<32x128xf16>, tensor<64x64xf16>) {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 + 16, d1 + 64)> : tensor<64x256xf16> -> tensor<32x128xf16>
  %first = spyre.pointwise sub(%rows, %y) : tensor<32x128xf16>
  %exp = spyre.pointwise exp(%x) : tensor<64x256xf16>
  %columns = spyre.view %exp by affine_map<(d0, d1) -> (d0, d1 + 128)> : tensor<64x256xf16> -> tensor<64x64xf16>
  %second = spyre.pointwise neg(%columns) : tensor<64x64xf16>
  return %first, %second : tensor<32x128xf16>, tensor<64x64xf16>
}
