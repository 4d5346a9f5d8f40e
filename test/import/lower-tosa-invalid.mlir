// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-lower-tosa %s

func.func @scattered(%x: tensor<1x8x64xf32>, %i: tensor<1x2xi32>, %part: tensor<1x2x64xf32>) -> tensor<1x8x64xf32> {
  // expected-error @+1 {{'tosa.scatter' op has no lowering to linalg in MLIR 22: not supported}}
  %y = tosa.scatter %x, %i, %part : (tensor<1x8x64xf32>, tensor<1x2xi32>, tensor<1x2x64xf32>) -> tensor<1x8x64xf32>
  return %y : tensor<1x8x64xf32>
}
