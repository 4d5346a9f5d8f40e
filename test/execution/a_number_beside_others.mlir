// A known number that is one part of several has the elements of the others, also where no value may be computed in another format.
// RUN: spyre-compile %s -o %t --precision strict > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: correct
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> (0)>
  func.func @a_number_beside_others(%arg0: tensor<64xf16>, %arg1: tensor<2xf16>, %arg2: tensor<1xf16>) -> tensor<66xf16> {
    %3 = arith.constant dense<1.000000e+00> : tensor<64xf16>
    %cst_0 = arith.constant 0xFC00 : f16
    %4 = linalg.fill ins(%cst_0 : f16) outs(%arg2 : tensor<1xf16>) -> tensor<1xf16>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction"]} ins(%3 : tensor<64xf16>) outs(%4 : tensor<1xf16>) {
    ^bb0(%in: f16, %out: f16):
      %7 = arith.maximumf %in, %out : f16
      linalg.yield %7 : f16
    } -> tensor<1xf16>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%5 : tensor<1xf16>) outs(%arg1 : tensor<2xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2xf16>
    %concat = tensor.concat dim(0) %6, %arg0 : (tensor<2xf16>, tensor<64xf16>) -> tensor<66xf16>
    return %concat : tensor<66xf16>
  }
