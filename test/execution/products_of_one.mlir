// Products of one column, and products that sum one element, in ops that are made of products.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/one_key.mlir -o %t/one_key --validate > %t/log && spyre-run %t/one_key --check %t/one_key.mlir | FileCheck %s
// RUN: spyre-compile %t/one_column.mlir -o %t/one_column --validate > %t/log && spyre-run %t/one_column --check %t/one_column.mlir | FileCheck %s
// RUN: spyre-compile %t/one_row.mlir -o %t/one_row --validate > %t/log && spyre-run %t/one_row --check %t/one_row.mlir | FileCheck %s
// RUN: spyre-compile %t/one_factor.mlir -o %t/one_factor --validate > %t/log && spyre-run %t/one_factor --check %t/one_factor.mlir | FileCheck %s
// CHECK: result0: correct

//--- one_key.mlir
func.func @main(%q: tensor<2x8x64xf16>, %k: tensor<2x1x64xf16>, %v: tensor<2x1x64xf16>) -> tensor<2x8x64xf16> {
  %e = tensor.empty() : tensor<2x8x64xf16>
  %y = tm_tensor.attention ins(%q, %k, %v : tensor<2x8x64xf16>, tensor<2x1x64xf16>, tensor<2x1x64xf16>) outs(%e : tensor<2x8x64xf16>) -> tensor<2x8x64xf16>
  return %y : tensor<2x8x64xf16>
}

//--- one_column.mlir
func.func @main(%q: tensor<2x8x1xf16>, %k: tensor<2x4x1xf16>, %v: tensor<2x4x1xf16>) -> tensor<2x8x1xf16> {
  %e = tensor.empty() : tensor<2x8x1xf16>
  %y = tm_tensor.attention ins(%q, %k, %v : tensor<2x8x1xf16>, tensor<2x4x1xf16>, tensor<2x4x1xf16>) outs(%e : tensor<2x8x1xf16>) -> tensor<2x8x1xf16>
  return %y : tensor<2x8x1xf16>
}

// A table of one row, at an index that is computed.
//--- one_row.mlir
func.func @main(%l: tensor<2x2xi32>, %t: tensor<1x64xf16>) -> tensor<2x64xf16> {
  %c4 = arith.constant dense<4> : tensor<2x2xi32>
  %q = arith.divsi %l, %c4 : tensor<2x2xi32>
  %e = tensor.empty() : tensor<2x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x64xf16>) {
  ^bb0(%o: f16):
    %zero = arith.constant 0 : index
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %i = tensor.extract %q[%row, %zero] : tensor<2x2xi32>
    %p = arith.index_cast %i : i32 to index
    %least = arith.maxsi %p, %zero : index
    %most = arith.minsi %least, %zero : index
    %x = tensor.extract %t[%most, %column] : tensor<1x64xf16>
    linalg.yield %x : f16
  } -> tensor<2x64xf16>
  return %y : tensor<2x64xf16>
}

//--- one_factor.mlir
func.func @main(%a: tensor<2x1xf16>, %b: tensor<1x64xf16>) -> tensor<2x64xf16> {
  %c = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x64xf16>
  %z = linalg.fill ins(%c : f16) outs(%e : tensor<2x64xf16>) -> tensor<2x64xf16>
  %y = linalg.matmul ins(%a, %b : tensor<2x1xf16>, tensor<1x64xf16>) outs(%z : tensor<2x64xf16>) -> tensor<2x64xf16>
  return %y : tensor<2x64xf16>
}
