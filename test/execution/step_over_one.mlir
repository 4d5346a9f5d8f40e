// A slice of one element along a dimension may have any stride there, also where the result is without another dimension of one.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK-COUNT-2: correct
#rows = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#columns = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
#own = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#one = affine_map<(d0) -> (d0)>
func.func @step_over_one(%x: tensor<2x1x1xf16>, %y: tensor<1x1x2xf16>, %to: tensor<3x5xf16>, %z: tensor<1xf16>) -> (tensor<1xf16>, tensor<3x5xf16>) {
  %empty = tensor.empty() : tensor<2x1x1xf16>
  %sum = linalg.generic {indexing_maps = [#rows, #columns, #own], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<2x1x1xf16>, tensor<1x1x2xf16>) outs(%empty : tensor<2x1x1xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2x1x1xf16>
  %part = tensor.extract_slice %sum[1, 0, 0] [1, 1, 1] [1, 1, 2] : tensor<2x1x1xf16> to tensor<1xf16>
  %one = tensor.empty() : tensor<1xf16>
  %copy = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%part : tensor<1xf16>) outs(%one : tensor<1xf16>) {
  ^bb0(%a: f16, %out: f16):
    linalg.yield %a : f16
  } -> tensor<1xf16>
  %exp = math.absf %to : tensor<3x5xf16>
  %whole = tensor.insert_slice %z into %exp[1, 3] [1, 1] [2, 3] : tensor<1xf16> into tensor<3x5xf16>
  return %copy, %whole : tensor<1xf16>, tensor<3x5xf16>
}
