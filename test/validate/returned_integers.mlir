// Integers that are returned are compared with what the device holds, which may be numbers of 16 bits.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/both.mlir -o %t/both --validate | FileCheck %s
// RUN: spyre-compile %t/wide.mlir -o %t/wide --validate | FileCheck %s
// RUN: spyre-compile %t/alone.mlir -o %t/alone --validate | FileCheck %s
// RUN: spyre-compile %t/unread.mlir -o %t/unread --validate | FileCheck %s
// RUN: spyre-compile %t/numbers.mlir -o %t/numbers --validate | FileCheck %s --check-prefixes=CHECK,JIT
// CHECK: validated: the files and the imported program agree
// JIT: validated: the files and the program as written

//--- both.mlir
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

//--- wide.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x70xi32>) -> (tensor<4x70xi32>, tensor<4x70xf16>) {
  %e = tensor.empty() : tensor<4x70xf16>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x70xi32>) outs(%e : tensor<4x70xf16>) {
  ^bb0(%a: i32, %o: f16):
    %f = arith.uitofp %a : i32 to f16
    linalg.yield %f : f16
  } -> tensor<4x70xf16>
  return %x, %y : tensor<4x70xi32>, tensor<4x70xf16>
}

//--- alone.mlir
func.func @main(%x: tensor<4x70xi8>, %y: tensor<4x70xf16>) -> (tensor<4x70xi8>, tensor<4x70xf16>) {
  %z = arith.addf %y, %y : tensor<4x70xf16>
  return %x, %z : tensor<4x70xi8>, tensor<4x70xf16>
}

//--- unread.mlir
func.func @main(%x: tensor<4x70xi8>, %w: tensor<4x70xf8E4M3FN>, %y: tensor<4x70xf16>) -> tensor<4x70xf16> {
  %z = arith.addf %y, %y : tensor<4x70xf16>
  return %z : tensor<4x70xf16>
}

//--- numbers.mlir
func.func @main(%x: f16) -> f16 {
  return %x : f16
}
