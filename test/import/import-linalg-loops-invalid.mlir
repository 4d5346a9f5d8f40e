// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

func.func @count(%x: tensor<8x64xf16>, %n: tensor<1xindex>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = tensor.collapse_shape %n [] : tensor<1xindex> into tensor<index>
  %end = tensor.extract %one[] : tensor<index>
  // expected-error @+1 {{'scf.for' op runs as often as a value of run time says: only loops are supported whose counts are known at compile time}}
  %last = scf.for %i = %c0 to %end step %c1 iter_args(%so_far = %x) -> tensor<8x64xf16> {
    %next = arith.negf %so_far : tensor<8x64xf16>
    scf.yield %next : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}

// -----

func.func @long(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1025 : index
  // expected-error @+1 {{'scf.for' op would be written out, with all control flow before it, as more than 2048 operations: not supported yet; a program of fewer iterations, run several times, is}}
  %last = scf.for %i = %c0 to %end step %c1 iter_args(%so_far = %x) -> tensor<8x64xf16> {
    %next = arith.negf %so_far : tensor<8x64xf16>
    scf.yield %next : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}

// -----

func.func @endless(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %true = arith.constant true
  // expected-error @+1 {{'scf.while' op would be written out, with all control flow before it, as more than 2048 operations}}
  %last = scf.while (%so_far = %x) : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    scf.condition(%true) %so_far : tensor<8x64xf16>
  } do {
  ^bb0(%y: tensor<8x64xf16>):
    scf.yield %y : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}

// -----

func.func @until(%x: tensor<8x64xf16>, %flag: tensor<i1>) -> tensor<8x64xf16> {
  %is_set = tensor.extract %flag[] : tensor<i1>
  // expected-error @+1 {{'scf.while' op runs as often as a value of run time says}}
  %last = scf.while (%so_far = %x) : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    scf.condition(%is_set) %so_far : tensor<8x64xf16>
  } do {
  ^bb0(%y: tensor<8x64xf16>):
    scf.yield %y : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}

// -----

func.func @scope(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{here}}
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%so_far = %x) -> tensor<8x64xf16> {
    // expected-error @+1 {{'spyre.pointwise' op stands in control flow: not supported yet}}
    %next = spyre.pointwise neg(%so_far) : tensor<8x64xf16>
    scf.yield %next : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}
