// A slice of one element along a dimension may have any stride there, also where the result is without another dimension of one.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK-COUNT-2: agrees with the reference
func.func @step_over_one(%x: tensor<2x1x4xf16>, %y: tensor<3x5xf16>, %z: tensor<1xf16>) -> (tensor<1xf16>, tensor<3x5xf16>) {
  %sum = math.absf %x : tensor<2x1x4xf16>
  %part = tensor.extract_slice %sum[1, 0, 2] [1, 1, 1] [1, 1, 2] : tensor<2x1x4xf16> to tensor<1xf16>
  %twice = arith.addf %part, %part : tensor<1xf16>
  %exp = math.absf %y : tensor<3x5xf16>
  %whole = tensor.insert_slice %z into %exp[1, 3] [1, 1] [2, 3] : tensor<1xf16> into tensor<3x5xf16>
  return %twice, %whole : tensor<1xf16>, tensor<3x5xf16>
}
