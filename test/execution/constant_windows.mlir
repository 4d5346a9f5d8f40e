// A convolution whose weights are a small constant: every row of the image reads the same ones, which are not repeated for each.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s

// CHECK: result0: correct
func.func @constant_windows(%image: tensor<1x3x13x13xf16>) -> tensor<1x4x6x6xf16> {
  %weights = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[9.0, 10.0], [11.0, 12.0]]],
                                   [[[1.5, 2.5], [3.5, 4.5]], [[5.5, 6.5], [7.5, 8.5]], [[9.5, 10.5], [11.5, 12.5]]],
                                   [[[-1.0, 2.0], [-3.0, 4.0]], [[-5.0, 6.0], [-7.0, 8.0]], [[-9.0, 10.0], [-11.0, 12.0]]],
                                   [[[1.0, 0.0], [0.0, 4.0]], [[5.0, 0.0], [0.0, 8.0]], [[9.0, 0.0], [0.0, 12.0]]]]> : tensor<4x3x2x2xf16>
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<1x4x6x6xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x4x6x6xf16>) -> tensor<1x4x6x6xf16>
  %sums = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%image, %weights : tensor<1x3x13x13xf16>, tensor<4x3x2x2xf16>) outs(%start : tensor<1x4x6x6xf16>) -> tensor<1x4x6x6xf16>
  return %sums : tensor<1x4x6x6xf16>
}
