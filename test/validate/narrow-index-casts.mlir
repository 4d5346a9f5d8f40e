// `canonicalize` removes pairs of casts of `index` though the inner one drops bits: the reference keeps them.
// RUN: spyre-compile %s -o %t --validate | FileCheck %s
// CHECK: validated: the files and the program as written

#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %v = arith.constant dense<[1, -1, 9223372036854775807, 7, 12, 5, 6, 1000]> : tensor<8xindex>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %v : tensor<8xf32>, tensor<8xindex>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %i: index, %o: f32):
    %0 = arith.index_castui %i : index to i2
    %1 = arith.index_castui %0 : i2 to index
    %2 = arith.index_cast %i : index to i3
    %3 = arith.index_cast %2 : i3 to index
    %4 = arith.addi %1, %3 : index
    %5 = arith.index_cast %4 : index to i64
    %6 = arith.sitofp %5 : i64 to f32
    %7 = arith.addf %a, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
