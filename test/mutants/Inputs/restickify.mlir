// options: --cores 2
func.func @restickify(%a: tensor<128x96xf16>, %b: tensor<96x128xf16>) -> tensor<96x128xf16> {
  %turned = spyre.view %a by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x96xf16> -> tensor<96x128xf16>
  %difference = spyre.pointwise sub(%turned, %b) : tensor<96x128xf16>
  return %difference : tensor<96x128xf16>
}
