// Slices with strides along three dimensions: a dimension that is read with a stride is two to the device, and an op walks along six.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/returned.mlir -o %t/returned --validate > %t/log && spyre-run %t/returned --check %t/returned.mlir | FileCheck %s
// RUN: spyre-compile %t/joined.mlir -o %t/joined --validate > %t/log && spyre-run %t/joined --check %t/joined.mlir | FileCheck %s
// CHECK: result0: correct

//--- returned.mlir
func.func @main(%x: tensor<11x5x68x5xbf16>) -> tensor<2x3x2xbf16> {
  %slice = tensor.extract_slice %x[0, 0, 59, 2] [2, 3, 2, 1] [2, 2, 5, 3] : tensor<11x5x68x5xbf16> to tensor<2x3x2x1xbf16>
  %flat = tensor.collapse_shape %slice [[0], [1], [2, 3]] : tensor<2x3x2x1xbf16> into tensor<2x3x2xbf16>
  return %flat : tensor<2x3x2xbf16>
}

//--- joined.mlir
func.func @main(%x: tensor<7x12x36x5x7xf16>) -> tensor<7x4x24x3x1xf16> {
  %slice = tensor.extract_slice %x[0, 0, 0, 0, 5] [7, 4, 12, 3, 1] [1, 3, 2, 2, 3] : tensor<7x12x36x5x7xf16> to tensor<7x4x12x3x1xf16>
  %both = tensor.concat dim(2) %slice, %slice : (tensor<7x4x12x3x1xf16>, tensor<7x4x12x3x1xf16>) -> tensor<7x4x24x3x1xf16>
  return %both : tensor<7x4x24x3x1xf16>
}
