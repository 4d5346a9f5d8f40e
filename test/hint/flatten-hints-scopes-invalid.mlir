// RUN: spyre-opt --verify-diagnostics --spyre-flatten-hints %s

// Whose id comes first, and which of the two is the outer tile, is nowhere written.
func.func @hints_in_a_scope(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %scope = spyre.hint tiles(A = 2) {
    // expected-error @+1 {{'spyre.pointwise' op expected hints from one source, found 'hints' on the op inside a scope or under the option 'tiles'; remove one of them}}
    %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}
