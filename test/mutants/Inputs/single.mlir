// options: --cores 2 --lx-planner none
func.func @single(%x: tensor<32x96xf32>, %y: tensor<32x96xf32>) -> tensor<32x96xf32> {
  %difference = spyre.pointwise sub(%x, %y) : tensor<32x96xf32>
  %max = spyre.reduce max(%difference) dims [1] : tensor<32x96xf32> -> tensor<32x1xf32>
  %shifted = spyre.pointwise sub(%difference, %max) : (tensor<32x96xf32>, tensor<32x1xf32>) -> tensor<32x96xf32>
  return %shifted : tensor<32x96xf32>
}
