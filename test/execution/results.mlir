// Results that are no buffer of their own, or are shown under other dimensions than those that they were computed in.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/thrice.mlir -o %t/thrice > %t/log && spyre-run %t/thrice --check %t/thrice.mlir | FileCheck %s --check-prefix=THRICE
// RUN: spyre-compile %t/heads.mlir -o %t/heads > %t/log && spyre-run %t/heads --check %t/heads.mlir | FileCheck %s --check-prefix=HEADS

// RUN: spyre-compile %t/argument.mlir -o %t/argument > %t/log && spyre-run %t/argument --check %t/argument.mlir | FileCheck %s --check-prefix=THRICE

// Each of them is a buffer.
// THRICE-COUNT-3: agrees with the reference

//--- thrice.mlir
func.func @thrice(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %init = tensor.empty() : tensor<8x64xf16>
  %y = linalg.exp ins(%x : tensor<8x64xf16>) outs(%init : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %y, %y, %y : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

//--- argument.mlir
func.func @argument(%x: tensor<64xf16>) -> (tensor<64xf16>, tensor<64xf16>, tensor<64xf16>) {
  return %x, %x, %x : tensor<64xf16>, tensor<64xf16>, tensor<64xf16>
}

// Two heads of 32 columns in a stick.
// HEADS: agrees with the reference

//--- heads.mlir
func.func @heads(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>) -> tensor<8x4x32xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %product = linalg.matmul ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf16>) -> tensor<8x128xf16>
  %heads = tensor.expand_shape %product [[0], [1, 2]] output_shape [8, 4, 32] : tensor<8x128xf16> into tensor<8x4x32xf16>
  return %heads : tensor<8x4x32xf16>
}
