// RUN: spyre-opt --spyre-defer-divisions --mlir-print-local-scope %s | FileCheck %s

// CHECK-LABEL: func.func @weights(
// CHECK:         [[E:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[E]])
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[E]], {{%.+}}) : (tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[DIVISOR:%.+]] = spyre.view [[SUM]] by affine_map<(d0, d1) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[Y:%.+]] = spyre.pointwise realdiv([[PRODUCT]], [[DIVISOR]])
// CHECK-NEXT:    return [[Y]]
func.func @weights(%x: tensor<8x256xf16>, %v: tensor<256x64xf16>) -> tensor<8x64xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
  %e = spyre.pointwise exp(%d) : tensor<8x256xf16>
  %sum = spyre.reduce sum(%e) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
  %p = spyre.pointwise realdiv(%e, %sum) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
  %y = spyre.matmul(%p, %v) : (tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// The weights as the right operand, heads that a view merges, and a bound that is not just the maximum.
// CHECK-LABEL: func.func @turned(
// CHECK:         [[PRODUCT:%.+]] = spyre.matmul({{%.+}}, {{%.+}}) : (tensor<4x64x256xf16>, tensor<4x256x8xf16>) -> tensor<4x64x8xf16>
// CHECK-NEXT:    [[DIVISOR:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (d0 floordiv 2, d0 mod 2, d2, 0)> : tensor<2x2x8x1xf16> -> tensor<4x1x8xf16>
// CHECK-NEXT:    spyre.pointwise realdiv([[PRODUCT]], [[DIVISOR]])
func.func @turned(%x: tensor<2x2x8x256xf16>, %low: tensor<1x1x1x1xf16>, %v: tensor<4x64x256xf16>) -> tensor<4x64x8xf16> {
  %max = spyre.reduce max(%x) dims [3] : tensor<2x2x8x256xf16> -> tensor<2x2x8x1xf16>
  %bound = spyre.pointwise maximum(%max, %low) : (tensor<2x2x8x1xf16>, tensor<1x1x1x1xf16>) -> tensor<2x2x8x1xf16>
  %d = spyre.pointwise sub(%x, %bound) : (tensor<2x2x8x256xf16>, tensor<2x2x8x1xf16>) -> tensor<2x2x8x256xf16>
  %e = spyre.pointwise exp(%d) : tensor<2x2x8x256xf16>
  %sum = spyre.reduce sum(%e) dims [3] : tensor<2x2x8x256xf16> -> tensor<2x2x8x1xf16>
  %p = spyre.pointwise realdiv(%e, %sum) : (tensor<2x2x8x256xf16>, tensor<2x2x8x1xf16>) -> tensor<2x2x8x256xf16>
  %turned = spyre.view %p by affine_map<(h, t, s) -> (h floordiv 2, h mod 2, s, t)> : tensor<2x2x8x256xf16> -> tensor<4x256x8xf16>
  %y = spyre.matmul(%v, %turned) : (tensor<4x64x256xf16>, tensor<4x256x8xf16>) -> tensor<4x64x8xf16>
  return %y : tensor<4x64x8xf16>
}

// Without a bound of the exponent the sums before the division could overflow.
// CHECK-LABEL: func.func @unbounded(
// CHECK:         [[P:%.+]] = spyre.pointwise realdiv(
// CHECK-NEXT:    spyre.matmul([[P]],
func.func @unbounded(%x: tensor<8x256xf16>, %v: tensor<256x64xf16>) -> tensor<8x64xf16> {
  %e = spyre.pointwise exp(%x) : tensor<8x256xf16>
  %sum = spyre.reduce sum(%e) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
  %p = spyre.pointwise realdiv(%e, %sum) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
  %y = spyre.matmul(%p, %v) : (tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// The maximum of a column is no bound of a row.
// CHECK-LABEL: func.func @other_maximum(
// CHECK:         [[P:%.+]] = spyre.pointwise realdiv(
// CHECK-NEXT:    spyre.matmul([[P]],
func.func @other_maximum(%x: tensor<256x256xf16>, %v: tensor<256x64xf16>) -> tensor<256x64xf16> {
  %max = spyre.reduce max(%x) dims [0] : tensor<256x256xf16> -> tensor<1x256xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<256x256xf16>, tensor<1x256xf16>) -> tensor<256x256xf16>
  %e = spyre.pointwise exp(%d) : tensor<256x256xf16>
  %sum = spyre.reduce sum(%e) dims [1] : tensor<256x256xf16> -> tensor<256x1xf16>
  %p = spyre.pointwise realdiv(%e, %sum) : (tensor<256x256xf16>, tensor<256x1xf16>) -> tensor<256x256xf16>
  %y = spyre.matmul(%p, %v) : (tensor<256x256xf16>, tensor<256x64xf16>) -> tensor<256x64xf16>
  return %y : tensor<256x64xf16>
}

// A divisor that varies along the reduction dimension is no common factor.
// CHECK-LABEL: func.func @along_the_sum(
// CHECK:         [[P:%.+]] = spyre.pointwise realdiv(
// CHECK-NEXT:    spyre.matmul([[P]],
func.func @along_the_sum(%x: tensor<8x256xf16>, %l: tensor<1x256xf16>, %v: tensor<256x64xf16>) -> tensor<8x64xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
  %e = spyre.pointwise exp(%d) : tensor<8x256xf16>
  %p = spyre.pointwise realdiv(%e, %l) : (tensor<8x256xf16>, tensor<1x256xf16>) -> tensor<8x256xf16>
  %y = spyre.matmul(%p, %v) : (tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// The quotients are a result, so they are computed anyway. A matmul result that is larger than the operand costs more to divide.
// CHECK-LABEL: func.func @read_twice_and_larger_behind(
// CHECK:         [[P:%.+]] = spyre.pointwise realdiv(
// CHECK-NEXT:    spyre.matmul([[P]],
// CHECK:         [[Q:%.+]] = spyre.pointwise realdiv(
// CHECK-NEXT:    spyre.matmul([[Q]],
func.func @read_twice_and_larger_behind(%x: tensor<8x256xf16>, %l: tensor<8x1xf16>, %v: tensor<256x64xf16>, %w: tensor<256x512xf16>)
    -> (tensor<8x256xf16>, tensor<8x64xf16>, tensor<8x512xf16>) {
  %max = spyre.reduce max(%x) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
  %e = spyre.pointwise exp(%d) : tensor<8x256xf16>
  %p = spyre.pointwise realdiv(%e, %l) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
  %y = spyre.matmul(%p, %v) : (tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
  %q = spyre.pointwise realdiv(%e, %l) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
  %z = spyre.matmul(%q, %w) : (tensor<8x256xf16>, tensor<256x512xf16>) -> tensor<8x512xf16>
  return %p, %y, %z : tensor<8x256xf16>, tensor<8x64xf16>, tensor<8x512xf16>
}

// The bound is broadcast by a view, as JAX writes it.
// CHECK-LABEL: func.func @repeated_bound(
// CHECK:         [[PRODUCT:%.+]] = spyre.matmul(
// CHECK-NEXT:    [[DIVISOR:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    spyre.pointwise realdiv([[PRODUCT]], [[DIVISOR]])
func.func @repeated_bound(%x: tensor<8x256xf16>, %v: tensor<256x64xf16>) -> tensor<8x64xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
  %rows = spyre.view %max by affine_map<(s, t) -> (s, 0)> : tensor<8x1xf16> -> tensor<8x256xf16>
  %d = spyre.pointwise sub(%x, %rows) : (tensor<8x256xf16>, tensor<8x256xf16>) -> tensor<8x256xf16>
  %e = spyre.pointwise exp(%d) : tensor<8x256xf16>
  %sum = spyre.reduce sum(%e) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
  %sums = spyre.view %sum by affine_map<(s, t) -> (s, 0)> : tensor<8x1xf16> -> tensor<8x256xf16>
  %p = spyre.pointwise realdiv(%e, %sums) : (tensor<8x256xf16>, tensor<8x256xf16>) -> tensor<8x256xf16>
  %y = spyre.matmul(%p, %v) : (tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// The maximum of another row is no bound.
// CHECK-LABEL: func.func @turned_bound(
// CHECK:         [[P:%.+]] = spyre.pointwise realdiv(
// CHECK-NEXT:    spyre.matmul([[P]],
func.func @turned_bound(%x: tensor<256x256xf16>, %v: tensor<256x64xf16>) -> tensor<256x64xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<256x256xf16> -> tensor<256x1xf16>
  %turned = spyre.view %max by affine_map<(s, t) -> (t, 0)> : tensor<256x1xf16> -> tensor<1x256xf16>
  %d = spyre.pointwise sub(%x, %turned) : (tensor<256x256xf16>, tensor<1x256xf16>) -> tensor<256x256xf16>
  %e = spyre.pointwise exp(%d) : tensor<256x256xf16>
  %sum = spyre.reduce sum(%e) dims [1] : tensor<256x256xf16> -> tensor<256x1xf16>
  %p = spyre.pointwise realdiv(%e, %sum) : (tensor<256x256xf16>, tensor<256x1xf16>) -> tensor<256x256xf16>
  %y = spyre.matmul(%p, %v) : (tensor<256x256xf16>, tensor<256x64xf16>) -> tensor<256x64xf16>
  return %y : tensor<256x64xf16>
}
