// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile %s | FileCheck %s

// A constant, and ops on constants only, are placed before the loop of the preceding op.
// CHECK-LABEL: func.func @what_needs_nothing_comes_before(
// CHECK-NEXT:    [[ONE:%.+]] = spyre.constant
// CHECK-NEXT:    [[ROW:%.+]] = spyre.pointwise add({{%.+}}, [[ONE]])
// CHECK-NEXT:    spyre.loop 4 "A" tiled([[X0:%[^ ]+]] = {{[^,]+}} : {{[^%]+}}) {
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp([[X0]])
// CHECK-NEXT:      spyre.pointwise mul([[EXP]], [[ROW]])
func.func @what_needs_nothing_comes_before(%x: tensor<8x128xf16> {spyre.dims = ["A", "B"]}, %y: tensor<1x128xf16>) -> tensor<8x128xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x128xf16>
  %one = spyre.constant dense<1.0> : tensor<1x1xf16>
  // The row has no A, so it is computed once.
  %row = spyre.pointwise add(%y, %one) {hints = [#spyre.tile_hint<0, A = 4>]} : (tensor<1x128xf16>, tensor<1x1xf16>) -> tensor<1x128xf16>
  %product = spyre.pointwise mul(%exp, %row) {hints = [#spyre.tile_hint<0, A = 4>]} : (tensor<8x128xf16>, tensor<1x128xf16>) -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}

// An op without the dimension of the inner loop is outside of the inner loop.
// CHECK-LABEL: func.func @what_is_the_same_in_an_inner_loop_comes_before_that(
// CHECK:         spyre.loop 4 "A"
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg(
// CHECK-NEXT:      spyre.loop 2 "B"
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:        spyre.pointwise mul([[EXP]], [[NEG]])
func.func @what_is_the_same_in_an_inner_loop_comes_before_that(%x: tensor<8x128xf16> {spyre.dims = ["A", "B"]}, %y: tensor<8x1xf16> {spyre.dims = ["A", ""]}) -> tensor<8x128xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 2>]} : tensor<8x128xf16>
  %neg = spyre.pointwise neg(%y) {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 2>]} : tensor<8x1xf16>
  %product = spyre.pointwise mul(%exp, %neg) {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 2>]} : (tensor<8x128xf16>, tensor<8x1xf16>) -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}

// A user between the ops of a group does not keep a later op out of the loop: it is moved after the loop.
// CHECK-LABEL: func.func @what_needs_the_loop_comes_behind(
// CHECK:         [[BOTH:%.+]]:2 = spyre.loop 4 "A"
// CHECK-NEXT:      spyre.pointwise exp(
// CHECK:           spyre.pointwise abs(
// CHECK:         spyre.pointwise neg([[BOTH]]#0)
func.func @what_needs_the_loop_comes_behind(%x: tensor<8x128xf16> {spyre.dims = ["A", "B"]}) -> (tensor<8x128xf16>, tensor<8x128xf16>) {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x128xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<8x128xf16>
  %abs = spyre.pointwise abs(%x) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x128xf16>
  return %neg, %abs : tensor<8x128xf16>, tensor<8x128xf16>
}

// By columns: the maximum, then the exponentials with their sum, then the quotients.
// CHECK-LABEL: func.func @softmax_by_columns_has_three_loops(
// CHECK:         [[MAX:%.+]] = spyre.loop 2 "B" {{.+}} carried(
// CHECK-NEXT:      spyre.reduce max(
// CHECK:         [[EXP:%.+]]:2 = spyre.loop 2 "B" {{.+}} carried(
// CHECK-NEXT:      spyre.pointwise sub({{%.+}}, [[MAX]])
// CHECK-NEXT:      spyre.pointwise exp(
// CHECK:           spyre.reduce sum(
// CHECK:         spyre.loop 2 "B" tiled({{%.+}} = [[EXP]]#0[1]
// CHECK-NEXT:      spyre.pointwise realdiv({{%.+}}, [[EXP]]#1)
// CHECK-NOT:     spyre.loop
// CHECK:         return
func.func @softmax_by_columns_has_three_loops(%x: tensor<8x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<8x128xf16> {
  %max = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 2>]} : tensor<8x128xf16> -> tensor<8x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) {hints = [#spyre.tile_hint<0, B = 2>]} : (tensor<8x128xf16>, tensor<8x1xf16>) -> tensor<8x128xf16>
  %exp = spyre.pointwise exp(%shifted) {hints = [#spyre.tile_hint<0, B = 2>]} : tensor<8x128xf16>
  %sum = spyre.reduce sum(%exp) dims [1] {hints = [#spyre.tile_hint<0, B = 2>]} : tensor<8x128xf16> -> tensor<8x1xf16>
  %quotient = spyre.pointwise realdiv(%exp, %sum) {hints = [#spyre.tile_hint<0, B = 2>]} : (tensor<8x128xf16>, tensor<8x1xf16>) -> tensor<8x128xf16>
  return %quotient : tensor<8x128xf16>
}

// One outer loop with an inner loop for each inner group.
// CHECK-LABEL: func.func @inner_groups_are_siblings(
// CHECK:         spyre.loop 4 "A"
// CHECK-NEXT:      [[EXP:%.+]] = spyre.loop 2 "B"
// CHECK-NEXT:        spyre.pointwise exp(
// CHECK:           spyre.loop 2 "B" tiled({{%.+}} = [[EXP]][1]
// CHECK-NEXT:        spyre.pointwise neg(
// CHECK-NOT:     spyre.loop
// CHECK:         return
func.func @inner_groups_are_siblings(%x: tensor<8x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<8x128xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 2>]} : tensor<8x128xf16>
  %neg = spyre.pointwise neg(%exp) {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<2, B = 2>]} : tensor<8x128xf16>
  return %neg : tensor<8x128xf16>
}

// Two interleaved groups: the group that does not depend on the other comes first.
// CHECK-LABEL: func.func @groups_in_turns_are_two_loops(
// CHECK:         spyre.loop 2 "A"
// CHECK-NEXT:      spyre.pointwise abs(
// CHECK:         spyre.loop 4 "A"
// CHECK-NEXT:      spyre.pointwise exp(
// CHECK-NEXT:      spyre.pointwise neg(
// CHECK-NOT:     spyre.loop
// CHECK:         return
func.func @groups_in_turns_are_two_loops(%x: tensor<8x128xf16> {spyre.dims = ["A", "B"]}) -> (tensor<8x128xf16>, tensor<8x128xf16>) {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x128xf16>
  %abs = spyre.pointwise abs(%x) {hints = [#spyre.tile_hint<1, A = 2>]} : tensor<8x128xf16>
  %neg = spyre.pointwise neg(%exp) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x128xf16>
  return %abs, %neg : tensor<8x128xf16>, tensor<8x128xf16>
}

// One tile is no loop, though the name is known.
// CHECK-LABEL: func.func @one_tile_is_no_loop(
// CHECK-NEXT:    spyre.pointwise exp({{%.+}}) {dims = ["A", "B"]}
// CHECK-NEXT:    return
func.func @one_tile_is_no_loop(%x: tensor<8x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<8x128xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 1>]} : tensor<8x128xf16>
  return %exp : tensor<8x128xf16>
}
