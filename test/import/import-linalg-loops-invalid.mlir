// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

func.func @count(%x: tensor<8x64xf16>, %n: tensor<1xindex>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = tensor.collapse_shape %n [] : tensor<1xindex> into tensor<index>
  %end = tensor.extract %one[] : tensor<index>
  // expected-error @+1 {{'scf.for' op requires a constant trip count, found a runtime bound; make the bound a constant}}
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
  // expected-error @+1 {{'scf.for' op expands to 1025 iterations of 2 ops, which is more than 2048 ops, the limit for all loops of a program; compile fewer iterations, and run the program several times}}
  %last = scf.for %i = %c0 to %end step %c1 iter_args(%so_far = %x) -> tensor<8x64xf16> {
    %next = arith.negf %so_far : tensor<8x64xf16>
    scf.yield %next : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}

// -----

func.func @endless(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %true = arith.constant true
  // expected-error @+1 {{'scf.while' op expands to more than 2048 ops, the limit for all loops of a program; compile fewer iterations, and run the program several times}}
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
  // expected-error @+1 {{'scf.while' op requires a constant trip count, found a runtime bound; make the bound a constant}}
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
    // expected-error @+1 {{'spyre.pointwise' op is not supported inside control flow; move it out of the loop or branch}}
    %next = spyre.pointwise neg(%so_far) : tensor<8x64xf16>
    scf.yield %next : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}
