// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

func.func @by_two(%x: tensor<4x3xf16>, %y: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{'tm_tensor.sort' op expected a comparison of two elements of one tensor, found another comparator}}
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %y : tensor<4x3xf16>, tensor<4x3xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %d: f16):
    %stays = arith.cmpf ole, %a, %d : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x3xf16>, tensor<4x3xf16>
  return %sorted#0 : tensor<4x3xf16>
}

// -----

func.func @equal(%x: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{'tm_tensor.sort' op expected a comparison of two elements of one tensor, found another comparator}}
  %sorted = tm_tensor.sort dimension(1) outs(%x : tensor<4x3xf16>) {
  ^bb0(%a: f16, %b: f16):
    %stays = arith.cmpf oeq, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x3xf16>
  return %sorted : tensor<4x3xf16>
}

// -----

func.func @truths(%x: tensor<4x3xf16>, %y: tensor<4x3xi1>) -> tensor<4x3xi1> {
  // expected-error @+1 {{'tm_tensor.sort' op of truth values is not supported; convert them to numbers}}
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %y : tensor<4x3xf16>, tensor<4x3xi1>) {
  ^bb0(%a: f16, %b: f16, %c: i1, %d: i1):
    %stays = arith.cmpf ole, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x3xf16>, tensor<4x3xi1>
  return %sorted#1 : tensor<4x3xi1>
}

// -----

func.func @long(%x: tensor<4x2000xf16>) -> tensor<4x65xf16> {
  // expected-error @+1 {{'tm_tensor.sort' op expected rows of at most 1024 elements, or uses of at most the first 64 elements of longer rows, found rows of 2000 elements, of which 65 are used; sort shorter rows, or use fewer elements}}
  %sorted = tm_tensor.sort dimension(1) outs(%x : tensor<4x2000xf16>) {
  ^bb0(%a: f16, %b: f16):
    %stays = arith.cmpf ole, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<4x2000xf16>
  %values = tensor.extract_slice %sorted[0, 0] [4, 65] [1, 1] : tensor<4x2000xf16> to tensor<4x65xf16>
  return %values : tensor<4x65xf16>
}

// -----

func.func @from_zero(%x: tensor<4x20xf16>) -> tensor<4x2xf16> {
  %zero = arith.constant dense<0.0> : tensor<4x2xf16>
  %places = tensor.empty() : tensor<4x2xi64>
  // expected-error @+1 {{'tm_tensor.topk' op expected the last number in sort order as initial value of the first 'outs', found other numbers; fill 'outs' with it}}
  %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<4x20xf16>) outs(%zero, %places : tensor<4x2xf16>, tensor<4x2xi64>) {
  ^bb0(%a: f16, %b: f16):
    %before = arith.cmpf ogt, %a, %b : f16
    tm_tensor.yield %before : i1
  } -> tensor<4x2xf16>, tensor<4x2xi64>
  return %first#0 : tensor<4x2xf16>
}

// -----

func.func @nan_first(%x: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // expected-error @+1 {{'tm_tensor.sort' op expected a comparison of two elements of one tensor, found another comparator}}
  %sorted = tm_tensor.sort dimension(1) outs(%x : tensor<4x3xf16>) {
  ^bb0(%a: f16, %b: f16):
    %nan = arith.cmpf une, %a, %a : f16
    %less = arith.cmpf ole, %a, %b : f16
    %stays = arith.ori %nan, %less : i1
    tm_tensor.yield %stays : i1
  } -> tensor<4x3xf16>
  return %sorted : tensor<4x3xf16>
}
