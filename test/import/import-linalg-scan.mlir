// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// A running sum is a product with a triangle of ones.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: tensor<4x3xf16>
// CHECK-NEXT:    [[ONES:%.+]] = spyre.constant dense<{{\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00, 1.000000e+00]]>
// CHECK-NEXT:    [[SUMS:%.+]] = spyre.matmul([[X]], [[ONES]])
// CHECK-NEXT:    return [[SUMS]] : tensor<4x3xf16>
func.func @rows(%x: tensor<4x3xf16>, %whole: tensor<4x3xf16>, %last: tensor<4xf16>) -> tensor<4x3xf16> {
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x3xf16>) outs(%whole, %last : tensor<4x3xf16>, tensor<4xf16>) {
  ^bb0(%sum: f16, %element: f16):
    %next = arith.addf %sum, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<4x3xf16>, tensor<4xf16>
  return %sums#0 : tensor<4x3xf16>
}

// -----

// The second result is what all elements together are.
// CHECK-LABEL: func.func @whole_columns(
// CHECK:         spyre.matmul({{.*}} -> tensor<3x4xf16>
// CHECK:         spyre.view {{.*}} : tensor<3x4xf16> -> tensor<3xf16>
func.func @whole_columns(%x: tensor<4x3xf16>, %whole: tensor<4x3xf16>, %last: tensor<3xf16>) -> tensor<3xf16> {
  %sums:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4x3xf16>) outs(%whole, %last : tensor<4x3xf16>, tensor<3xf16>) {
  ^bb0(%sum: f16, %element: f16):
    %next = arith.addf %sum, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<4x3xf16>, tensor<3xf16>
  return %sums#1 : tensor<3xf16>
}

// -----

// Positions, as PyTorch counts the ones of a mask: known at compile time, whatever combines.
// CHECK-LABEL: func.func @known(
// CHECK-NEXT:    [[NUMBERS:%.+]] = spyre.constant dense<[2.000000e+00, 4.000000e+00, 8.000000e+00]>
// CHECK-NEXT:    return [[NUMBERS]]
func.func @known() -> tensor<3xf16> {
  %two = arith.constant dense<2> : tensor<3xi64>
  %whole = tensor.empty() : tensor<3xi64>
  %last = tensor.empty() : tensor<i64>
  %powers:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%two : tensor<3xi64>) outs(%whole, %last : tensor<3xi64>, tensor<i64>) {
  ^bb0(%power: i64, %element: i64):
    %next = arith.muli %power, %element : i64
    tm_tensor.yield %next : i64
  } -> tensor<3xi64>, tensor<i64>
  %floats = arith.sitofp %powers#0 : tensor<3xi64> to tensor<3xf16>
  return %floats : tensor<3xf16>
}

// -----

// Other combinations in steps: with the element before, then with what is two before.
// CHECK-LABEL: func.func @maximum(
// CHECK-COUNT-2: spyre.pointwise maximum
// CHECK-NOT:     spyre.pointwise
func.func @maximum(%x: tensor<4x3xf16>, %whole: tensor<4x3xf16>, %last: tensor<4xf16>) -> tensor<4x3xf16> {
  %most:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x3xf16>) outs(%whole, %last : tensor<4x3xf16>, tensor<4xf16>) {
  ^bb0(%most: f16, %element: f16):
    %next = arith.maximumf %most, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<4x3xf16>, tensor<4xf16>
  return %most#0 : tensor<4x3xf16>
}

// -----

// A sum too long for a triangle, too.
// CHECK-LABEL: func.func @long(
// CHECK-COUNT-13: spyre.pointwise add
// CHECK-NOT:      spyre.pointwise
func.func @long(%x: tensor<5000xf16>, %whole: tensor<5000xf16>, %last: tensor<f16>) -> tensor<5000xf16> {
  %sums:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<5000xf16>) outs(%whole, %last : tensor<5000xf16>, tensor<f16>) {
  ^bb0(%sum: f16, %element: f16):
    %next = arith.addf %sum, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<5000xf16>, tensor<f16>
  return %sums#0 : tensor<5000xf16>
}
