// Columns are parted in front of the last one nowhere: nothing multiplies by one column. The files that did were wrong.
// RUN: spyre-compile %s -o %t --sticks greedy --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s --compile-to lx --sticks greedy | FileCheck %s --check-prefix=IR

// CHECK: correct
// IR-NOT: 512x1xf16
#map = affine_map<(d0, d1) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @one_column_more(%arg0: tensor<512xf16>, %arg1: tensor<64x512xf16>, %arg2: tensor<64x257xf16>, %arg3: tensor<512x257xf16>, %arg4: tensor<512x257xf16>, %arg5: tensor<512x257xf16>) -> tensor<64x257xf16> {
    %0 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<512xf16>) outs(%arg4 : tensor<512x257xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<512x257xf16>
    %1 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg5, %0 : tensor<512x257xf16>, tensor<512x257xf16>) outs(%arg3 : tensor<512x257xf16>) {
    ^bb0(%in: f16, %in_0: f16, %out: f16):
      %3 = arith.mulf %in, %in_0 : f16
      linalg.yield %3 : f16
    } -> tensor<512x257xf16>
    %2 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg1, %1 : tensor<64x512xf16>, tensor<512x257xf16>) outs(%arg2 : tensor<64x257xf16>) {
    ^bb0(%in: f16, %in_0: f16, %out: f16):
      %3 = arith.mulf %in, %in_0 : f16
      %4 = arith.addf %3, %out : f16
      linalg.yield %4 : f16
    } -> tensor<64x257xf16>
    return %2 : tensor<64x257xf16>
  }
}

