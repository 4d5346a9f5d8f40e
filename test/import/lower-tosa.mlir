// RUN: spyre-opt --split-input-file --spyre-lower-tosa %s | FileCheck %s
// RUN: spyre-opt --split-input-file --spyre-compile=compile-to=import %s | FileCheck %s --check-prefix=IMPORTED

// Upstream says what the ops mean; nothing is left of the dialect, constants of sizes included.

// CHECK-LABEL: func.func @row(
// CHECK:         linalg.generic
// CHECK:           arith.addf
// CHECK-NOT:     tosa
// IMPORTED-LABEL: func.func @row(
// IMPORTED:         spyre.pointwise add(
func.func @row(%x: tensor<8x64xf16>, %y: tensor<1x64xf16>) -> tensor<8x64xf16> {
  %z = tosa.add %x, %y : (tensor<8x64xf16>, tensor<1x64xf16>) -> tensor<8x64xf16>
  return %z : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @reshaped(
// CHECK:         tensor.collapse_shape
// CHECK-NOT:     tosa
// IMPORTED-LABEL: func.func @reshaped(
// IMPORTED:         spyre.view
func.func @reshaped(%x: tensor<2x8x64xf16>) -> tensor<16x64xf16> {
  %to = tosa.const_shape {values = dense<[16, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %y = tosa.reshape %x, %to : (tensor<2x8x64xf16>, !tosa.shape<2>) -> tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}

// -----

// TOSA's pad has its sizes as operands: numbers of compile time.

// CHECK-LABEL: func.func @padded(
// CHECK:         tensor.pad
// IMPORTED-LABEL: func.func @padded(
// IMPORTED:         spyre.insert
func.func @padded(%x: tensor<8x64xf16>) -> tensor<8x70xf16> {
  %by = tosa.const_shape {values = dense<[0, 0, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %with = "tosa.const"() <{values = dense<1.5> : tensor<1xf16>}> : () -> tensor<1xf16>
  %y = tosa.pad %x, %by, %with : (tensor<8x64xf16>, !tosa.shape<4>, tensor<1xf16>) -> tensor<8x70xf16>
  return %y : tensor<8x70xf16>
}

// -----

// A program without such ops stays as it is, what nobody uses included.

// CHECK-LABEL: func.func @other(
// CHECK-NEXT:    arith.constant 1.0
// CHECK-NEXT:    return
func.func @other(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %one = arith.constant 1.0 : f16
  return %x : tensor<8x64xf16>
}
