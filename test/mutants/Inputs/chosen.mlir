// options: --cores 2 --addresses baked
func.func @chosen(%condition: tensor<64x64xf16>, %yes: tensor<64x64xf16>, %no: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %less = spyre.pointwise lesserthan(%condition, %yes) : tensor<64x64xf16>
  %chosen = spyre.pointwise where3(%less, %yes, %no) : tensor<64x64xf16>
  %exp = spyre.pointwise exp(%chosen) : tensor<64x64xf16>
  return %exp : tensor<64x64xf16>
}
