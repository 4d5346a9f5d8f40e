// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// A function is named after the rule that it breaks.

func.func @scan_c1(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>) {
  // expected-error @+1 {{'tm_tensor.scan' op expected one input and two 'outs', found 1 and 1}}
  %sums = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole : tensor<4x64xf32>) {
  ^bb0(%sum: f32, %element: f32):
    tm_tensor.yield %sum : f32
  } -> tensor<4x64xf32>
  return
}

// -----

func.func @scan_c1(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>, %last: tensor<64xf32>) {
  // expected-error @+1 {{expected 'outs' of the input's shape, and of the input's shape without dimension 1}}
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<64xf32>) {
  ^bb0(%sum: f32, %element: f32):
    tm_tensor.yield %sum : f32
  } -> tensor<4x64xf32>, tensor<64xf32>
  return
}

// -----

func.func @scan_c2(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>, %last: tensor<4xf32>) {
  // expected-error @+1 {{expected a dimension of 'tensor<4x64xf32>', found dimension 2}}
  %sums:2 = tm_tensor.scan dimension(2) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<4xf32>) {
  ^bb0(%sum: f32, %element: f32):
    tm_tensor.yield %sum : f32
  } -> tensor<4x64xf32>, tensor<4xf32>
  return
}

// -----

func.func @scan_c3(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>, %last: tensor<4xf32>) {
  // expected-error @+1 {{expected results of the types of 'outs'}}
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<4xf32>) {
  ^bb0(%sum: f32, %element: f32):
    tm_tensor.yield %sum : f32
  } -> tensor<4x64xf32>, tensor<5xf32>
  return
}

// -----

func.func @scan_c4(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>, %last: tensor<4xf32>) {
  // expected-error @+1 {{expected a body with one argument for each element that it gets, 2 in all, found 1}}
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<4xf32>) {
  ^bb0(%sum: f32):
    tm_tensor.yield %sum : f32
  } -> tensor<4x64xf32>, tensor<4xf32>
  return
}

// -----

func.func @scan_c4(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>, %last: tensor<4xf32>) {
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<4xf32>) {
  ^bb0(%sum: f32, %element: f32):
    // expected-error @+1 {{'tm_tensor.yield' op expected one value of type 'f32'}}
    tm_tensor.yield %sum, %element : f32, f32
  } -> tensor<4x64xf32>, tensor<4xf32>
  return
}

// -----

func.func @scatter_c1(%rows: tensor<3x1x64xf16>, %cache: tensor<32x64xf16>) {
  // expected-error @+1 {{'tm_tensor.scatter' op expected two inputs and one 'outs', found 1 and 1}}
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%rows : tensor<3x1x64xf16>) outs(%cache : tensor<32x64xf16>) {
  ^bb0(%row: f16, %old: f16):
    tm_tensor.yield %row : f16
  } -> tensor<32x64xf16>
  return
}

// -----

func.func @scatter_c2(%rows: tensor<3x1x64xf16>, %places: tensor<3x1xi64>, %cache: tensor<32x64xf16>) {
  // expected-error @+1 {{expected a body with one argument for each element that it gets, 2 in all, found 3}}
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x1x64xf16>, tensor<3x1xi64>) outs(%cache : tensor<32x64xf16>) {
  ^bb0(%row: f16, %old: f16, %other: f16):
    tm_tensor.yield %row : f16
  } -> tensor<32x64xf16>
  return
}

// -----

func.func @sort_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{expected a dimension of 'tensor<4x64xf16>', found dimension -1}}
  %sorted = tm_tensor.sort dimension(-1) outs(%x : tensor<4x64xf16>) {
  ^bb0(%one: f16, %other: f16):
    %before = arith.cmpf oge, %one, %other : f16
    tm_tensor.yield %before : i1
  } -> tensor<4x64xf16>
  return
}

// -----

func.func @sort_c2(%x: tensor<4x64xf16>) {
  %sorted = tm_tensor.sort dimension(1) outs(%x : tensor<4x64xf16>) {
  ^bb0(%one: f16, %other: f16):
    // expected-error @+1 {{'tm_tensor.yield' op expected one value of type 'i1'}}
    tm_tensor.yield %one : f16
  } -> tensor<4x64xf16>
  return
}

// -----

func.func @word(%x: tensor<4x64xf32>, %whole: tensor<4x64xf32>, %last: tensor<4xf32>) {
  // expected-error @+1 {{expected 'true' or 'false', found 'yes'}}
  %sums:2 = tm_tensor.scan dimension(1) inclusive(yes) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<4xf32>) {
  ^bb0(%sum: f32, %element: f32):
    tm_tensor.yield %sum : f32
  } -> tensor<4x64xf32>, tensor<4xf32>
  return
}

// -----

func.func @topk_c1(%x: tensor<4x2xf32>, %lowest: tensor<4x3xf32>, %places: tensor<4x3xi64>) {
  // expected-error @+1 {{expected tensors of the input's shape, with at most as many elements in 'outs' along dimension 1}}
  %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<4x2xf32>) outs(%lowest, %places : tensor<4x3xf32>, tensor<4x3xi64>) {
  ^bb0(%one: f32, %other: f32):
    %before = arith.cmpf ogt, %one, %other : f32
    tm_tensor.yield %before : i1
  } -> tensor<4x3xf32>, tensor<4x3xi64>
  return
}

// -----

func.func @topk_c1_outs(%x: tensor<4x2xf32>, %lowest: tensor<4x2xf32>) {
  // expected-error @+1 {{expected one or two inputs and two 'outs', found 1 and 1}}
  %first = tm_tensor.topk dimension(1) ins(%x : tensor<4x2xf32>) outs(%lowest : tensor<4x2xf32>) {
  ^bb0(%one: f32, %other: f32):
    %before = arith.cmpf ogt, %one, %other : f32
    tm_tensor.yield %before : i1
  } -> tensor<4x2xf32>
  return
}

// -----

func.func @topk_c2(%x: tensor<4x2xf32>, %places: tensor<4x2xi64>) {
  // expected-error @+1 {{expected a dimension of 'tensor<4x2xf32>', found dimension 2}}
  %first:2 = tm_tensor.topk dimension(2) ins(%x : tensor<4x2xf32>) outs(%x, %places : tensor<4x2xf32>, tensor<4x2xi64>) {
  ^bb0(%one: f32, %other: f32):
    %before = arith.cmpf ogt, %one, %other : f32
    tm_tensor.yield %before : i1
  } -> tensor<4x2xf32>, tensor<4x2xi64>
  return
}

// -----

func.func @topk_c3(%x: tensor<4x2xf32>, %places: tensor<4x2xi64>) {
  // expected-error @+1 {{expected a body with one argument for each element that it gets, 2 in all, found 3}}
  %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<4x2xf32>) outs(%x, %places : tensor<4x2xf32>, tensor<4x2xi64>) {
  ^bb0(%one: f32, %other: f32, %third: f32):
    %before = arith.cmpf ogt, %one, %other : f32
    tm_tensor.yield %before : i1
  } -> tensor<4x2xf32>, tensor<4x2xi64>
  return
}

// -----

func.func @attention_c1(%q: tensor<4x8x64xf16>) {
  // expected-error @+1 {{'tm_tensor.attention' op expected three or four inputs and one 'outs', found 2 and 1}}
  %y = tm_tensor.attention ins(%q, %q : tensor<4x8x64xf16>, tensor<4x8x64xf16>) outs(%q : tensor<4x8x64xf16>) -> tensor<4x8x64xf16>
  return
}

// -----

func.func @attention_c1_batch(%q: tensor<4x8x64xf16>, %k: tensor<2x8x64xf16>) {
  // expected-error @+1 {{'tm_tensor.attention' op expected all dimensions but the last two as in the queries 'tensor<4x8x64xf16>', found 'tensor<2x8x64xf16>'}}
  %y = tm_tensor.attention ins(%q, %k, %q : tensor<4x8x64xf16>, tensor<2x8x64xf16>, tensor<4x8x64xf16>) outs(%q : tensor<4x8x64xf16>)
      -> tensor<4x8x64xf16>
  return
}

// -----

func.func @attention_c2(%q: tensor<4x8x64xf16>, %k: tensor<4x9x64xf16>) {
  // expected-error @+1 {{'tm_tensor.attention' op expected 9 by 64 in the last two dimensions, as the other tensors require, found 'tensor<4x8x64xf16>'}}
  %y = tm_tensor.attention ins(%q, %k, %q : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x8x64xf16>) outs(%q : tensor<4x8x64xf16>)
      -> tensor<4x8x64xf16>
  return
}

// -----

func.func @attention_c3(%q: tensor<4x8x64xf16>) {
  // expected-error @+1 {{'tm_tensor.attention' op expected results of the types of 'outs'}}
  %y = tm_tensor.attention ins(%q, %q, %q : tensor<4x8x64xf16>, tensor<4x8x64xf16>, tensor<4x8x64xf16>) outs(%q : tensor<4x8x64xf16>)
      -> tensor<4x8x64xf32>
  return
}
