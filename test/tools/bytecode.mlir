// RUN: spyre-opt %s -emit-bytecode -o %t.mlirbc
// RUN: spyre-opt %t.mlirbc | FileCheck %s
// RUN: spyre-opt < %t.mlirbc | FileCheck %s
// RUN: spyre-compile %t.mlirbc --compile-to import | FileCheck %s --check-prefix=IMPORTED
// RUN: spyre-opt %s -emit-bytecode -emit-bytecode-version=5 -o %t.old && spyre-opt %t.old | FileCheck %s

// The bytecode of this MLIR comes back, also that of its older formats.
// CHECK: linalg.exp
// IMPORTED: spyre.pointwise
func.func @exp(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %y = linalg.exp ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
