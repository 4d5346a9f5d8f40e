// options: --cores 4 --dims 0=M:K --dims 1=K:N --tiles K=2 --lx-planner none
func.func @accumulated(%x: tensor<16x256xf16>, %y: tensor<256x64xf16>) -> tensor<16x64xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<16x256xf16>, tensor<256x64xf16>) -> tensor<16x64xf16>
  return %product : tensor<16x64xf16>
}
