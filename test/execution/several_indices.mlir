// An element of a table at two and three indices of run time: pairs of them, rows against columns, and beside a dimension that moves on its own.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/pairs.mlir -o %t/pairs --validate && spyre-run %t/pairs --check %t/pairs.mlir | FileCheck %s
// RUN: spyre-compile %t/grid.mlir -o %t/grid --validate && spyre-run %t/grid --check %t/grid.mlir | FileCheck %s
// RUN: spyre-compile %t/three.mlir -o %t/three --validate && spyre-run %t/three --check %t/three.mlir | FileCheck %s

// CHECK: result0: correct

//--- pairs.mlir
#one = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<30x70xf16>, %i: tensor<9xi64>, %j: tensor<9xi64>) -> tensor<9xf16> {
  %e = tensor.empty() : tensor<9xf16>
  %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%i, %j : tensor<9xi64>, tensor<9xi64>) outs(%e : tensor<9xf16>) {
  ^bb0(%a: i64, %b: i64, %o: f16):
    %row = arith.index_cast %a : i64 to index
    %column = arith.index_cast %b : i64 to index
    %element = tensor.extract %x[%row, %column] : tensor<30x70xf16>
    linalg.yield %element : f16
  } -> tensor<9xf16>
  return %y : tensor<9xf16>
}

//--- grid.mlir
func.func @main(%x: tensor<2x30x70xf16>, %i: tensor<9xi64>, %j: tensor<5xi64>) -> tensor<2x9x5xf16> {
  %e = tensor.empty() : tensor<2x9x5xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%i, %j : tensor<9xi64>, tensor<5xi64>) outs(%e : tensor<2x9x5xf16>) {
  ^bb0(%a: i64, %b: i64, %o: f16):
    %plane = linalg.index 0 : index
    %row = arith.index_cast %a : i64 to index
    %column = arith.index_cast %b : i64 to index
    %element = tensor.extract %x[%plane, %row, %column] : tensor<2x30x70xf16>
    linalg.yield %element : f16
  } -> tensor<2x9x5xf16>
  return %y : tensor<2x9x5xf16>
}

//--- three.mlir
#pair = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<6x7x5xf16>, %i: tensor<4xi64>, %j: tensor<4x3xi64>, %k: tensor<4x3xi64>) -> tensor<4x3xf16> {
  %e = tensor.empty() : tensor<4x3xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #pair, #pair, #pair],
      iterator_types = ["parallel", "parallel"]} ins(%i, %j, %k : tensor<4xi64>, tensor<4x3xi64>, tensor<4x3xi64>) outs(%e : tensor<4x3xf16>) {
  ^bb0(%a: i64, %b: i64, %c: i64, %o: f16):
    %plane = arith.index_cast %a : i64 to index
    %row = arith.index_cast %b : i64 to index
    %column = arith.index_cast %c : i64 to index
    %element = tensor.extract %x[%plane, %row, %column] : tensor<6x7x5xf16>
    linalg.yield %element : f16
  } -> tensor<4x3xf16>
  return %y : tensor<4x3xf16>
}
