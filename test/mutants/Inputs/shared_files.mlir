// options: --cores 2 --bundle-format=torch-spyre-2026-09 --lx-planner none
func.func @shared_files(%x: tensor<64x128xf16>, %y: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %first = spyre.pointwise sigmoid(%x) : tensor<64x128xf16>
  %second = spyre.pointwise sigmoid(%first) : tensor<64x128xf16>
  %third = spyre.pointwise sigmoid(%second) : tensor<64x128xf16>
  %sum = spyre.pointwise add(%third, %y) : tensor<64x128xf16>
  return %sum : tensor<64x128xf16>
}
