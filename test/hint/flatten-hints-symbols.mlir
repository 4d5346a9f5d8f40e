// RUN: spyre-opt --spyre-flatten-hints %s | FileCheck %s
// RUN: spyre-opt --spyre-flatten-hints="bind=T=4" %s | FileCheck %s --check-prefix=BOUND

// A name with a maximum stays a name; a name with a number is the number, declared or not.
// CHECK-LABEL: func.func @scopes(
// CHECK:         spyre.pointwise exp({{.+}}) {hints = [#spyre.tile_hint<0, A = T>, #spyre.tile_hint<1, B = 4>, #spyre.tile_hint<2, B = U>]}
// BOUND-LABEL: func.func @scopes(
// BOUND:         spyre.pointwise exp({{.+}}) {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 4>, #spyre.tile_hint<2, B = U>]}
func.func @scopes(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 8, U = 2}} {
  %scope = spyre.hint tiles(A = T, B = 4) {
    %inner = spyre.hint tiles(B = U) {
      %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
      spyre.yield %exp : tensor<8x64xf16>
    }
    spyre.yield %inner : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// The hints that an op has already.
// CHECK-LABEL: func.func @hints_of_an_op(
// CHECK:         spyre.pointwise exp({{.+}}) {hints = [#spyre.tile_hint<3, A = T>]}
// BOUND-LABEL: func.func @hints_of_an_op(
// BOUND:         spyre.pointwise exp({{.+}}) {hints = [#spyre.tile_hint<3, A = 4>]}

// A loop that is there already may have just the number of tiles that it has.
// CHECK:         spyre.loop 4 "A" tiled({{.+}}) attributes {symbol = "T"} {
// BOUND:         spyre.loop 4 "A" tiled({{.+}}) {
func.func @hints_of_an_op(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 4}} {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<3, A = T>]} : tensor<8x64xf16>
  %loop = spyre.loop 4 "A" tiled(%tile = %exp[0] : tensor<8x64xf16>) attributes {symbol = "T"} {
    %neg = spyre.pointwise neg(%tile) : tensor<2x64xf16>
    spyre.yield %neg[0] : tensor<2x64xf16>
  } : tensor<8x64xf16>
  return %loop : tensor<8x64xf16>
}
