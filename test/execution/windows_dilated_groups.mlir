// Convolutions of groups whose weights were spread apart along one dimension of the window, as JAX writes the gradients of strided ones: the
// positions of the weights are more than a product has batch dimensions for, and lie in LX beside groups that cores divide.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/fill.mlir -o %t/fill --validate > %t/log && spyre-run %t/fill --check %t/fill.mlir | FileCheck %s
// RUN: spyre-compile %t/argument.mlir -o %t/argument --validate > %t/log && spyre-run %t/argument --check %t/argument.mlir | FileCheck %s

// CHECK: result0: correct

//--- fill.mlir
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d7, d3 + d4, d5 + d6, d0, d1)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d4, d6, d1, d0, d2)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d7, d3, d5, d0, d2)>
module {
  func.func public @main(%a0: tensor<1x7x7x8xf32>, %a1: tensor<3x3x4x2xf32>) -> tensor<1x3x5x2xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<5x3x4x2xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<5x3x4x2xf32>) -> tensor<5x3x4x2xf32>
    %inserted_slice = tensor.insert_slice %a1 into %1[0, 0, 0, 0] [3, 3, 4, 2] [2, 1, 1, 1] : tensor<3x3x4x2xf32> into tensor<5x3x4x2xf32>
    %expanded = tensor.expand_shape %a0 [[0], [1], [2], [3, 4]] output_shape [1, 7, 7, 2, 4] : tensor<1x7x7x8xf32> into tensor<1x7x7x2x4xf32>
    %expanded_0 = tensor.expand_shape %inserted_slice [[0], [1], [2], [3, 4]] output_shape [5, 3, 4, 2, 1] : tensor<5x3x4x2xf32> into tensor<5x3x4x2x1xf32>
    %2 = tensor.empty() : tensor<1x3x5x2x1xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<1x3x5x2x1xf32>) -> tensor<1x3x5x2x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction", "parallel", "parallel", "reduction", "parallel", "reduction", "parallel"]} ins(%expanded, %expanded_0 : tensor<1x7x7x2x4xf32>, tensor<5x3x4x2x1xf32>) outs(%3 : tensor<1x3x5x2x1xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %5 = arith.mulf %in, %in_1 : f32
      %6 = arith.addf %out, %5 : f32
      linalg.yield %6 : f32
    } -> tensor<1x3x5x2x1xf32>
    %collapsed = tensor.collapse_shape %4 [[0], [1], [2], [3, 4]] : tensor<1x3x5x2x1xf32> into tensor<1x3x5x2xf32>
    return %collapsed : tensor<1x3x5x2xf32>
  }
}

//--- argument.mlir
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d7, d3 * 2 + d4, d5 + d6, d0, d1)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d4, d6, d1, d0, d2)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d7, d3, d5, d0, d2)>
module  {
  func.func public @main(%arg0: tensor<5x3x8x3xf32>, %arg1: tensor<1x4x5x3x1xf32>, %arg2: tensor<1x11x9x3x8xf32>, %arg3: tensor<5x5x8x3xf32>) -> tensor<1x4x5x3x1xf32> {
    %inserted_slice = tensor.insert_slice %arg0 into %arg3[0, 0, 0, 0] [5, 3, 8, 3] [1, 2, 1, 1] : tensor<5x3x8x3xf32> into tensor<5x5x8x3xf32>
    %expanded = tensor.expand_shape %inserted_slice [[0], [1], [2], [3, 4]] output_shape [5, 5, 8, 3, 1] : tensor<5x5x8x3xf32> into tensor<5x5x8x3x1xf32>
    %0 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction", "parallel", "parallel", "reduction", "parallel", "reduction", "parallel"]} ins(%arg2, %expanded : tensor<1x11x9x3x8xf32>, tensor<5x5x8x3x1xf32>) outs(%arg1 : tensor<1x4x5x3x1xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %1 = arith.mulf %in, %in_0 : f32
      %2 = arith.addf %out, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<1x4x5x3x1xf32>
    return %0 : tensor<1x4x5x3x1xf32>
  }
}
