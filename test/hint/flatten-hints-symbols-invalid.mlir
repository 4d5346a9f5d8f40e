// RUN: spyre-opt --verify-diagnostics --split-input-file --spyre-flatten-hints="bind=T=4" %s

// A name that nothing says a number of has no tile size.
func.func @neither_bound_nor_declared(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 8, V = 8}} {
  // expected-error @+1 {{'spyre.hint' op is to be cut into 'U' tiles along 'B', but nothing says how many these are: bind the name with the option 'bind=U=NUMBER' (--bind U=NUMBER), or declare its maximum on the function, 'spyre.symbols = {U = NUMBER}'}}
  %scope = spyre.hint tiles(A = T, B = U) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// -----

// A declared maximum is no number of slices.
func.func @slices_that_are_not_bound(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {U = 8}} {
  // expected-error @+1 {{'spyre.hint' op is to be divided into 'U' slices along 'A', but nothing says how many these are: bind the name with the option 'bind=U=NUMBER' (--bind U=NUMBER)}}
  %scope = spyre.hint work_div(A = U) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// -----

// The hints of an op are read like those of a scope.
func.func @neither_bound_nor_declared_on_an_op(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op is to be cut into 'U' tiles along 'A', but nothing says how many these are}}
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = U>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

func.func @bound_above_the_maximum(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 2}} {
  // expected-error @+1 {{'spyre.hint' op option 'bind' binds 'T' to 4, but the maximum that 'spyre.symbols' declares is 2}}
  %scope = spyre.hint tiles(A = T) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}

// -----

// What is declared and not asked for is not used.
// expected-error @+1 {{'builtin.module' op option 'bind' binds 'T' to 4, but no count has that name}}
module {
  func.func @bound_and_not_used(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 8}} {
    return %x : tensor<8x64xf16>
  }
}

// -----

// Its tiles have a size, which the number would change.
func.func @loops_are_cut_already(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 8}} {
  // expected-error @+1 {{'spyre.loop' op has 8 tiles already, so that 'bind=T=4' cannot make them 4}}
  %loop = spyre.loop 8 "A" tiled(%tile = %x[0] : tensor<8x64xf16>) attributes {symbol = "T"} {
    %exp = spyre.pointwise exp(%tile) : tensor<1x64xf16>
    spyre.yield %exp[0] : tensor<1x64xf16>
  } : tensor<8x64xf16>
  return %loop : tensor<8x64xf16>
}
