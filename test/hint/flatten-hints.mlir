// RUN: spyre-opt --spyre-flatten-hints="tiles=A=2,B=4" %s | FileCheck %s
// RUN: spyre-opt --spyre-flatten-hints="tiles=A=T,B=U bind=U=4,T=2" %s | FileCheck %s
// RUN: spyre-opt --spyre-flatten-hints %s | FileCheck %s --check-prefix=SCOPES

// The option is a scope around every function: ids start again in each.
// CHECK-LABEL: func.func @tiles_are_a_scope_around_the_function(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<8x64xf16>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<8x64xf16>
// CHECK-NEXT:    return [[NEG]]

// SCOPES-LABEL: func.func @tiles_are_a_scope_around_the_function(
// SCOPES-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// SCOPES-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// SCOPES-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) : tensor<8x64xf16>
// SCOPES-NEXT:    return [[NEG]]
func.func @tiles_are_a_scope_around_the_function(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<8x64xf16>
  return %neg : tensor<8x64xf16>
}

// An outer scope comes before an inner one; what is outside a scope has none of its hints.
// CHECK-LABEL: func.func @ids_increase_inwards_and_in_program_order(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>, #spyre.tile_hint<2, rows = 2>]} : tensor<8x64xf16>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>, #spyre.tile_hint<2, rows = 2>, #spyre.tile_hint<3, columns = 1>]} : tensor<8x64xf16>
// CHECK-NEXT:    [[ABS:%.+]] = spyre.pointwise abs([[NEG]]) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>, #spyre.tile_hint<4, rows = 2>]} : tensor<8x64xf16>
// CHECK-NEXT:    [[SQRT:%.+]] = spyre.pointwise sqrt([[ABS]]) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<8x64xf16>
// CHECK-NEXT:    return [[SQRT]]

// SCOPES-LABEL: func.func @ids_increase_inwards_and_in_program_order(
// SCOPES-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// SCOPES-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) {hints = [#spyre.tile_hint<0, rows = 2>]} : tensor<8x64xf16>
// SCOPES-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) {hints = [#spyre.tile_hint<0, rows = 2>, #spyre.tile_hint<1, columns = 1>]} : tensor<8x64xf16>
// SCOPES-NEXT:    [[ABS:%.+]] = spyre.pointwise abs([[NEG]]) {hints = [#spyre.tile_hint<2, rows = 2>]} : tensor<8x64xf16>
// SCOPES-NEXT:    [[SQRT:%.+]] = spyre.pointwise sqrt([[ABS]]) : tensor<8x64xf16>
// SCOPES-NEXT:    return [[SQRT]]
func.func @ids_increase_inwards_and_in_program_order(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %first = spyre.hint tiles(rows = 2) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    %inner = spyre.hint tiles(columns = 1) {
      %neg = spyre.pointwise neg(%exp) : tensor<8x64xf16>
      spyre.yield %neg : tensor<8x64xf16>
    }
    spyre.yield %inner : tensor<8x64xf16>
  }
  %second = spyre.hint tiles(rows = 2) {
    %abs = spyre.pointwise abs(%first) : tensor<8x64xf16>
    spyre.yield %abs : tensor<8x64xf16>
  }
  %sqrt = spyre.pointwise sqrt(%second) : tensor<8x64xf16>
  return %sqrt : tensor<8x64xf16>
}

// A view is no op of the device: it moves out of the scope without a hint. So does a value that comes from outside.
// SCOPES-LABEL: func.func @every_result_of_a_scope_finds_its_value(
// SCOPES-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<64x8xf16>, tensor<8x1xf16>) {
// SCOPES-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] {hints = [#spyre.tile_hint<0, rows = 2>, #spyre.tile_hint<1, "wide rows" = 4>]} : tensor<8x64xf16> -> tensor<8x1xf16>
// SCOPES-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by #{{.+}} : tensor<8x64xf16> -> tensor<64x8xf16>
// SCOPES-NEXT:    return [[VIEW]], [[MAX]] : tensor<64x8xf16>, tensor<8x1xf16>
func.func @every_result_of_a_scope_finds_its_value(%x: tensor<8x64xf16>) -> (tensor<64x8xf16>, tensor<8x1xf16>) {
  %max, %view, %same = spyre.hint tiles(rows = 2, "wide rows" = 4) {
    %m = spyre.reduce max(%x) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
    %v = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
    spyre.yield %m, %v, %x : tensor<8x1xf16>, tensor<64x8xf16>, tensor<8x64xf16>
  }
  return %view, %max : tensor<64x8xf16>, tensor<8x1xf16>
}

// Scopes in loops are flattened like those of the function.
// SCOPES-LABEL: func.func @scopes_in_loops_are_flattened(
// SCOPES-NOT:     spyre.hint
// SCOPES:         spyre.pointwise exp({{.+}}) {hints = [#spyre.tile_hint<0, B = 1>]}
func.func @scopes_in_loops_are_flattened(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %result = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<8x64xf16>) {
    %scope = spyre.hint tiles(B = 1) {
      %exp = spyre.pointwise exp(%tile) : tensor<4x64xf16>
      spyre.yield %exp : tensor<4x64xf16>
    }
    spyre.yield %scope[0] : tensor<4x64xf16>
  } : tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// Slices belong to a name: the inner scope has its own for rows, and those of the outer one for columns. Tiles nest, whatever their names.
// SCOPES-LABEL: func.func @inner_slices_override_outer_ones(
// SCOPES:         spyre.pointwise exp({{.+}}) {hints = [#spyre.tile_hint<0, rows = 2>], work_div = [#spyre.work_hint<1, rows = 4>, #spyre.work_hint<2, columns = 1>]}
// SCOPES-NEXT:    spyre.pointwise neg({{.+}}) {hints = [#spyre.tile_hint<0, rows = 2>], work_div = [#spyre.work_hint<2, columns = 1>, #spyre.work_hint<3, rows = 2>]}
func.func @inner_slices_override_outer_ones(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %scope = spyre.hint tiles(rows = 2) work_div(rows = 4, columns = 1) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    %inner = spyre.hint work_div(rows = 2) {
      %neg = spyre.pointwise neg(%exp) : tensor<8x64xf16>
      spyre.yield %neg : tensor<8x64xf16>
    }
    spyre.yield %inner : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// What only an unused result of a scope needs is erased: the second result, its op and the view that this reads.
// CHECK-LABEL: func.func @unused_results_of_a_scope(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, {{%.+}}: tensor<64x8xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]])
// CHECK-NEXT:    return [[EXP]]
func.func @unused_results_of_a_scope(%x: tensor<8x64xf16>, %y: tensor<64x8xf16>) -> tensor<8x64xf16> {
  %turned = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x8xf16> -> tensor<8x64xf16>
  %used, %unused, %again = spyre.hint tiles(rows = 2) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    %sum = spyre.pointwise add(%turned, %turned) : (tensor<8x64xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
    spyre.yield %exp, %sum, %sum : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
  }
  return %used : tensor<8x64xf16>
}
