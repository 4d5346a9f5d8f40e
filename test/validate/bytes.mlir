// Integers of 8 bits that are returned are compared as integers, with a sign and without.
// RUN: spyre-compile %s -o %t --validate | FileCheck %s
// CHECK: validated: the files and the imported program agree
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x70xi8>) -> (tensor<4x70xi8>, tensor<4x70xf16>) {
  %e = tensor.empty() : tensor<4x70xf16>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x70xi8>) outs(%e : tensor<4x70xf16>) {
  ^bb0(%a: i8, %o: f16):
    %f = arith.uitofp %a : i8 to f16
    linalg.yield %f : f16
  } -> tensor<4x70xf16>
  return %x, %y : tensor<4x70xi8>, tensor<4x70xf16>
}
