// RUN: spyre-opt --split-input-file --spyre-compile=compile-to=import --mlir-print-local-scope %s | FileCheck %s

// JAX calls helper functions; the pipeline inlines them before the import, also numbers that they take.

// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[SILU:%.+]] = spyre.pointwise silu([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[CLIP:%.+]] = spyre.pointwise clip([[SILU]]) {constants = array<f64: -1.000000e+00, 1.000000e+00>} : tensor<8x64xf16>
// CHECK-NEXT:    return [[CLIP]] : tensor<8x64xf16>
// CHECK-NOT:   func.func
func.func public @main(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %low = arith.constant -1.0 : f16
  %high = arith.constant 1.0 : f16
  %y = call @silu(%x) : (tensor<8x64xf16>) -> tensor<8x64xf16>
  %z = call @clip(%y, %low, %high) : (tensor<8x64xf16>, f16, f16) -> tensor<8x64xf16>
  return %z : tensor<8x64xf16>
}
func.func private @silu(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %one = arith.constant dense<1.0> : tensor<8x64xf16>
  %n = arith.negf %x : tensor<8x64xf16>
  %e = math.exp %n : tensor<8x64xf16>
  %d = arith.addf %e, %one : tensor<8x64xf16>
  %s = arith.divf %one, %d : tensor<8x64xf16>
  %y = arith.mulf %x, %s : tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}
func.func private @clip(%x: tensor<8x64xf16>, %low: f16, %high: f16) -> tensor<8x64xf16> {
  %lows = tensor.splat %low : tensor<8x64xf16>
  %highs = tensor.splat %high : tensor<8x64xf16>
  %above = arith.maximumf %x, %lows : tensor<8x64xf16>
  %y = arith.minimumf %above, %highs : tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}
