// An index that is repeated along a dimension of the table, and turned on the way: `torch.take_along_dim(x, i[..., None], 1)`.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct

#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%arg0: tensor<5x37x9xf16>, %arg1: tensor<5x4xi64>) -> tensor<5x4x9xf16> {
  %c37_i64 = arith.constant 37 : i64
  %c0_i64 = arith.constant 0 : i64
  %cst = arith.constant 0.000000e+00 : f16
  %c37 = arith.constant 37 : index
  %0 = tensor.empty() : tensor<5x4x9xi64>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<5x4xi64>) outs(%0 : tensor<5x4x9xi64>) {
  ^bb0(%in: i64, %out: i64):
    linalg.yield %in : i64
  } -> tensor<5x4x9xi64>
  %2 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<5x4x9xi64>) outs(%0 : tensor<5x4x9xi64>) {
  ^bb0(%in: i64, %out: i64):
    %6 = arith.remsi %in, %c37_i64 : i64
    %7 = arith.cmpi ne, %6, %c0_i64 : i64
    %8 = arith.cmpi slt, %6, %c0_i64 : i64
    %9 = arith.andi %7, %8 : i1
    %10 = arith.addi %6, %c37_i64 : i64
    %11 = arith.select %9, %10, %6 : i64
    linalg.yield %11 : i64
  } -> tensor<5x4x9xi64>
  %3 = tensor.empty() : tensor<5x4x9xf16>
  %4 = linalg.fill ins(%cst : f16) outs(%3 : tensor<5x4x9xf16>) -> tensor<5x4x9xf16>
  %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<5x4x9xi64>) outs(%4 : tensor<5x4x9xf16>) {
  ^bb0(%in: i64, %out: f16):
    %6 = linalg.index 0 : index
    %7 = arith.index_cast %in : i64 to index
    %8 = linalg.index 2 : index
    %9 = arith.cmpi slt, %7, %c37 : index
    cf.assert %9, "index must be smaller than dim size"
    %10 = arith.cmpi sge, %in, %c0_i64 : i64
    cf.assert %10, "index must be larger or equal to 0"
    %extracted = tensor.extract %arg0[%6, %7, %8] : tensor<5x37x9xf16>
    linalg.yield %extracted : f16
  } -> tensor<5x4x9xf16>
  return %5 : tensor<5x4x9xf16>
}
