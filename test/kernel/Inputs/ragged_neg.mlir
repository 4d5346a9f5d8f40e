// Padding stays 0 under a negation.
// INLINE 1, STAGE 0, SEPARATE 0
func.func private @row_sums(%x: tensor<128x100xf16> {spyre.dims = ["rows", ""]}) -> tensor<128xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>]} {
  %zero = arith.constant 0.0 : f16
  %y = spyre.hint tiles(rows = T) {
    %row = tensor.empty() : tensor<128xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%row : tensor<128xf16>) -> tensor<128xf16>
    %sum = linalg.reduce ins(%x : tensor<128x100xf16>) outs(%begin : tensor<128xf16>) dimensions = [1]
      (%in: f16, %acc: f16) {
        %added = arith.addf %in, %acc : f16
        linalg.yield %added : f16
      }
    spyre.yield %sum : tensor<128xf16>
  }
  return %y : tensor<128xf16>
}

func.func @main(%x: tensor<128x100xf16>) -> tensor<128xf16> {
  %empty = tensor.empty() : tensor<128x100xf16>
  %made = linalg.negf ins(%x : tensor<128x100xf16>) outs(%empty : tensor<128x100xf16>) -> tensor<128x100xf16>
  %y = call @row_sums(%made) : (tensor<128x100xf16>) -> tensor<128xf16>
  return %y : tensor<128xf16>
}
