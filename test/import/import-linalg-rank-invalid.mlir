// RUN: spyre-opt %s --spyre-compile --split-input-file --verify-diagnostics

func.func @eight_dimensions_in_turns(%x: tensor<2x3x2x3x2x3x2x70xf16>) -> tensor<2x2x3x2x3x3x70x2xf16> {
  %e = tensor.empty() : tensor<2x2x3x2x3x3x70x2xf16>
  %y = linalg.transpose ins(%x : tensor<2x3x2x3x2x3x2x70xf16>) outs(%e : tensor<2x2x3x2x3x3x70x2xf16>) permutation = [0, 2, 1, 4, 3, 5, 7, 6]
  // expected-error @+1 {{'spyre.copy' op iterates over 8 separate dimensions, and the device has at most 7; reshape the operands}}
  return %y : tensor<2x2x3x2x3x3x70x2xf16>
}

// -----

#all = affine_map<(a, b, c, d, e, f, g, h) -> (a, b, c, d, e, f, g, h)>
func.func @repeated_in_turns(%x: tensor<2x3x2x3x2x3x2x70xf16>, %y: tensor<2x2x2x2xf16>) -> tensor<2x3x2x3x2x3x2x70xf16> {
  %o = tensor.empty() : tensor<2x3x2x3x2x3x2x70xf16>
  %z = linalg.generic {indexing_maps = [#all, affine_map<(a, b, c, d, e, f, g, h) -> (a, c, e, g)>, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<2x3x2x3x2x3x2x70xf16>, tensor<2x2x2x2xf16>) outs(%o : tensor<2x3x2x3x2x3x2x70xf16>) {
  ^bb0(%v: f16, %w: f16, %out: f16):
    // expected-error @+1 {{'spyre.pointwise' op expected at most 6 dimensions, found 8; reshape the tensor}}
    %s = arith.addf %v, %w : f16
    linalg.yield %s : f16
  } -> tensor<2x3x2x3x2x3x2x70xf16>
  return %z : tensor<2x3x2x3x2x3x2x70xf16>
}
