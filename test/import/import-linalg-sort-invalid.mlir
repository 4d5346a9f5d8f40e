// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

func.func @by_two(%x: tensor<4x3xf16>, %y: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{'tm_tensor.sort' op orders by something else than one comparison of two elements of a tensor: not supported yet}}
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %y : tensor<4x3xf16>, tensor<4x3xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %d: f16):
    %stays = arith.cmpf ole, %a, %d : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x3xf16>, tensor<4x3xf16>
  return %sorted#0 : tensor<4x3xf16>
}

// -----

func.func @equal(%x: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{'tm_tensor.sort' op orders by something else than one comparison of two elements of a tensor: not supported yet}}
  %sorted = tm_tensor.sort dimension(1) outs(%x : tensor<4x3xf16>) {
  ^bb0(%a: f16, %b: f16):
    %stays = arith.cmpf oeq, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x3xf16>
  return %sorted : tensor<4x3xf16>
}

// -----

func.func @truths(%x: tensor<4x3xf16>, %y: tensor<4x3xi1>) -> tensor<4x3xi1> {
  // expected-error @+1 {{'tm_tensor.sort' op sorts truth values: not supported yet}}
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %y : tensor<4x3xf16>, tensor<4x3xi1>) {
  ^bb0(%a: f16, %b: f16, %c: i1, %d: i1):
    %stays = arith.cmpf ole, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x3xf16>, tensor<4x3xi1>
  return %sorted#1 : tensor<4x3xi1>
}

// -----

func.func @long(%x: tensor<4x2000xf16>) -> tensor<4x2xf16> {
  // expected-error @+1 {{'tm_tensor.sort' op sorts rows of 2000 elements, of which the first 2 are needed: rows of up to 1024 elements are supported, and in f32 longer ones of which at most 64 elements are needed}}
  %sorted = tm_tensor.sort dimension(1) outs(%x : tensor<4x2000xf16>) {
  ^bb0(%a: f16, %b: f16):
    %stays = arith.cmpf ole, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x2000xf16>
  %values = tensor.extract_slice %sorted[0, 0] [4, 2] [1, 1] : tensor<4x2000xf16> to tensor<4x2xf16>
  return %values : tensor<4x2xf16>
}
