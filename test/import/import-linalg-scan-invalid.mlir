// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

func.func @before_itself(%x: tensor<4x3xf16>, %whole: tensor<4x3xf16>, %last: tensor<4xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{'tm_tensor.scan' op expected inclusive(true), found an exclusive scan; subtract the element from an inclusive scan}}
  %sums:2 = tm_tensor.scan dimension(1) inclusive(false) ins(%x : tensor<4x3xf16>) outs(%whole, %last : tensor<4x3xf16>, tensor<4xf16>) {
  ^bb0(%sum: f16, %element: f16):
    %next = arith.addf %sum, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<4x3xf16>, tensor<4xf16>
  return %sums#0 : tensor<4x3xf16>
}

// -----

func.func @difference(%x: tensor<4x3xf16>, %whole: tensor<4x3xf16>, %last: tensor<4xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{'tm_tensor.scan' op expected a sum, product, maximum or minimum in the body, found another operation}}
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x3xf16>) outs(%whole, %last : tensor<4x3xf16>, tensor<4xf16>) {
  ^bb0(%sum: f16, %element: f16):
    %next = arith.subf %sum, %element : f16
    tm_tensor.yield %next : f16
  } -> tensor<4x3xf16>, tensor<4xf16>
  return %sums#0 : tensor<4x3xf16>
}
