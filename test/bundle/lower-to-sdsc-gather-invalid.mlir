// RUN: not spyre-compile %s -o %t 2>&1 | FileCheck %s

// A gather has no dimension that neither its index nor its table has; `spyre-import-linalg` repeats what is chosen, and an edited program may not.
// CHECK: lower-to-sdsc-gather-invalid.mlir:[[#@LINE+3]]:8: error{{.*}}'spyre.gather' op repeats a gather along dimension 1, which neither the index nor the table has; gather once and broadcast the result
func.func @repeated(%table: tensor<32x64xf16>, %index: tensor<5x4xi64>) -> tensor<5x9x4x64xf16> {
  %shown = spyre.view %index by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<5x4xi64> -> tensor<5x9x4xi64>
  %y = spyre.gather(%table, %shown) dim 0 : (tensor<32x64xf16>, tensor<5x9x4xi64>) -> tensor<5x9x4x64xf16>
  return %y : tensor<5x9x4x64xf16>
}
