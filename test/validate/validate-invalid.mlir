// What cannot be executed is not called validated, and nothing is written.
// RUN: rm -rf %t && split-file %s %t
// RUN: not spyre-compile %t/large.mlir --validate -o %t/out 2>&1 | FileCheck %t/large.mlir
// RUN: not spyre-compile %t/eight.mlir --validate --compile-to import -o %t/out 2>&1 | FileCheck %t/eight.mlir
// RUN: not ls %t/out

//--- large.mlir
// CHECK: error: 'builtin.module' op cannot be validated: takes 68719476736 element operations, more than 34359738368
func.func @product(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %c = spyre.matmul(%a, %b) : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %c : tensor<4096x4096xf16>
}

//--- eight.mlir
// CHECK: error: 'builtin.module' op cannot be validated after phase 'import': cannot be interpreted: has a value of tensor<64x64xi8>
func.func @copy(%x: tensor<64x64xi8>) -> tensor<64x64xi8> {
  %y = spyre.copy %x : tensor<64x64xi8> -> tensor<64x64xi8>
  return %y : tensor<64x64xi8>
}
