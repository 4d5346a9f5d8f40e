// RUN: spyre-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(spyre-import-linalg,canonicalize)' --mlir-print-local-scope %s | FileCheck %s

// Programs of named ops, which import turns into linalg.generic first.

// CHECK-LABEL: func.func @fills_start_reductions(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[SUM]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    return [[DROPPED]]
func.func @fills_start_reductions(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %number = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<8xf16>
  %zero = linalg.fill ins(%number : f16) outs(%shape : tensor<8xf16>) -> tensor<8xf16>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) dimensions = [1]
  return %sum : tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @broadcasts_are_views(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[ROWS:%.+]]: tensor<8xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[MATRIX:%.+]] = spyre.view [[ROWS]] by affine_map<(d0, d1) -> (d0)> : tensor<8xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    [[DIFFERENCE:%.+]] = spyre.pointwise sub([[X]], [[MATRIX]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[DIFFERENCE]]
func.func @broadcasts_are_views(%x: tensor<8x64xf16>, %rows: tensor<8xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %matrix = linalg.broadcast ins(%rows : tensor<8xf16>) outs(%shape : tensor<8x64xf16>) dimensions = [1]
  %difference = linalg.sub ins(%x, %matrix : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %difference : tensor<8x64xf16>
}

// -----

// A transposed weight, as in a linear layer of PyTorch.
// CHECK-LABEL: func.func @transposes_are_views(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[WEIGHT:%.+]]: tensor<128x64xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[TRANSPOSED:%.+]] = spyre.view [[WEIGHT]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x64xf16> -> tensor<64x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[TRANSPOSED]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]]
func.func @transposes_are_views(%x: tensor<8x64xf16>, %weight: tensor<128x64xf16>) -> tensor<8x128xf16> {
  %transposed_shape = tensor.empty() : tensor<64x128xf16>
  %transposed = linalg.transpose ins(%weight : tensor<128x64xf16>) outs(%transposed_shape : tensor<64x128xf16>) permutation = [1, 0]
  %number = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<8x128xf16>
  %zero = linalg.fill ins(%number : f16) outs(%shape : tensor<8x128xf16>) -> tensor<8x128xf16>
  %product = linalg.matmul ins(%x, %transposed : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf16>) -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}

// -----

// The f32 accumulator of a batch matmul.
// CHECK-LABEL: func.func @batch_matmuls(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x64xf16>, [[Y:%.+]]: tensor<4x64x128xf16>) -> tensor<4x8x128xf16> {
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[Y]]) : (tensor<4x8x64xf16>, tensor<4x64x128xf16>) -> tensor<4x8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]]
#same = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @batch_matmuls(%x: tensor<4x8x64xf16>, %y: tensor<4x64x128xf16>) -> tensor<4x8x128xf16> {
  %number = arith.constant 0.0 : f32
  %shape = tensor.empty() : tensor<4x8x128xf32>
  %zero = linalg.fill ins(%number : f32) outs(%shape : tensor<4x8x128xf32>) -> tensor<4x8x128xf32>
  %product = linalg.batch_matmul ins(%x, %y : tensor<4x8x64xf16>, tensor<4x64x128xf16>) outs(%zero : tensor<4x8x128xf32>) -> tensor<4x8x128xf32>
  %shape_f16 = tensor.empty() : tensor<4x8x128xf16>
  %rounded = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]} ins(%product : tensor<4x8x128xf32>) outs(%shape_f16 : tensor<4x8x128xf16>) {
  ^bb0(%in: f32, %out: f16):
    %narrow = arith.truncf %in : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<4x8x128xf16>
  return %rounded : tensor<4x8x128xf16>
}

// -----

// Generated ops have no location in the file, so the error is at the named op.
func.func @errors_stand_at_the_named_op(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %base = arith.constant dense<-2.0> : tensor<8x64xf16>
  // expected-error @+1 {{'math.powf' op requires a positive constant base of a runtime exponent, found another; use a positive base}}
  %power = linalg.powf ins(%base, %x : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %power : tensor<8x64xf16>
}
