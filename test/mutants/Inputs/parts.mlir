// options: --cores 2
// Rows of a value in LX, with others in front and a gap behind those of each column of sticks.
func.func @parts(%x: tensor<6x256xf16>) -> tensor<3x256xf16> {
  %whole = tensor.empty() : tensor<6x256xf16>
  %exp = linalg.exp ins(%x : tensor<6x256xf16>) outs(%whole : tensor<6x256xf16>) -> tensor<6x256xf16>
  %upper = tensor.extract_slice %exp[1, 0] [3, 256] [1, 1] : tensor<6x256xf16> to tensor<3x256xf16>
  %lower = tensor.extract_slice %exp[3, 0] [3, 256] [1, 1] : tensor<6x256xf16> to tensor<3x256xf16>
  %part = tensor.empty() : tensor<3x256xf16>
  %difference = linalg.sub ins(%upper, %lower : tensor<3x256xf16>, tensor<3x256xf16>) outs(%part : tensor<3x256xf16>) -> tensor<3x256xf16>
  return %difference : tensor<3x256xf16>
}
