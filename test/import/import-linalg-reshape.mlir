// RUN: spyre-opt --split-input-file --spyre-import-linalg --mlir-print-local-scope %s | FileCheck %s
// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s --check-prefix=CLEAN

// CHECK-LABEL: func.func @an_expanded_dim_is_put_together(
// CHECK-SAME:    [[X:%.+]]: tensor<32x3xf16>) -> tensor<4x8x3xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1, d2) -> (d0 * 8 + d1, d2)> : tensor<32x3xf16> -> tensor<4x8x3xf16>
// CHECK-NEXT:    return [[VIEW]]
func.func @an_expanded_dim_is_put_together(%x: tensor<32x3xf16>) -> tensor<4x8x3xf16> {
  %expanded = tensor.expand_shape %x [[0, 1], [2]] output_shape [4, 8, 3] : tensor<32x3xf16> into tensor<4x8x3xf16>
  return %expanded : tensor<4x8x3xf16>
}

// -----

// CHECK-LABEL: func.func @collapsed_dims_are_taken_apart(
// CHECK-SAME:    [[X:%.+]]: tensor<2x4x8xf16>) -> tensor<64xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0) -> (d0 floordiv 32, (d0 floordiv 8) mod 4, d0 mod 8)> : tensor<2x4x8xf16> -> tensor<64xf16>
// CHECK-NEXT:    return [[VIEW]]
func.func @collapsed_dims_are_taken_apart(%x: tensor<2x4x8xf16>) -> tensor<64xf16> {
  %collapsed = tensor.collapse_shape %x [[0, 1, 2]] : tensor<2x4x8xf16> into tensor<64xf16>
  return %collapsed : tensor<64xf16>
}

// -----

// CHECK-LABEL: func.func @unit_dims_come_and_go_without_arithmetic(
// CHECK-SAME:    [[X:%.+]]: tensor<1x8x1x64xf16>) -> tensor<8x1x64x1xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1, d2, d3) -> (0, d0, 0, d2)> : tensor<1x8x1x64xf16> -> tensor<8x1x64x1xf16>
// CHECK-NEXT:    return [[VIEW]]
func.func @unit_dims_come_and_go_without_arithmetic(%x: tensor<1x8x1x64xf16>) -> tensor<8x1x64x1xf16> {
  %dropped = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<1x8x1x64xf16> into tensor<8x64xf16>
  %added = tensor.expand_shape %dropped [[0, 1], [2, 3]] output_shape [8, 1, 64, 1] : tensor<8x64xf16> into tensor<8x1x64x1xf16>
  return %added : tensor<8x1x64x1xf16>
}

// -----

// CLEAN-LABEL: func.func @unit_dims_that_come_back_cancel(
// CLEAN-SAME:    [[X:%.+]]: tensor<8x1x64xf16>) -> tensor<8x1x64xf16> {
// CLEAN-NEXT:    return [[X]]
func.func @unit_dims_that_come_back_cancel(%x: tensor<8x1x64xf16>) -> tensor<8x1x64xf16> {
  %dropped = tensor.collapse_shape %x [[0, 1], [2]] : tensor<8x1x64xf16> into tensor<8x64xf16>
  %same = tensor.expand_shape %dropped [[0, 1], [2]] output_shape [8, 1, 64] : tensor<8x64xf16> into tensor<8x1x64xf16>
  return %same : tensor<8x1x64xf16>
}

// -----

// CLEAN-LABEL: func.func @an_expansion_that_is_collapsed_again_cancels(
// CLEAN-SAME:    [[X:%.+]]: tensor<32x3xf16>) -> tensor<32x3xf16> {
// CLEAN-NEXT:    return [[X]]
func.func @an_expansion_that_is_collapsed_again_cancels(%x: tensor<32x3xf16>) -> tensor<32x3xf16> {
  %expanded = tensor.expand_shape %x [[0, 1], [2]] output_shape [4, 8, 3] : tensor<32x3xf16> into tensor<4x8x3xf16>
  %same = tensor.collapse_shape %expanded [[0, 1], [2]] : tensor<4x8x3xf16> into tensor<32x3xf16>
  return %same : tensor<32x3xf16>
}

// -----

// A reshaped number is the same number.
// CHECK-LABEL: func.func @reshaped_numbers_stay_neutral(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    return [[X]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @reshaped_numbers_stay_neutral(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zeros = arith.constant dense<0.0> : tensor<512xf16>
  %zero_matrix = tensor.expand_shape %zeros [[0, 1]] output_shape [8, 64] : tensor<512xf16> into tensor<8x64xf16>
  %shape = tensor.empty() : tensor<8x64xf16>
  %sum = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %zero_matrix : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %plus = arith.addf %a, %b : f16
    linalg.yield %plus : f16
  } -> tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @a_collapse_that_is_expanded_again_cancels(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x3xf16>) -> tensor<4x8x3xf16> {
// CHECK-NEXT:    return [[X]]
func.func @a_collapse_that_is_expanded_again_cancels(%x: tensor<4x8x3xf16>) -> tensor<4x8x3xf16> {
  %collapsed = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x8x3xf16> into tensor<32x3xf16>
  %same = tensor.expand_shape %collapsed [[0, 1], [2]] output_shape [4, 8, 3] : tensor<32x3xf16> into tensor<4x8x3xf16>
  return %same : tensor<4x8x3xf16>
}

// -----

// The value between two reshapes is kept as a view if it has other uses.
// CHECK-LABEL: func.func @reshapes_between_reshapes_are_kept_for_their_readers(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8xf16>) -> (tensor<32xf16>, tensor<4x8xf16>) {
// CHECK-NEXT:    [[FLAT:%.+]] = spyre.view [[X]] by affine_map<(d0) -> (d0 floordiv 8, d0 mod 8)> : tensor<4x8xf16> -> tensor<32xf16>
// CHECK-NEXT:    return [[FLAT]], [[X]]
func.func @reshapes_between_reshapes_are_kept_for_their_readers(%x: tensor<4x8xf16>) -> (tensor<32xf16>, tensor<4x8xf16>) {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf16> into tensor<32xf16>
  %same = tensor.expand_shape %flat [[0, 1]] output_shape [4, 8] : tensor<32xf16> into tensor<4x8xf16>
  return %flat, %same : tensor<32xf16>, tensor<4x8xf16>
}

// -----

// A reshape of tensor.empty is only a shape.
// CHECK-LABEL: func.func @reshaped_shapes_are_shapes(
// CHECK-SAME:    [[X:%.+]]: tensor<512xf16>) -> tensor<512xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<512xf16>
// CHECK-NEXT:    return [[EXP]]
func.func @reshaped_shapes_are_shapes(%x: tensor<512xf16>) -> tensor<512xf16> {
  %matrix = tensor.empty() : tensor<8x64xf16>
  %shape = tensor.collapse_shape %matrix [[0, 1]] : tensor<8x64xf16> into tensor<512xf16>
  %exp = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<512xf16>) outs(%shape : tensor<512xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<512xf16>
  return %exp : tensor<512xf16>
}
