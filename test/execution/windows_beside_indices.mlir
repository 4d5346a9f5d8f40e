// Windows that overlap along one dimension, and rows that an index chooses along another, as adaptive pooling reads them; and a pooling along three dimensions,
// which are more than an op walks along with their windows.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/chosen.mlir -o %t/chosen --validate && spyre-run %t/chosen --check %t/chosen.mlir | FileCheck %s
// RUN: spyre-compile %t/pool.mlir -o %t/pool --validate && spyre-run %t/pool --check %t/pool.mlir | FileCheck %s

// CHECK: result0: correct

//--- chosen.mlir
func.func @main(%x: tensor<10x12xf16>, %i: tensor<5xi64>) -> tensor<3x4x5xf16> {
  %e = tensor.empty() : tensor<3x4x5xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%i : tensor<5xi64>) outs(%e : tensor<3x4x5xf16>) {
  ^bb0(%a: i64, %o: f16):
    %three = arith.constant 3 : index
    %window = linalg.index 0 : index
    %point = linalg.index 1 : index
    %first = arith.muli %window, %three : index
    %row = arith.addi %first, %point : index
    %column = arith.index_cast %a : i64 to index
    %element = tensor.extract %x[%row, %column] : tensor<10x12xf16>
    linalg.yield %element : f16
  } -> tensor<3x4x5xf16>
  return %y : tensor<3x4x5xf16>
}

//--- pool.mlir
func.func @main(%x: tensor<2x3x6x6x6xf16>) -> tensor<2x3x3x3x3xf16> {
  %low = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<2x3x3x3x3xf16>
  %start = linalg.fill ins(%low : f16) outs(%e : tensor<2x3x3x3x3xf16>) -> tensor<2x3x3x3x3xf16>
  %kernel = tensor.empty() : tensor<2x2x2xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, x, y, z, i, j, k) -> (n, c, x * 2 + i, y * 2 + j, z * 2 + k)>,
      affine_map<(n, c, x, y, z, i, j, k) -> (i, j, k)>, affine_map<(n, c, x, y, z, i, j, k) -> (n, c, x, y, z)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %kernel : tensor<2x3x6x6x6xf16>, tensor<2x2x2xf16>) outs(%start : tensor<2x3x3x3x3xf16>) {
  ^bb0(%element: f16, %k: f16, %most: f16):
    %next = arith.maximumf %element, %most : f16
    linalg.yield %next : f16
  } -> tensor<2x3x3x3x3xf16>
  return %y : tensor<2x3x3x3x3xf16>
}
