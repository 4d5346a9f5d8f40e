// RUN: spyre-opt %s --spyre-compile --verify-diagnostics

// Only transposes of the import are computed in steps, not views that are written in the dialect 'spyre'.
#digits = affine_map<(a, b) -> ((a mod 2) * 128 + (a floordiv 2 mod 2) * 64 + (a floordiv 4 mod 2) * 32 + (a floordiv 8 mod 2) * 16 + (a floordiv 16 mod 2) * 8 + (a floordiv 32 mod 2) * 4 + (a floordiv 64 mod 2) * 2 + a floordiv 128, b)>
func.func @reversed_digits(%x: tensor<256x64xf16>) -> tensor<256x64xf16> {
  %v = spyre.view %x by #digits : tensor<256x64xf16> -> tensor<256x64xf16>
  // expected-error @+1 {{'spyre.pointwise' op iterates over 9 separate dimensions, and the device has at most 7; reshape the operands}}
  %y = spyre.pointwise exp(%v) : tensor<256x64xf16>
  return %y : tensor<256x64xf16>
}
