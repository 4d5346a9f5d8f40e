// x + transpose(x). Both operands of the addition must have the same dimension in their sticks, so the compiler copies
// x once into the other layout (docs/concepts/layouts-and-sticks.md).
func.func @transposed_sum(%x: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %out = tensor.empty() : tensor<256x256xf16>
  %t = linalg.transpose ins(%x : tensor<256x256xf16>) outs(%out : tensor<256x256xf16>) permutation = [1, 0]
  %sum = linalg.add ins(%x, %t : tensor<256x256xf16>, tensor<256x256xf16>)
                    outs(%out : tensor<256x256xf16>) -> tensor<256x256xf16>
  return %sum : tensor<256x256xf16>
}
