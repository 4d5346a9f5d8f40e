// A grouped convolution reads one of two neighboring columns of an image whose groups are divided over cores. The files
// have columns and groups as one dimension, so a core's own image cannot be in LX: it would need a part of that dimension.
// RUN: spyre-compile %s -o %t --validate | FileCheck %s
// RUN: spyre-run %t --check %s | FileCheck %s --check-prefix=AGREES

// CHECK: validated
// AGREES: result0: correct
func.func @main(%x: tensor<1x3x5x8x4xf32>, %w: tensor<1x3x4x8x2xf32>) -> tensor<1x5x3x8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0, 0] high[0, 1, 1, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
    tensor.yield %zero : f32
  } : tensor<1x3x5x8x4xf32> to tensor<1x5x7x8x4xf32>
  %e = tensor.empty() : tensor<1x3x4x8x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4x8x2xf32>) -> tensor<1x3x4x8x2xf32>
  %spread = tensor.insert_slice %w into %f[0, 0, 0, 0, 0] [1, 3, 4, 8, 2] [2, 1, 1, 1, 1] : tensor<1x3x4x8x2xf32> into tensor<1x3x4x8x2xf32>
  %empty = tensor.empty() : tensor<1x5x3x8x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x5x3x8x2xf32>) -> tensor<1x5x3x8x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 1 + d5 * 2, d2 * 2 + d6 * 1, d3, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d3, d4)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%padded, %spread : tensor<1x5x7x8x4xf32>, tensor<1x3x4x8x2xf32>) outs(%start : tensor<1x5x3x8x2xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x5x3x8x2xf32>
  return %y : tensor<1x5x3x8x2xf32>
}
