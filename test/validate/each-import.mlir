// A program of linalg cannot be interpreted: the first remark names the passes that nobody has judged.
// RUN: spyre-opt %s --spyre-compile="compile-to=layout" --spyre-validate-each 2>&1 | FileCheck %s

// CHECK: remark{{.*}}validated after pass 'spyre-import-linalg' only: no reference for 'spyre-select-program', 'spyre-lower-stablehlo', 'spyre-lower-tosa', 'spyre-check-input',{{.*}} 'spyre-import-linalg'
// CHECK-NOT: remark
// CHECK: func.func @sum
func.func @sum(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %z = linalg.add ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %z : tensor<64x64xf16>
}
