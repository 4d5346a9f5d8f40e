// Results that are no buffer of their own, or are shown under other dimensions than those that they were computed in.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/thrice.mlir -o %t/thrice > %t/log && spyre-run %t/thrice --check %t/thrice.mlir | FileCheck %s --check-prefix=THRICE
// RUN: spyre-compile %t/heads.mlir -o %t/heads > %t/log && spyre-run %t/heads --check %t/heads.mlir | FileCheck %s --check-prefix=HEADS

// RUN: spyre-compile %t/argument.mlir -o %t/argument > %t/log && spyre-run %t/argument --check %t/argument.mlir | FileCheck %s --check-prefix=THRICE

// RUN: spyre-compile %t/scope.mlir -o %t/scope > %t/log && spyre-run %t/scope --check %t/views.mlir | FileCheck %s --check-prefix=THRICE
// RUN: spyre-compile %t/views.mlir -o %t/views > %t/log && spyre-run %t/views --check %t/views.mlir | FileCheck %s --check-prefix=THRICE
// RUN: spyre-compile %t/turned.mlir -o %t/turned > %t/log && spyre-run %t/turned --check %t/turned.mlir | FileCheck %s --check-prefix=THRICE
// RUN: spyre-compile %t/constants.mlir -o %t/constants > %t/log && spyre-run %t/constants --check %t/constants.mlir | FileCheck %s --check-prefix=THRICE
// RUN: spyre-compile %t/parts.mlir -o %t/parts --addresses baked > %t/log && spyre-run %t/parts --check %t/parts.mlir | FileCheck %s --check-prefix=THRICE

// Each of them is a buffer.
// THRICE-COUNT-3: correct

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
// HEADS: correct

//--- heads.mlir
func.func @heads(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>) -> tensor<8x4x32xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %product = linalg.matmul ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf16>) -> tensor<8x128xf16>
  %heads = tensor.expand_shape %product [[0], [1, 2]] output_shape [8, 4, 32] : tensor<8x128xf16> into tensor<8x4x32xf16>
  return %heads : tensor<8x4x32xf16>
}

//--- scope.mlir
// One view, from outside of scopes and out of two of them.
func.func @views(%x: tensor<4x64xf16> {spyre.dims = ["B", "A"]}) -> (tensor<256xf16>, tensor<256xf16>, tensor<256xf16>) {
  %outside = tensor.collapse_shape %x [[0, 1]] : tensor<4x64xf16> into tensor<256xf16>
  %first = spyre.hint tiles(B = 2) {
    %inside = tensor.collapse_shape %x [[0, 1]] : tensor<4x64xf16> into tensor<256xf16>
    spyre.yield %inside : tensor<256xf16>
  }
  %second = spyre.hint tiles(B = 4) {
    %inside = tensor.collapse_shape %x [[0, 1]] : tensor<4x64xf16> into tensor<256xf16>
    spyre.yield %inside : tensor<256xf16>
  }
  return %outside, %first, %second : tensor<256xf16>, tensor<256xf16>, tensor<256xf16>
}

//--- views.mlir
// One view in three spellings.
func.func @views(%x: tensor<4x64xf16>) -> (tensor<256xf16>, tensor<256xf16>, tensor<256xf16>) {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x64xf16> into tensor<256xf16>
  %cube = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 64] : tensor<4x64xf16> into tensor<2x2x64xf16>
  %flat_cube = tensor.collapse_shape %cube [[0, 1, 2]] : tensor<2x2x64xf16> into tensor<256xf16>
  %all = tensor.extract_slice %flat[0] [256] [1] : tensor<256xf16> to tensor<256xf16>
  return %flat, %flat_cube, %all : tensor<256xf16>, tensor<256xf16>, tensor<256xf16>
}

//--- turned.mlir
// A value and, twice, its transpose, once behind two transposes more.
func.func @turned(%x: tensor<32x64xf16>) -> (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x32xf16>) {
  %rows = tensor.empty() : tensor<32x64xf16>
  %columns = tensor.empty() : tensor<64x32xf16>
  %y = linalg.exp ins(%x : tensor<32x64xf16>) outs(%rows : tensor<32x64xf16>) -> tensor<32x64xf16>
  %t = linalg.transpose ins(%y : tensor<32x64xf16>) outs(%columns : tensor<64x32xf16>) permutation = [1, 0]
  %back = linalg.transpose ins(%t : tensor<64x32xf16>) outs(%rows : tensor<32x64xf16>) permutation = [1, 0]
  %again = linalg.transpose ins(%back : tensor<32x64xf16>) outs(%columns : tensor<64x32xf16>) permutation = [1, 0]
  return %again, %y, %t : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x32xf16>
}

//--- constants.mlir
// One number in two spellings, and an argument that nothing is done with.
func.func @constants(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %ones = arith.constant dense<1.0> : tensor<8x64xf16>
  %one = arith.constant 1.0 : f16
  %empty = tensor.empty() : tensor<8x64xf16>
  %filled = linalg.fill ins(%one : f16) outs(%empty : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %ones, %filled, %x : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

//--- parts.mlir
// Overlapping parts of one value, and one part in two spellings.
func.func @parts(%x: tensor<32x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %empty = tensor.empty() : tensor<32x64xf16>
  %y = linalg.exp ins(%x : tensor<32x64xf16>) outs(%empty : tensor<32x64xf16>) -> tensor<32x64xf16>
  %first = tensor.extract_slice %y[4, 0] [8, 64] [1, 1] : tensor<32x64xf16> to tensor<8x64xf16>
  %half = tensor.extract_slice %y[0, 0] [16, 64] [1, 1] : tensor<32x64xf16> to tensor<16x64xf16>
  %same = tensor.extract_slice %half[4, 0] [8, 64] [1, 1] : tensor<16x64xf16> to tensor<8x64xf16>
  %later = tensor.extract_slice %y[8, 0] [8, 64] [1, 1] : tensor<32x64xf16> to tensor<8x64xf16>
  return %first, %same, %later : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}
