// RUN: spyre-opt --verify-diagnostics --split-input-file --spyre-flatten-hints="bind=T=4" %s

// A count that is neither bound nor declared gives no tile size.
func.func @neither_bound_nor_declared(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 8, V = 8}} {
  // expected-error @+1 {{tile count 'U' of dimension 'B' has no value; give --bind U=NUMBER, or declare a maximum on the function, 'spyre.symbols = {U = NUMBER}'}}
  %scope = spyre.hint tiles(A = T, B = U) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// -----

// A declared maximum is not enough for a core split.
func.func @slices_that_are_not_bound(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {U = 8}} {
  // expected-error @+1 {{number of slices 'U' of dimension 'A' has no value; give --bind U=NUMBER}}
  %scope = spyre.hint work_div(A = U) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// -----

// The hints of an op are read like those of a scope.
func.func @neither_bound_nor_declared_on_an_op(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{tile count 'U' of dimension 'A' has no value; give --bind U=NUMBER, or declare a maximum on the function, 'spyre.symbols = {U = NUMBER}'}}
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = U>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

func.func @bound_above_the_maximum(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 2}} {
  // expected-error @+1 {{'spyre.hint' op option 'bind': 'T=4' exceeds the maximum 2 that 'spyre.symbols' declares; use at most 2}}
  %scope = spyre.hint tiles(A = T) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// -----

// A declared symbol that no tile count uses cannot be bound.
// expected-error @+1 {{'builtin.module' op option 'bind': expected the name of a tile count, found 'T=4'; use the name as in '--tiles DIM=T', or remove the binding}}
module {
  func.func @bound_and_not_used(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 8}} {
    return %x : tensor<8x64xf16>
  }
}

// -----

// The loop has tiles of a fixed size, which another count would change.
func.func @loops_are_cut_already(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 8}} {
  // expected-error @+1 {{loop has 8 tiles, found 'bind=T=4'; bind 'T' to 8, or remove the binding}}
  %loop = spyre.loop 8 "A" tiled(%tile = %x[0] : tensor<8x64xf16>) attributes {symbol = "T"} {
    %exp = spyre.pointwise exp(%tile) : tensor<1x64xf16>
    spyre.yield %exp[0] : tensor<1x64xf16>
  } : tensor<8x64xf16>
  return %loop : tensor<8x64xf16>
}
