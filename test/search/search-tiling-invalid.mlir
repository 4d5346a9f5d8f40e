// RUN: spyre-opt --spyre-propagate-layouts --spyre-search-tiling="steps=-1" --verify-diagnostics %s

// expected-error @+1 {{'builtin.module' op option 'steps': expected a nonnegative number, found '-1'}}
module {
  func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
    %exp = spyre.pointwise exp(%x) : tensor<64x64xf16>
    return %exp : tensor<64x64xf16>
  }
}
