// More tensors than a launch with baked addresses takes: a value that the first launch leaves for a later one, and parts put together.
func.func @launches(%a: tensor<4x64xf16>, %b: tensor<4x64xf16>, %c: tensor<4x64xf16>, %d: tensor<4x64xf16>, %e: tensor<4x64xf16>,
                    %f: tensor<4x64xf16>, %g: tensor<4x64xf16>) -> (tensor<8x64xf16>, tensor<64x4xf16>) {
  %empty = tensor.empty() : tensor<4x64xf16>
  %0 = linalg.sub ins(%a, %b : tensor<4x64xf16>, tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %1 = linalg.add ins(%0, %c : tensor<4x64xf16>, tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %2 = linalg.mul ins(%1, %d : tensor<4x64xf16>, tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %3 = linalg.add ins(%2, %e : tensor<4x64xf16>, tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %4 = linalg.add ins(%3, %f : tensor<4x64xf16>, tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %5 = linalg.add ins(%4, %g : tensor<4x64xf16>, tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %joined = tensor.concat dim(0) %5, %0 : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<8x64xf16>
  %turned = tensor.empty() : tensor<64x4xf16>
  %t = linalg.transpose ins(%5 : tensor<4x64xf16>) outs(%turned : tensor<64x4xf16>) permutation = [1, 0]
  return %joined, %t : tensor<8x64xf16>, tensor<64x4xf16>
}
