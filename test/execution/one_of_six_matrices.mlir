// A factor of a product is at one position of a dimension of six, which stands outside of one of size 1: it is part of the sticks.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: correct
#map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
module {
  func.func @one_of_six_matrices(%arg0: tensor<4x4x4x64xf16> {spyre.dims = ["N0", "N1", "N5", "N9"]}, %arg1: tensor<4x4x4x64xf16>, %arg2: tensor<4x4x4x6x4xf16>, %arg3: tensor<4x4x4x6x4xf16>, %arg4: tensor<4x4x4x4x6x4xf16>) -> tensor<4x4x4x64xf16> {
    %cst = arith.constant 0.000000e+00 : f16
    %0 = linalg.fill ins(%cst : f16) outs(%arg3 : tensor<4x4x4x6x4xf16>) -> tensor<4x4x4x6x4xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%arg4 : tensor<4x4x4x4x6x4xf16>) outs(%0 : tensor<4x4x4x6x4xf16>) {
    ^bb0(%in: f16, %out: f16):
      %4 = arith.addf %in, %out : f16
      linalg.yield %4 : f16
    } -> tensor<4x4x4x6x4xf16>
    %2 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<4x4x4x6x4xf16>) outs(%arg2 : tensor<4x4x4x6x4xf16>) {
    ^bb0(%in: f16, %out: f16):
      %cst_0 = arith.constant 4.000000e+00 : f16
      %4 = arith.divf %in, %cst_0 : f16
      linalg.yield %4 : f16
    } -> tensor<4x4x4x6x4xf16>
    %extracted_slice = tensor.extract_slice %2[0, 0, 0, 0, 0] [4, 4, 4, 1, 4] [1, 1, 1, 2, 1] : tensor<4x4x4x6x4xf16> to tensor<4x4x4x4xf16>
    %3 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%extracted_slice, %arg0 : tensor<4x4x4x4xf16>, tensor<4x4x4x64xf16>) outs(%arg1 : tensor<4x4x4x64xf16>) {
    ^bb0(%in: f16, %in_0: f16, %out: f16):
      %4 = arith.mulf %in, %in_0 : f16
      %5 = arith.addf %4, %out : f16
      linalg.yield %5 : f16
    } -> tensor<4x4x4x64xf16>
    return %3 : tensor<4x4x4x64xf16>
  }
}

