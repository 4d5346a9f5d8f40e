// options: --cores 2 --bundle-format=torch-spyre-2026-09 --dim-size s0=96:32 --tiles s0=3
func.func @sized_loop(%x: tensor<?x128xf16> {spyre.dims = ["s0", "N"]}) -> tensor<?x128xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf16>
  %e = tensor.empty(%n) : tensor<?x128xf16>
  %exp = linalg.exp ins(%x : tensor<?x128xf16>) outs(%e : tensor<?x128xf16>) -> tensor<?x128xf16>
  %neg = linalg.negf ins(%exp : tensor<?x128xf16>) outs(%e : tensor<?x128xf16>) -> tensor<?x128xf16>
  return %neg : tensor<?x128xf16>
}
