// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-check-input %s

// Each error stands at the op that the user wrote, and names it.

func.func @winograd(%k: tensor<4x3x3x8xf16>) -> tensor<6x6x8x4xf16> {
  %shape = tensor.empty() : tensor<6x6x8x4xf16>
  // expected-error @+1 {{'linalg.winograd_filter_transform' op is not supported: it is a step of a Winograd convolution; use the direct convolution instead}}
  %y = linalg.winograd_filter_transform fmr(F_4_3) ins(%k : tensor<4x3x3x8xf16>) outs(%shape : tensor<6x6x8x4xf16>) -> tensor<6x6x8x4xf16>
  return %y : tensor<6x6x8x4xf16>
}

// -----

func.func @scatter(%x: tensor<2x64xf16>, %whole: tensor<8x64xf16>, %rows: tensor<2x1xindex>) -> tensor<8x64xf16> {
  %parts = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 1, 64] : tensor<2x64xf16> into tensor<2x1x64xf16>
  // expected-error @+1 {{'tensor.scatter' op is not supported: it writes at positions that are known only at runtime}}
  %y = tensor.scatter %parts into %whole[%rows] scatter_dims([0]) unique : (tensor<2x1x64xf16>, tensor<8x64xf16>, tensor<2x1xindex>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @one_written_element(%x: tensor<8xf16>, %y: tensor<f16>) -> tensor<8xf16> {
  %c0 = arith.constant 0 : index
  %element = tensor.extract %y[] : tensor<f16>
  // expected-error @+1 {{'tensor.insert' op is not supported: it writes a single element; use `tensor.insert_slice`}}
  %z = tensor.insert %element into %x[%c0] : tensor<8xf16>
  return %z : tensor<8xf16>
}

// -----

func.func @packed(%x: tensor<8x64xf16>) -> tensor<1x1x8x64xf16> {
  %shape = tensor.empty() : tensor<1x1x8x64xf16>
  // expected-error @+1 {{'linalg.pack' op is not supported: it chooses a memory layout, and this compiler chooses layouts itself; remove it}}
  %y = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 64] into %shape : tensor<8x64xf16> -> tensor<1x1x8x64xf16>
  return %y : tensor<1x1x8x64xf16>
}

// -----

func.func @rank(%x: tensor<8xf16>) -> index {
  // expected-error @+1 {{'tensor.rank' op is not supported: it has no lowering}}
  %y = tensor.rank %x : tensor<8xf16>
  return %y : index
}

// -----

func.func @in_a_loop(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%so_far = %x) -> tensor<8x64xf16> {
    // expected-error @+1 {{'tensor.rank' op is not supported: it has no lowering}}
    %rank = tensor.rank %so_far : tensor<8x64xf16>
    scf.yield %so_far : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}

// -----

func.func @condition(%x: tensor<8x64xf16>, %flag: tensor<i1>) -> tensor<8x64xf16> {
  %is_set = tensor.extract %flag[] : tensor<i1>
  %y = scf.if %is_set -> tensor<8x64xf16> {
    scf.yield %x : tensor<8x64xf16>
  } else {
    // expected-error @+1 {{'tensor.rank' op is not supported: it has no lowering}}
    %rank = tensor.rank %x : tensor<8x64xf16>
    scf.yield %x : tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

func.func @branch(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'cf.br' op is not supported: it is control flow without a lowering; use `scf.for` with constant bounds}}
  cf.br ^end
^end:
  return %x : tensor<8x64xf16>
}

// -----

func.func private @elsewhere(tensor<8x64xf16>) -> tensor<8x64xf16>
func.func @call_of_a_declaration(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'func.call' op calls 'elsewhere', which has no body; define the function}}
  %y = call @elsewhere(%x) : (tensor<8x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op expected tensor arguments of static shape, found f16; export the program before bufferization}}
func.func @number_argument(%x: f16) -> tensor<8xf16> {
  %y = tensor.splat %x : tensor<8xf16>
  return %y : tensor<8xf16>
}

// -----

// expected-error @+1 {{'func.func' op expected tensor arguments of static shape, found tensor<?x64xf16>; export the program before bufferization}}
func.func @dynamic_argument(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {
  return %x : tensor<?x64xf16>
}

// -----

func.func @dynamic_value(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{'tensor.empty' op expected results of static shape, found tensor<?x64xf16>; give every dimension a size}}
  %dynamic = tensor.empty(%c8) : tensor<?x64xf16>
  %static = tensor.cast %dynamic : tensor<?x64xf16> to tensor<8x64xf16>
  return %static : tensor<8x64xf16>
}

// -----

func.func @empty_value(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'tensor.empty' op expected at least one element in each dimension, found tensor<0x64xf16>; remove the empty tensor}}
  %shape = tensor.empty() : tensor<0x64xf16>
  return %x : tensor<4x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op expected at least one element in each dimension, found tensor<0x64xf16>; remove the empty tensor}}
func.func @empty_argument(%x: tensor<0x64xf16>) -> tensor<0x64xf16> {
  return %x : tensor<0x64xf16>
}

// -----

// Of the dialects that we know, affine is not read. A hint scope is looked into.
func.func @other_dialects_in_a_scope(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %y = spyre.hint tiles(A = 2) {
    // expected-error @+1 {{'affine.apply' op belongs to an unsupported dialect; lower it to linalg, tensor, arith, math and spyre ops}}
    %i = affine.apply affine_map<(d0) -> (d0)>(%c0)
    spyre.yield %x : tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

func.func @more_elements_than_can_be_counted() -> tensor<4294967296x2147483648xf16> {
  // expected-error @+1 {{'arith.constant' op expected a tensor whose size in bytes fits in 64 bits, found tensor<4294967296x2147483648xf16>; use a smaller shape}}
  %c = arith.constant dense<1.0> : tensor<4294967296x2147483648xf16>
  return %c : tensor<4294967296x2147483648xf16>
}

// -----

// Both uses of the half are told, each with what it spoils.
func.func @half_a_buffer(%part: tensor<4x64xf16>) -> tensor<8x64xf16> {
  %buffer = spyre.empty : tensor<8x64xf16>
  // expected-note @+1 {{used here}}
  %0 = spyre.insert %part into %buffer at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  // expected-error @-1 {{'spyre.insert' op writes into a buffer that is also used elsewhere, by ops that would read it partially written}}
  // expected-note @+1 {{used here}}
  %1 = spyre.insert %part into %buffer at [4, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  // expected-error @-1 {{'spyre.insert' op writes into a buffer that is also used elsewhere, by ops that would read it partially written}}
  return %1 : tensor<8x64xf16>
}

// -----

// A conversion moves elements inside their sticks.
func.func @converts(%x: tensor<4x64xf32>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op 'fp32todl16' moves elements inside their sticks: expected an operand whose elements are equal along the last dimension, a multiple of 64, found another}}
  %y = spyre.pointwise fp32todl16(%x) : (tensor<4x64xf32>) -> tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

// -----

func.func @fills_half_a_stick(%x: tensor<4x1xf16>, %one: tensor<1x1xf16>) -> tensor<4x32xf32> {
  %v = spyre.view %x by affine_map<(i, j) -> (i, 0)> : tensor<4x1xf16> -> tensor<4x32xf16>
  %wide = spyre.pointwise mul(%v, %one) : (tensor<4x32xf16>, tensor<1x1xf16>) -> tensor<4x32xf16>
  // expected-error @+1 {{'spyre.pointwise' op 'dl16tofp32' moves elements inside their sticks}}
  %y = spyre.pointwise dl16tofp32(%wide) : (tensor<4x32xf16>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
