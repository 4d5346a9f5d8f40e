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

// -----

func.func @product_of_digits(%mask: tensor<2048xi64>, %x: tensor<4xf16>) -> (tensor<2048xi32>, tensor<4xf16>) {
  %whole = tensor.empty() : tensor<2048xi64>
  %last = tensor.empty() : tensor<i64>
  %sums:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%mask : tensor<2048xi64>) outs(%whole, %last : tensor<2048xi64>, tensor<i64>) {
  ^bb0(%sum: i64, %element: i64):
    %next = arith.addi %sum, %element : i64
    tm_tensor.yield %next : i64
  } -> tensor<2048xi64>, tensor<i64>
  %e = tensor.empty() : tensor<2048xi32>
  %squares = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%sums#0 : tensor<2048xi64>) outs(%e : tensor<2048xi32>) {
  ^bb0(%s: i64, %out: i32):
    // expected-error @+1 {{'arith.muli' op computes with integers above 1024, which the 16-bit format stores as two digits: expected a sum, a difference, a comparison, a select, or integers of a wider type; reduce a smaller dimension, or compute in f32}}
    %square = arith.muli %s, %s : i64
    %short = arith.trunci %square : i64 to i32
    linalg.yield %short : i32
  } -> tensor<2048xi32>
  return %squares, %x : tensor<2048xi32>, tensor<4xf16>
}
