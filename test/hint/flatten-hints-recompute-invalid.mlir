// RUN: spyre-opt --verify-diagnostics --spyre-flatten-hints %s

// Nothing is computed again in a loop that nobody asks for.
func.func @again_in_no_loop(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %scope = spyre.hint tiles(A = 2) {
    // expected-error @+1 {{'spyre.hint' op expected tiles along 'B', which 'recompute' names, found none; tile 'B' in an enclosing scope, or remove it from 'recompute'}}
    %again = spyre.hint recompute(B) {
      %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
      spyre.yield %exp : tensor<8x64xf16>
    }
    spyre.yield %again : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}
