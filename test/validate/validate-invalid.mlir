// A program that cannot be executed is not reported as validated, and no file is written.
// RUN: rm -rf %t && split-file %s %t
// RUN: not spyre-compile %t/large.mlir --dims 0=M:K --validate -o %t/out 2>&1 | FileCheck %t/large.mlir
// RUN: not spyre-compile %t/sixteen.mlir --validate --compile-to import -o %t/out 2>&1 | FileCheck %t/sixteen.mlir
// RUN: not ls %t/out

//--- large.mlir
// Each result element depends on a complete matmul, and pieces would not have the dimensions that are named.
// CHECK: error{{.*}}cannot be validated: it takes 68736253952 element operations, more than 34359738368, and one element of each result alone takes {{[0-9]+}}, more than 34359738368, and it cannot be validated in pieces: options refer to dimensions, arguments, kernels or a plan of the complete program
func.func @product(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<1x1xf16> {
  %c = spyre.matmul(%a, %b) : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %d = spyre.reduce sum(%c) dims [0, 1] : tensor<4096x4096xf16> -> tensor<1x1xf16>
  return %d : tensor<1x1xf16>
}

//--- sixteen.mlir
// CHECK: error{{.*}}cannot be validated after phase 'import': cannot be interpreted: has a value of tensor<64x64xi16>
func.func @copy(%x: tensor<64x64xi16>) -> tensor<64x64xi16> {
  %y = spyre.copy %x : tensor<64x64xi16> -> tensor<64x64xi16>
  return %y : tensor<64x64xi16>
}
