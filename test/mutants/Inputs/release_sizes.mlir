// options: --cores 2 --bundle-format=1.0 --dim-size s0=64:32
func.func @sizes(%x: tensor<?x128xf16> {spyre.dims = ["s0", "N"]}) -> tensor<?x128xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf16>
  %e = tensor.empty(%n) : tensor<?x128xf16>
  %exp = linalg.exp ins(%x : tensor<?x128xf16>) outs(%e : tensor<?x128xf16>) -> tensor<?x128xf16>
  return %exp : tensor<?x128xf16>
}
