// RUN: spyre-opt --split-input-file --spyre-fuse-gathers --mlir-print-local-scope %s | FileCheck %s

// The function of the only user is fused into the gather.
// CHECK-LABEL: func.func @exponentials(
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather({{.*}}) dim 0 {function = "exp"}
// CHECK-NEXT:    return [[ROWS]]
func.func @exponentials(%table: tensor<128x256xf16>, %index: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  %exp = spyre.pointwise exp(%rows) : tensor<3x192x256xf16>
  return %exp : tensor<3x192x256xf16>
}

// -----

// Also through a view; only one function is fused.
// CHECK-LABEL: func.func @behind_a_view(
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather({{.*}}) dim 0 {function = "sigmoid"}
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[ROWS]]
// CHECK-NEXT:    [[ROOT:%.+]] = spyre.pointwise sqrt([[VIEW]])
// CHECK-NEXT:    return [[ROOT]]
func.func @behind_a_view(%table: tensor<128x256xf16>, %index: tensor<576xi64>) -> tensor<3x192x256xf16> {
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<576xi64>) -> tensor<576x256xf16>
  %view = spyre.view %rows by affine_map<(d0, d1, d2) -> (d0 * 192 + d1, d2)> : tensor<576x256xf16> -> tensor<3x192x256xf16>
  %sigmoid = spyre.pointwise sigmoid(%view) : tensor<3x192x256xf16>
  %root = spyre.pointwise sqrt(%sigmoid) : tensor<3x192x256xf16>
  return %root : tensor<3x192x256xf16>
}

// -----

// Not fused: gathers with several uses, and functions with two operands or with constants.
// CHECK-LABEL: func.func @read_twice(
// CHECK-NOT:     function
func.func @read_twice(%table: tensor<128x256xf16>, %index: tensor<8xi64>) -> (tensor<8x256xf16>, tensor<8x256xf16>, tensor<8x256xf16>) {
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<8xi64>) -> tensor<8x256xf16>
  %exp = spyre.pointwise exp(%rows) : tensor<8x256xf16>
  %sum = spyre.pointwise add(%rows, %exp) : tensor<8x256xf16>
  %others = spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<8xi64>) -> tensor<8x256xf16>
  %square = spyre.pointwise mul(%others, %others) : tensor<8x256xf16>
  %last = spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<8xi64>) -> tensor<8x256xf16>
  %clip = spyre.pointwise clip(%last) {constants = array<f64: 0.0, 6.0>} : tensor<8x256xf16>
  return %sum, %square, %clip : tensor<8x256xf16>, tensor<8x256xf16>, tensor<8x256xf16>
}

// -----

// Fused only if both ops have the same hints.
// CHECK-LABEL: func.func @in_loops(
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather({{.*}}) dim 0 {function = "exp", hints = [#spyre.tile_hint<0, A = 4>]}
// CHECK-NEXT:    [[OTHERS:%.+]] = spyre.gather({{.*}}) dim 0 {hints = [#spyre.tile_hint<1, A = 4>]}
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[OTHERS]]) {hints = [#spyre.tile_hint<2, A = 4>]}
// CHECK-NEXT:    return [[ROWS]], [[EXP]]
func.func @in_loops(%table: tensor<128x256xf16>, %index: tensor<8xi64>) -> (tensor<8x256xf16>, tensor<8x256xf16>) {
  %rows = spyre.gather(%table, %index) dim 0 {hints = [#spyre.tile_hint<0, A = 4>]} : (tensor<128x256xf16>, tensor<8xi64>) -> tensor<8x256xf16>
  %exp = spyre.pointwise exp(%rows) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x256xf16>
  %others = spyre.gather(%table, %index) dim 0 {hints = [#spyre.tile_hint<1, A = 4>]} : (tensor<128x256xf16>, tensor<8xi64>) -> tensor<8x256xf16>
  %exp2 = spyre.pointwise exp(%others) {hints = [#spyre.tile_hint<2, A = 4>]} : tensor<8x256xf16>
  return %exp, %exp2 : tensor<8x256xf16>, tensor<8x256xf16>
}

// -----

// A work hint on the function's op is honored.
// CHECK-LABEL: func.func @divided_by_hand(
// CHECK-NOT:     function
func.func @divided_by_hand(%table: tensor<128x256xf16>, %index: tensor<8xi64>) -> tensor<8x256xf16> {
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<8xi64>) -> tensor<8x256xf16>
  %exp = spyre.pointwise exp(%rows) {work_div = [#spyre.work_hint<0, A = 4>]} : tensor<8x256xf16>
  return %exp : tensor<8x256xf16>
}
