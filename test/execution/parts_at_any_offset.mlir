// Parts that begin or end inside of a stick, along dimensions that no other dimension can stand for: they are written in one element a stick, and
// what reads them does so through copies.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/conv.mlir -o %t/conv --validate > %t.log && spyre-run %t/conv --wipe-lx --check %t/conv.mlir | FileCheck %s
// RUN: spyre-compile %t/conv.mlir -o %t/conv_1 --cores 1 --lx-planner none --validate > %t.log && spyre-run %t/conv_1 --check %t/conv.mlir | FileCheck %s
// RUN: spyre-compile %t/class_token.mlir -o %t/class_token --validate > %t.log && spyre-run %t/class_token --check %t/class_token.mlir | FileCheck %s
// RUN: spyre-compile %t/padded_rows.mlir -o %t/padded_rows --validate > %t.log && spyre-run %t/padded_rows --check %t/padded_rows.mlir | FileCheck %s
// RUN: spyre-compile %t/every_fifth.mlir -o %t/every_fifth --validate > %t.log && spyre-run %t/every_fifth --check %t/every_fifth.mlir | FileCheck %s
// RUN: spyre-compile %t/flat_product.mlir -o %t/flat_product --validate > %t.log && spyre-run %t/flat_product --check %t/flat_product.mlir | FileCheck %s
// CHECK: result0: correct

// A causal convolution of channels, of which some are read as heads.
//--- conv.mlir
func.func @main(%x: tensor<1x160x32xf16>, %w: tensor<160x4xf16>) -> tensor<1x2x16x4x16xf16> {
  %c = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0, 0, 3] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f16
  } : tensor<1x160x32xf16> to tensor<1x160x35xf16>
  %e = tensor.empty() : tensor<1x160x32xf16>
  %zeros = linalg.fill ins(%c : f16) outs(%e : tensor<1x160x32xf16>) -> tensor<1x160x32xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, t, k) -> (n, c, t + k)>, affine_map<(n, c, t, k) -> (c, k)>, affine_map<(n, c, t, k) -> (n, c, t)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%padded, %w : tensor<1x160x35xf16>, tensor<160x4xf16>) outs(%zeros : tensor<1x160x32xf16>) {
  ^bb0(%a: f16, %b: f16, %sum: f16):
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %sum, %p : f16
    linalg.yield %s : f16
  } -> tensor<1x160x32xf16>
  %t = tensor.empty() : tensor<1x32x160xf16>
  %turned = linalg.transpose ins(%y : tensor<1x160x32xf16>) outs(%t : tensor<1x32x160xf16>) permutation = [0, 2, 1]
  %part = tensor.extract_slice %turned[0, 0, 96] [1, 32, 64] [1, 1, 1] : tensor<1x32x160xf16> to tensor<1x32x64xf16>
  %heads = tensor.expand_shape %part [[0], [1, 2], [3, 4]] output_shape [1, 2, 16, 4, 16] : tensor<1x32x64xf16> into tensor<1x2x16x4x16xf16>
  %r = tensor.empty() : tensor<1x2x16x4x16xf16>
  %exp = linalg.exp ins(%heads : tensor<1x2x16x4x16xf16>) outs(%r : tensor<1x2x16x4x16xf16>) -> tensor<1x2x16x4x16xf16>
  return %exp : tensor<1x2x16x4x16xf16>
}

// Patches behind a class token as an image.
//--- class_token.mlir
func.func @main(%x: tensor<2x17x48xf16>) -> tensor<2x48x4x4xf16> {
  %patches = tensor.extract_slice %x[0, 1, 0] [2, 16, 48] [1, 1, 1] : tensor<2x17x48xf16> to tensor<2x16x48xf16>
  %image = tensor.expand_shape %patches [[0], [1, 2], [3]] output_shape [2, 4, 4, 48] : tensor<2x16x48xf16> into tensor<2x4x4x48xf16>
  %e = tensor.empty() : tensor<2x48x4x4xf16>
  %turned = linalg.transpose ins(%image : tensor<2x4x4x48xf16>) outs(%e : tensor<2x48x4x4xf16>) permutation = [0, 3, 1, 2]
  %r = tensor.empty() : tensor<2x48x4x4xf16>
  %exp = linalg.exp ins(%turned : tensor<2x48x4x4xf16>) outs(%r : tensor<2x48x4x4xf16>) -> tensor<2x48x4x4xf16>
  return %exp : tensor<2x48x4x4xf16>
}

// Rows behind an offset that their number does not divide, put together anew and padded.
//--- padded_rows.mlir
func.func @main(%x: tensor<65x32x1xf16>) -> tensor<17x9x34x1xf16> {
  %c = arith.constant -2.0 : f16
  %rows = tensor.extract_slice %x[13, 0, 0] [52, 32, 1] [1, 1, 1] : tensor<65x32x1xf16> to tensor<52x32x1xf16>
  %apart = tensor.expand_shape %rows [[0, 1], [2], [3]] output_shape [13, 4, 32, 1] : tensor<52x32x1xf16> into tensor<13x4x32x1xf16>
  %padded = tensor.pad %apart low[4, 5, 0, 0] high[0, 0, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f16
  } : tensor<13x4x32x1xf16> to tensor<17x9x34x1xf16>
  return %padded : tensor<17x9x34x1xf16>
}

// Every fifth column of a number that five does not divide, padded on both sides.
//--- every_fifth.mlir
func.func @main(%x: tensor<9x67xf32>) -> tensor<9x19xf32> {
  %c = arith.constant 1.5 : f32
  %columns = tensor.extract_slice %x[0, 2] [9, 13] [1, 5] : tensor<9x67xf32> to tensor<9x13xf32>
  %padded = tensor.pad %columns low[0, 3] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<9x13xf32> to tensor<9x19xf32>
  return %padded : tensor<9x19xf32>
}

// A padded row in a product whose result is read as one list: the operand and the result are in the way of sticks.
//--- flat_product.mlir
func.func @main(%x: tensor<1x6xf16>, %w: tensor<11x77xf16>) -> tensor<154xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[1, 0] high[0, 5] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<1x6xf16> to tensor<2x11xf16>
  %e = tensor.empty() : tensor<2x77xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<2x77xf16>) -> tensor<2x77xf16>
  %y = linalg.matmul ins(%padded, %w : tensor<2x11xf16>, tensor<11x77xf16>) outs(%zeros : tensor<2x77xf16>) -> tensor<2x77xf16>
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<2x77xf16> into tensor<154xf16>
  return %flat : tensor<154xf16>
}
