// RUN: spyre-opt --spyre-pad-contractions --mlir-print-local-scope --split-input-file %s | FileCheck %s

// Of a constant there is another one, with zeros behind its rows, as a product sees it: nothing is written at run time.
// CHECK-LABEL: func.func @columns_are_rows(
// CHECK-NOT:     spyre.insert
// CHECK:         spyre.constant dense<"0x003C00420040004400000000{{0+}}"> : tensor<64x2xf16>
// CHECK-NOT:     spyre.insert
// CHECK:         spyre.matmul(
func.func @columns_are_rows(%x: tensor<8x2xf16>) -> tensor<8x2xf16> {
  %weights = spyre.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %shown = spyre.view %weights by affine_map<(d0, d1) -> (d1, d0)> : tensor<2x2xf16> -> tensor<2x2xf16>
  %product = spyre.matmul(%x, %shown) : (tensor<8x2xf16>, tensor<2x2xf16>) -> tensor<8x2xf16>
  return %product : tensor<8x2xf16>
}

// -----

// One tap of a convolution, and one number for all: with the numbers that they were rounded from.
// CHECK-LABEL: func.func @parts(
// CHECK-NOT:     spyre.insert
// CHECK:         spyre.constant dense<{{\[}}[2.000000e+00], [0.000000e+00], {{.+}}]> : tensor<32x1xf32> {exact = dense<{{\[}}[2.000000e+00], [0.000000e+00], {{.+}}]> : tensor<32x1xf64>}
// CHECK:         spyre.constant dense<{{\[}}[1.000000e+00], [1.000000e+00], [1.000000e+00], [0.000000e+00], {{.+}}]> : tensor<32x1xf32>
// CHECK-NOT:     spyre.insert
func.func @parts(%x: tensor<8x1xf32>, %y: tensor<8x3xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>) {
  %weights = spyre.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32> {exact = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf64>}
  %tap = spyre.view %weights by affine_map<(d0, d1) -> (d1, d0, 1)> : tensor<1x1x3xf32> -> tensor<1x1xf32>
  %one = spyre.matmul(%x, %tap) : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %ones = spyre.constant dense<1.0> : tensor<3x1xf32>
  %sums = spyre.matmul(%y, %ones) : (tensor<8x3xf32>, tensor<3x1xf32>) -> tensor<8x1xf32>
  return %one, %sums : tensor<8x1xf32>, tensor<8x1xf32>
}
