// A convolution reads the image once for each point of the kernel. All patches side by side would be written and read as well, but a product with
// what is put together of parts is one with each part: it moves as little. docs/reference/lowerings.md has the figure.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/points.mlir -o %t/a | FileCheck %s --check-prefix=POINTS
// RUN: spyre-compile %t/patches.mlir -o %t/b | FileCheck %s --check-prefix=PATCHES

// POINTS: HBM traffic 342.0 KiB
// PATCHES: HBM traffic 342.0 KiB

//--- points.mlir
func.func @points(%x: tensor<1x14x14x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<1x12x12x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x12x12x128xf16>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x14x14x64xf16>, tensor<3x3x64x128xf16>) outs(%zero : tensor<1x12x12x128xf16>) -> tensor<1x12x12x128xf16>
  return %y : tensor<1x12x12x128xf16>
}

//--- patches.mlir
func.func @patches(%x: tensor<1x14x14x64xf16>, %w: tensor<576x128xf16>) -> tensor<1x12x12x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x12x12x128xf16>
  %s00 = tensor.extract_slice %x[0, 0, 0, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s01 = tensor.extract_slice %x[0, 0, 1, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s02 = tensor.extract_slice %x[0, 0, 2, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s10 = tensor.extract_slice %x[0, 1, 0, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s11 = tensor.extract_slice %x[0, 1, 1, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s12 = tensor.extract_slice %x[0, 1, 2, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s20 = tensor.extract_slice %x[0, 2, 0, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s21 = tensor.extract_slice %x[0, 2, 1, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %s22 = tensor.extract_slice %x[0, 2, 2, 0] [1, 12, 12, 64] [1, 1, 1, 1] : tensor<1x14x14x64xf16> to tensor<1x12x12x64xf16>
  %all = tensor.concat dim(3) %s00, %s01, %s02, %s10, %s11, %s12, %s20, %s21, %s22 : (tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>, tensor<1x12x12x64xf16>) -> tensor<1x12x12x576xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, e)>, affine_map<(a, b, c, d, e) -> (e, d)>, affine_map<(a, b, c, d, e) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%all, %w : tensor<1x12x12x576xf16>, tensor<576x128xf16>) outs(%zero : tensor<1x12x12x128xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %p = arith.mulf %a, %b : f16
    %q = arith.addf %o, %p : f16
    linalg.yield %q : f16
  } -> tensor<1x12x12x128xf16>
  return %y : tensor<1x12x12x128xf16>
}
