// RUN: spyre-opt --split-input-file --spyre-import-linalg --mlir-print-local-scope %s | FileCheck %s

// CHECK-LABEL: func.func @plain(
// CHECK:         [[SCORES:%.+]] = spyre.matmul(%arg0, {{%.+}})
// CHECK:         [[SCALED:%.+]] = spyre.pointwise mul([[SCORES]],
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[SCALED]])
// CHECK:         [[POWERS:%.+]] = spyre.pointwise exp
// CHECK-NEXT:    spyre.reduce sum([[POWERS]])
// CHECK:         [[WEIGHTS:%.+]] = spyre.pointwise realdiv([[POWERS]],
// CHECK-NEXT:    spyre.matmul([[WEIGHTS]], %arg2)
func.func @plain(%q: tensor<4x8x64xf16>, %k: tensor<4x9x64xf16>, %v: tensor<4x9x32xf16>) -> tensor<4x8x32xf16> {
  %e = tensor.empty() : tensor<4x8x32xf16>
  %y = tm_tensor.attention ins(%q, %k, %v : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x9x32xf16>) outs(%e : tensor<4x8x32xf16>)
      -> tensor<4x8x32xf16>
  return %y : tensor<4x8x32xf16>
}

// -----

// A row that the mask leaves nothing of is 0.

// CHECK-LABEL: func.func @masked(
// CHECK:         spyre.pointwise where3(
// CHECK:         spyre.pointwise maximum
// CHECK:         spyre.pointwise maximum
// CHECK:         spyre.pointwise realdiv
func.func @masked(%q: tensor<4x8x64xf16>, %k: tensor<4x9x64xf16>, %v: tensor<4x9x32xf16>, %mask: tensor<4x8x9xi1>) -> tensor<4x8x32xf16> {
  %e = tensor.empty() : tensor<4x8x32xf16>
  %y = tm_tensor.attention ins(%q, %k, %v, %mask : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x9x32xf16>, tensor<4x8x9xi1>)
      outs(%e : tensor<4x8x32xf16>) -> tensor<4x8x32xf16>
  return %y : tensor<4x8x32xf16>
}
