// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s

// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>, %last: tensor<4xf32>) -> tensor<4x64xf32> {
  // CHECK: tm_tensor.scan dimension(1) inclusive(true) ins(%{{.*}} : tensor<4x64xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x64xf32>, tensor<4xf32>) {
  // CHECK: tm_tensor.yield %{{.*}} : f32
  // CHECK: } -> tensor<4x64xf32>, tensor<4xf32>
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<4xf32>) {
  ^bb0(%sum: f32, %element: f32):
    %next = arith.addf %sum, %element : f32
    tm_tensor.yield %next : f32
  } -> tensor<4x64xf32>, tensor<4xf32>
  return %sums#0 : tensor<4x64xf32>
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%rows: tensor<3x1x64xf16>, %places: tensor<3x1xi64>, %cache: tensor<32x64xf16>) -> tensor<32x64xf16> {
  // CHECK: tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%{{.*}}, %{{.*}} : tensor<3x1x64xf16>, tensor<3x1xi64>)
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x1x64xf16>, tensor<3x1xi64>) outs(%cache : tensor<32x64xf16>) {
  ^bb0(%row: f16, %old: f16):
    tm_tensor.yield %row : f16
  } -> tensor<32x64xf16>
  return %new : tensor<32x64xf16>
}

// CHECK-LABEL: func.func @sort
func.func @sort(%x: tensor<4x64xf16>, %places: tensor<4x64xi64>) -> tensor<4x64xf16> {
  // CHECK: tm_tensor.sort dimension(1) outs(%{{.*}}, %{{.*}} : tensor<4x64xf16>, tensor<4x64xi64>) {
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %places : tensor<4x64xf16>, tensor<4x64xi64>) {
  ^bb0(%one: f16, %other: f16, %a: i64, %b: i64):
    %before = arith.cmpf oge, %one, %other : f16
    tm_tensor.yield %before : i1
  } -> tensor<4x64xf16>, tensor<4x64xi64>
  return %sorted#0 : tensor<4x64xf16>
}

// CHECK-LABEL: func.func @topk
func.func @topk(%x: tensor<4x64xf32>, %numbers: tensor<4x64xi64>, %lowest: tensor<4x3xf32>, %places: tensor<4x3xi64>) -> tensor<4x3xi64> {
  // CHECK: tm_tensor.topk dimension(1) ins(%{{.*}} : tensor<4x64xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<4x3xi64>) {
  // CHECK: } -> tensor<4x3xf32>, tensor<4x3xi64>
  %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<4x64xf32>) outs(%lowest, %places : tensor<4x3xf32>, tensor<4x3xi64>) {
  ^bb0(%one: f32, %other: f32):
    %before = arith.cmpf ogt, %one, %other : f32
    tm_tensor.yield %before : i1
  } -> tensor<4x3xf32>, tensor<4x3xi64>
  // CHECK: tm_tensor.topk dimension(1) ins(%{{.*}}, %{{.*}} : tensor<4x64xf32>, tensor<4x64xi64>)
  %numbered:2 = tm_tensor.topk dimension(1) ins(%x, %numbers : tensor<4x64xf32>, tensor<4x64xi64>)
      outs(%first#0, %first#1 : tensor<4x3xf32>, tensor<4x3xi64>) {
  ^bb0(%one: f32, %other: f32):
    %before = arith.cmpf ogt, %one, %other : f32
    tm_tensor.yield %before : i1
  } -> tensor<4x3xf32>, tensor<4x3xi64>
  return %numbered#1 : tensor<4x3xi64>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<4x8x64xf16>, %k: tensor<4x9x64xf16>, %v: tensor<4x9x32xf16>, %mask: tensor<4x8x9xi1>, %y: tensor<4x8x32xf16>)
    -> tensor<4x8x32xf16> {
  // CHECK: tm_tensor.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x9x32xf16>) outs(%{{.*}} : tensor<4x8x32xf16>) -> tensor<4x8x32xf16>
  %plain = tm_tensor.attention ins(%q, %k, %v : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x9x32xf16>) outs(%y : tensor<4x8x32xf16>)
      -> tensor<4x8x32xf16>
  // CHECK: tm_tensor.attention ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x9x32xf16>, tensor<4x8x9xi1>)
  %masked = tm_tensor.attention ins(%q, %k, %v, %mask : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x9x32xf16>, tensor<4x8x9xi1>)
      outs(%plain : tensor<4x8x32xf16>) -> tensor<4x8x32xf16>
  return %masked : tensor<4x8x32xf16>
}
