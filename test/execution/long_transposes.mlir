// Transposes of more dimensions than an op has: in one view, as digits of few dimensions, and as a chain of views; their results are read
// with other merged dimensions, with a broadcast operand, and by a reduction. An operand that lacks every second dimension.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/wide.mlir -o %t/wide --validate > %t.log && spyre-run %t/wide --check %t/parts/wide.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/digits.mlir -o %t/digits --validate > %t.log && spyre-run %t/digits --check %t/parts/digits.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/repeated.mlir -o %t/repeated --validate > %t.log && spyre-run %t/repeated --check %t/parts/repeated.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/chain.mlir -o %t/chain --validate > %t.log && spyre-run %t/chain --check %t/parts/chain.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK-NOT: error[

//--- wide.mlir
func.func @main(%x: tensor<2x3x2x3x2x3x2x33xf16>, %b: tensor<1x1x1x2x3x1x33x3xf16>) -> tensor<2x2x2x2x3x33x3xf16> {
  %e = tensor.empty() : tensor<2x2x2x2x3x3x33x3xf16>
  %t = linalg.transpose ins(%x : tensor<2x3x2x3x2x3x2x33xf16>) outs(%e : tensor<2x2x2x2x3x3x33x3xf16>) permutation = [6, 0, 4, 2, 5, 1, 7, 3]
  %y = linalg.generic {
    indexing_maps = [affine_map<(a, b, c, d, e, f, g, h) -> (a, b, c, d, e, f, g, h)>, affine_map<(a, b, c, d, e, f, g, h) -> (0, 0, 0, d, e, 0, g, h)>, affine_map<(a, b, c, d, e, f, g, h) -> (a, b, c, d, e, f, g, h)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%t, %b : tensor<2x2x2x2x3x3x33x3xf16>, tensor<1x1x1x2x3x1x33x3xf16>) outs(%e : tensor<2x2x2x2x3x3x33x3xf16>) {
  ^bb0(%i: f16, %j: f16, %o: f16):
    %s = arith.addf %i, %j : f16
    linalg.yield %s : f16
  } -> tensor<2x2x2x2x3x3x33x3xf16>
  %z = arith.constant 0.0 : f16
  %e1 = tensor.empty() : tensor<2x2x2x2x3x33x3xf16>
  %f = linalg.fill ins(%z : f16) outs(%e1 : tensor<2x2x2x2x3x33x3xf16>) -> tensor<2x2x2x2x3x33x3xf16>
  %r = linalg.reduce ins(%y : tensor<2x2x2x2x3x3x33x3xf16>) outs(%f : tensor<2x2x2x2x3x33x3xf16>) dimensions = [5] (%i: f16, %o: f16) {
    %s = arith.addf %i, %o : f16
    linalg.yield %s : f16
  }
  return %r : tensor<2x2x2x2x3x33x3xf16>
}

//--- digits.mlir
// Units of 2 x 2 positions, three times one inside the other, as Hiera orders them.
func.func @main(%x: tensor<1x3136x32xf16>) -> tensor<1x3136x32xf16> {
  %a = tensor.expand_shape %x [[0], [1, 2, 3, 4, 5, 6, 7, 8], [9]] output_shape [1, 7, 2, 2, 2, 7, 2, 2, 2, 32] : tensor<1x3136x32xf16> into tensor<1x7x2x2x2x7x2x2x2x32xf16>
  %e = tensor.empty() : tensor<1x2x2x2x2x2x2x7x7x32xf16>
  %t = linalg.transpose ins(%a : tensor<1x7x2x2x2x7x2x2x2x32xf16>) outs(%e : tensor<1x2x2x2x2x2x2x7x7x32xf16>) permutation = [0, 4, 8, 3, 7, 2, 6, 1, 5, 9]
  %c = tensor.collapse_shape %t [[0], [1, 2, 3, 4, 5, 6, 7, 8], [9]] : tensor<1x2x2x2x2x2x2x7x7x32xf16> into tensor<1x3136x32xf16>
  %o = tensor.empty() : tensor<1x3136x32xf16>
  %y = linalg.exp ins(%c : tensor<1x3136x32xf16>) outs(%o : tensor<1x3136x32xf16>) -> tensor<1x3136x32xf16>
  return %y : tensor<1x3136x32xf16>
}

//--- chain.mlir
func.func @main(%x: tensor<64x64x32xf16>) -> tensor<4096x32xf16> {
  %a = tensor.expand_shape %x [[0, 1], [2, 3], [4]] output_shape [32, 2, 32, 2, 32] : tensor<64x64x32xf16> into tensor<32x2x32x2x32xf16>
  %e = tensor.empty() : tensor<2x2x32x32x32xf16>
  %t = linalg.transpose ins(%a : tensor<32x2x32x2x32xf16>) outs(%e : tensor<2x2x32x32x32xf16>) permutation = [1, 3, 0, 2, 4]
  %b = tensor.expand_shape %t [[0], [1], [2, 3], [4, 5], [6]] output_shape [2, 2, 16, 2, 16, 2, 32] : tensor<2x2x32x32x32xf16> into tensor<2x2x16x2x16x2x32xf16>
  %f = tensor.empty() : tensor<2x2x2x2x16x16x32xf16>
  %u = linalg.transpose ins(%b : tensor<2x2x16x2x16x2x32xf16>) outs(%f : tensor<2x2x2x2x16x16x32xf16>) permutation = [3, 5, 0, 1, 2, 4, 6]
  %c = tensor.expand_shape %u [[0], [1], [2], [3], [4, 5], [6, 7], [8]] output_shape [2, 2, 2, 2, 8, 2, 8, 2, 32] : tensor<2x2x2x2x16x16x32xf16> into tensor<2x2x2x2x8x2x8x2x32xf16>
  %g = tensor.empty() : tensor<2x2x2x2x2x2x8x8x32xf16>
  %v = linalg.transpose ins(%c : tensor<2x2x2x2x8x2x8x2x32xf16>) outs(%g : tensor<2x2x2x2x2x2x8x8x32xf16>) permutation = [5, 7, 0, 1, 2, 3, 4, 6, 8]
  %d = tensor.collapse_shape %v [[0, 1, 2, 3, 4, 5, 6, 7], [8]] : tensor<2x2x2x2x2x2x8x8x32xf16> into tensor<4096x32xf16>
  %o = tensor.empty() : tensor<4096x32xf16>
  %y = linalg.exp ins(%d : tensor<4096x32xf16>) outs(%o : tensor<4096x32xf16>) -> tensor<4096x32xf16>
  return %y : tensor<4096x32xf16>
}

//--- repeated.mlir
#all = affine_map<(a, b, c, d, e, f, g, h) -> (a, b, c, d, e, f, g, h)>
func.func @main(%x: tensor<2x3x2x3x2x3x2x70xf16>, %y: tensor<2x2x2x2xf16>) -> tensor<2x3x2x3x2x3x2x70xf16> {
  %o = tensor.empty() : tensor<2x3x2x3x2x3x2x70xf16>
  %z = linalg.generic {indexing_maps = [#all, affine_map<(a, b, c, d, e, f, g, h) -> (a, c, e, g)>, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<2x3x2x3x2x3x2x70xf16>, tensor<2x2x2x2xf16>) outs(%o : tensor<2x3x2x3x2x3x2x70xf16>) {
  ^bb0(%v: f16, %w: f16, %out: f16):
    %s = arith.addf %v, %w : f16
    linalg.yield %s : f16
  } -> tensor<2x3x2x3x2x3x2x70xf16>
  return %z : tensor<2x3x2x3x2x3x2x70xf16>
}
