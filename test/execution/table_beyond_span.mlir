// Tables that are larger than a core can address are read in windows of one stick of their columns: a last stick that is filled in part, rows
// of two dimensions, an index along the second dimension, an op that goes on.
// RUN: split-file %s %t
// RUN: spyre-compile %t/program.mlir --target %t/target.json -o %t/out --validate > %t.log && spyre-run %t/out --check %t/program.mlir | FileCheck %s
// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct

//--- target.json
{"core_span_bytes": 60000}

//--- program.mlir
#index = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#index3 = affine_map<(d0, d1, d2) -> (d0)>
#all3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%x: tensor<300x200xf16>, %rows: tensor<250x3x70xf16>, %middle: tensor<4x300x64xf16>, %list: tensor<5xi64>)
    -> (tensor<5x200xf16>, tensor<5x3x70xf16>, tensor<5x4x64xf16>, tensor<5x200xf16>) {
  %e = tensor.empty() : tensor<5x200xf16>
  %0 = linalg.generic {indexing_maps = [#index, #all], iterator_types = ["parallel", "parallel"]} ins(%list : tensor<5xi64>) outs(%e : tensor<5x200xf16>) {
  ^bb0(%in: i64, %out: f16):
    %at = arith.index_cast %in : i64 to index
    %column = linalg.index 1 : index
    %read = tensor.extract %x[%at, %column] : tensor<300x200xf16>
    linalg.yield %read : f16
  } -> tensor<5x200xf16>
  %e3 = tensor.empty() : tensor<5x3x70xf16>
  %1 = linalg.generic {indexing_maps = [#index3, #all3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%list : tensor<5xi64>) outs(%e3 : tensor<5x3x70xf16>) {
  ^bb0(%in: i64, %out: f16):
    %at = arith.index_cast %in : i64 to index
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %read = tensor.extract %rows[%at, %row, %column] : tensor<250x3x70xf16>
    linalg.yield %read : f16
  } -> tensor<5x3x70xf16>
  %e4 = tensor.empty() : tensor<5x4x64xf16>
  %2 = linalg.generic {indexing_maps = [#index3, #all3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%list : tensor<5xi64>) outs(%e4 : tensor<5x4x64xf16>) {
  ^bb0(%in: i64, %out: f16):
    %at = arith.index_cast %in : i64 to index
    %block = linalg.index 1 : index
    %column = linalg.index 2 : index
    %read = tensor.extract %middle[%block, %at, %column] : tensor<4x300x64xf16>
    linalg.yield %read : f16
  } -> tensor<5x4x64xf16>
  %3 = linalg.exp ins(%0 : tensor<5x200xf16>) outs(%e : tensor<5x200xf16>) -> tensor<5x200xf16>
  return %0, %1, %2, %3 : tensor<5x200xf16>, tensor<5x3x70xf16>, tensor<5x4x64xf16>, tensor<5x200xf16>
}
