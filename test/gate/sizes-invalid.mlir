// Sizes whose products leave 64 bits are refused, also in IR that a compilation goes on with.
// RUN: split-file %s %t
// RUN: spyre-opt --spyre-verify-phase=phase=import --split-input-file --verify-diagnostics %t/import.mlir
// RUN: not spyre-compile %t/resumed.mlir -o %t/none 2>&1 | FileCheck %s --check-prefix=RESUMED
// RUN: not spyre-compile %t/linalg.mlir -o %t/none 2>&1 | FileCheck %s --check-prefix=LINALG

// RESUMED: resumed.mlir:3:10: error{{.*}}expected an operation over fewer than 2^56 points, found one over 33554432 x 33554432 x 33554432; compute it in several functions of smaller tensors
// LINALG: linalg.mlir:5:8: error{{.*}}expected an operation over fewer than 2^56 points, found one over 33554432 x 33554432 x 33554432; compute it in several functions of smaller tensors

//--- import.mlir
// expected-error @+1 {{'func.func' op expected a tensor of fewer than 2^56 elements, found tensor<4294967296x67108864xf16>; use a smaller shape}}
func.func @argument(%x: tensor<4294967296x67108864xf16>) {
  return
}

// -----

func.func @value(%x: tensor<4294967296x1xf16>) {
  // expected-error @+1 {{'spyre.view' op expected a tensor of fewer than 2^56 elements}}
  %y = spyre.view %x by affine_map<(d0, d1) -> (d0, 0)> : tensor<4294967296x1xf16> -> tensor<4294967296x67108864xf16>
  return
}

// -----

func.func @points(%a: tensor<33554432x33554432xf16>, %b: tensor<33554432x33554432xf16>) -> tensor<33554432x33554432xf16> {
  // expected-error @+1 {{expected an operation over fewer than 2^56 points, found one over 33554432 x 33554432 x 33554432; compute it in several functions of smaller tensors}}
  %c = spyre.matmul(%a, %b) : (tensor<33554432x33554432xf16>, tensor<33554432x33554432xf16>) -> tensor<33554432x33554432xf16>
  return %c : tensor<33554432x33554432xf16>
}

// -----

// Just small enough.
func.func @small(%a: tensor<134217728x134217728xf16>) -> tensor<134217728x134217728xf16> {
  %b = spyre.pointwise exp(%a) : tensor<134217728x134217728xf16>
  return %b : tensor<134217728x134217728xf16>
}

//--- resumed.mlir
module attributes {spyre.phase = "import"} {
  func.func @points(%a: tensor<33554432x33554432xf16>, %b: tensor<33554432x33554432xf16>) -> tensor<33554432x33554432xf16> {
    %c = spyre.matmul(%a, %b) : (tensor<33554432x33554432xf16>, tensor<33554432x33554432xf16>) -> tensor<33554432x33554432xf16>
    return %c : tensor<33554432x33554432xf16>
  }
}

//--- linalg.mlir
func.func @points(%a: tensor<33554432x33554432xf16>, %b: tensor<33554432x33554432xf16>) -> tensor<33554432x33554432xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<33554432x33554432xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<33554432x33554432xf16>) -> tensor<33554432x33554432xf16>
  %c = linalg.matmul ins(%a, %b : tensor<33554432x33554432xf16>, tensor<33554432x33554432xf16>) outs(%f : tensor<33554432x33554432xf16>) -> tensor<33554432x33554432xf16>
  return %c : tensor<33554432x33554432xf16>
}
