// Integers that are only moved keep their type when they are padded, joined or selected by a list, and when a maximum of one element vanishes;
// truth values and integers of 64 bits are returned as other integers.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/padded.mlir -o %t/padded --validate > %t.log && spyre-run %t/padded --check %t/parts/padded.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/joined.mlir -o %t/joined --validate > %t.log && spyre-run %t/joined --check %t/parts/joined.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/selected.mlir -o %t/selected --validate > %t.log && spyre-run %t/selected --check %t/parts/selected.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/maximum.mlir -o %t/maximum --validate > %t.log && spyre-run %t/maximum --check %t/parts/maximum.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/truths.mlir -o %t/truths --validate > %t.log && spyre-run %t/truths --check %t/parts/truths.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/words.mlir -o %t/words --validate > %t.log && spyre-run %t/words --check %t/parts/words.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK-NOT: error[

//--- padded.mlir
func.func @main(%x: tensor<5x5xi64>) -> tensor<7x6xi64> {
  %z = arith.constant -3 : i64
  %p = tensor.pad %x low[2, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : i64
  } : tensor<5x5xi64> to tensor<7x6xi64>
  return %p : tensor<7x6xi64>
}

//--- joined.mlir
func.func @main(%x: tensor<3x4xi8>, %y: tensor<2x4xi8>) -> tensor<6x4xi8> {
  %ones = arith.constant dense<1> : tensor<1x4xi8>
  %j = tensor.concat dim(0) %x, %ones, %y : (tensor<3x4xi8>, tensor<1x4xi8>, tensor<2x4xi8>) -> tensor<6x4xi8>
  return %j : tensor<6x4xi8>
}

//--- selected.mlir
func.func @main(%x: tensor<5x5x5xi64>) -> tensor<5x2x5xi64> {
  %rows = arith.constant dense<[0, 3]> : tensor<2xi64>
  %e = tensor.empty() : tensor<5x2x5xi64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(a, b, c) -> (b)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%rows : tensor<2xi64>) outs(%e : tensor<5x2x5xi64>) {
  ^bb0(%row: i64, %o: i64):
    %a = linalg.index 0 : index
    %b = arith.index_cast %row : i64 to index
    %c = linalg.index 2 : index
    %v = tensor.extract %x[%a, %b, %c] : tensor<5x5x5xi64>
    linalg.yield %v : i64
  } -> tensor<5x2x5xi64>
  return %r : tensor<5x2x5xi64>
}

//--- maximum.mlir
func.func @main(%x: tensor<3x1xi64>) -> tensor<3xi64> {
  %least = arith.constant -9223372036854775808 : i64
  %e = tensor.empty() : tensor<3xi64>
  %f = linalg.fill ins(%least : i64) outs(%e : tensor<3xi64>) -> tensor<3xi64>
  %r = linalg.reduce ins(%x : tensor<3x1xi64>) outs(%f : tensor<3xi64>) dimensions = [1] (%a: i64, %b: i64) {
    %m = arith.maxsi %a, %b : i64
    linalg.yield %m : i64
  }
  return %r : tensor<3xi64>
}

//--- truths.mlir
func.func @main(%x: tensor<3x4xi1>) -> tensor<3x4xi64> {
  %y = arith.extui %x : tensor<3x4xi1> to tensor<3x4xi64>
  return %y : tensor<3x4xi64>
}

//--- words.mlir
func.func @main(%x: tensor<3x4xi64>) -> tensor<3x4xi32> {
  %y = arith.trunci %x : tensor<3x4xi64> to tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}
