// A product, a bias, a row maximum and what is left of it: every family but gathers, and values in LX.
func.func @layers(%x: tensor<64x128xf16>, %w: tensor<128x64xf16>, %b: tensor<64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %low = arith.constant 0xFC00 : f16
  %0 = tensor.empty() : tensor<64x64xf16>
  %1 = linalg.fill ins(%zero : f16) outs(%0 : tensor<64x64xf16>) -> tensor<64x64xf16>
  %2 = linalg.matmul ins(%x, %w : tensor<64x128xf16>, tensor<128x64xf16>) outs(%1 : tensor<64x64xf16>) -> tensor<64x64xf16>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%2, %b : tensor<64x64xf16>, tensor<64xf16>) outs(%0 : tensor<64x64xf16>) {
  ^bb0(%in: f16, %bias: f16, %out: f16):
    %sum = arith.addf %in, %bias : f16
    linalg.yield %sum : f16
  } -> tensor<64x64xf16>
  %4 = tensor.empty() : tensor<64xf16>
  %5 = linalg.fill ins(%low : f16) outs(%4 : tensor<64xf16>) -> tensor<64xf16>
  %6 = linalg.reduce {arith.maximumf} ins(%3 : tensor<64x64xf16>) outs(%5 : tensor<64xf16>) dimensions = [1]
  %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%3, %6 : tensor<64x64xf16>, tensor<64xf16>) outs(%0 : tensor<64x64xf16>) {
  ^bb0(%in: f16, %max: f16, %out: f16):
    %difference = arith.subf %in, %max : f16
    %exp = math.exp %difference : f16
    linalg.yield %exp : f16
  } -> tensor<64x64xf16>
  return %7 : tensor<64x64xf16>
}
