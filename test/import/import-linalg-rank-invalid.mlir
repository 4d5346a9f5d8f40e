// RUN: spyre-opt %s --spyre-compile --split-input-file --verify-diagnostics

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
