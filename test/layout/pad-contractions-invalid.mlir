// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-pad-contractions %s

func.func @no_format(%x: tensor<8x100xf128>, %y: tensor<100x64xf128>) -> tensor<8x64xf128> {
  // expected-error @+1 {{'spyre.matmul' op expected elements of a device format, found f128; convert them before the export}}
  %product = spyre.matmul(%x, %y) : (tensor<8x100xf128>, tensor<100x64xf128>) -> tensor<8x64xf128>
  return %product : tensor<8x64xf128>
}

// -----

// Repetitions in an operand are found by splitting its batch dimension, which must be possible.
func.func @overlapping_batches(%x: tensor<9x8x100xf16>, %y: tensor<5x100x64xf16>) -> tensor<9x8x64xf16> {
  %view = spyre.view %y by affine_map<(d0, d1, d2) -> (d0 floordiv 3 + d0 mod 3, d1, d2)> : tensor<5x100x64xf16> -> tensor<9x100x64xf16>
  // expected-error @+1 {{'spyre.matmul' op cannot pad an operand that it reads through views: operand 1, dimension 0: 3 steps of 1 overlap with steps of 1; copy the operand first}}
  %product = spyre.matmul(%x, %view) : (tensor<9x8x100xf16>, tensor<9x100x64xf16>) -> tensor<9x8x64xf16>
  return %product : tensor<9x8x64xf16>
}
