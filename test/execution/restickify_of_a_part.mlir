// Nine rows of a larger tensor are copied before they are turned in their sticks, as a restickify pads what it reads: the copy stays, though it is in
// HBM like the tensor that it copies.
//
// RUN: spyre-compile %s -o %t --tile-search none --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// CHECK: result0: correct
// CHECK: result1: correct
func.func @turned(%x: tensor<33x32x2xf16>, %y: tensor<97x2x32xf16>) -> (tensor<2x32x11x3xf16>, tensor<9x10xf16>) {
  %last = tensor.extract_slice %y[64, 0, 0] [33, 2, 32] [1, 1, 1] : tensor<97x2x32xf16> to tensor<33x2x32xf16>
  %empty = tensor.empty() : tensor<2x32x33xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1, d0)>, affine_map<(d0, d1, d2) -> (d2, d0, d1)>,
                                          affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %last : tensor<33x32x2xf16>, tensor<33x2x32xf16>) outs(%empty : tensor<2x32x33xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2x32x33xf16>
  %expanded = tensor.expand_shape %sum [[0], [1], [2, 3]] output_shape [2, 32, 11, 3] : tensor<2x32x33xf16> into tensor<2x32x11x3xf16>
  %rows = tensor.extract_slice %y[0, 1, 0] [9, 1, 32] [1, 1, 1] : tensor<97x2x32xf16> to tensor<9x1x32xf16>
  %every_other = tensor.extract_slice %rows[0, 0, 0] [9, 1, 10] [1, 1, 2] : tensor<9x1x32xf16> to tensor<9x10xf16>
  return %expanded, %every_other : tensor<2x32x11x3xf16>, tensor<9x10xf16>
}
