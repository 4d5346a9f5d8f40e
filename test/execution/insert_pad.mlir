// Padding inserts the tensor into a larger buffer, and zeros into the remainder.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=COST < %t/log
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/baked --addresses baked --loops unroll > %t/log && spyre-run %t/baked --check %t/linalg.mlir | FileCheck %s

// The lower bound counts both arguments and both results, one of which is written in slices.
// COST: lower bound 112.0 KiB

// CHECK: result0: correct
// CHECK: result1: correct

//--- spyre.mlir
func.func @pad(%x: tensor<4x32x64xf16>, %weights: tensor<4x64x64xf16>) -> (tensor<4x64x64xf16>, tensor<4x64x64xf16>) {
  %zeros = spyre.pointwise sub(%x, %x) : tensor<4x32x64xf16>
  %buffer = spyre.empty : tensor<4x64x64xf16>
  %0 = spyre.insert %x into %buffer at [0, 0, 0] : tensor<4x32x64xf16> into tensor<4x64x64xf16>
  %padded = spyre.insert %zeros into %0 at [0, 32, 0] : tensor<4x32x64xf16> into tensor<4x64x64xf16>
  %product = spyre.matmul(%weights, %padded) : (tensor<4x64x64xf16>, tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  return %padded, %product : tensor<4x64x64xf16>, tensor<4x64x64xf16>
}

//--- linalg.mlir
func.func @pad(%x: tensor<4x32x64xf16>, %weights: tensor<4x64x64xf16>) -> (tensor<4x64x64xf16>, tensor<4x64x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0, 0, 0] high[0, 32, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f16
  } : tensor<4x32x64xf16> to tensor<4x64x64xf16>
  %empty = tensor.empty() : tensor<4x64x64xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  %product = linalg.batch_matmul ins(%weights, %padded : tensor<4x64x64xf16>, tensor<4x64x64xf16>)
    outs(%zeros : tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  return %padded, %product : tensor<4x64x64xf16>, tensor<4x64x64xf16>
}
