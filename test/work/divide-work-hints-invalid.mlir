// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-flatten-hints --spyre-lay-out-tables --spyre-propagate-layouts --spyre-propagate-dims --spyre-reduce-span --spyre-divide-work %s

func.func @slices_that_do_not_divide_positions(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 3) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': 3 slices do not divide the 128 positions of iteration dimension 0 ('A')}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

// 256 columns are 4 sticks, and a stick is not cut.
func.func @slices_that_do_not_divide_sticks(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(B = 8) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': 8 slices do not divide the 4 sticks of iteration dimension 1 ('B')}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @more_slices_than_cores(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 32, B = 4) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': the split needs 128 cores of 32}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @two_reduced_dims(%x: tensor<8x16x64xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<1x1x64xf16> {
  %scope = spyre.hint work_div(A = 2, B = 2) {
    // expected-error @+1 {{'spyre.reduce' op cannot follow its 'work_div': more than one reduction dimension would be divided over cores}}
    %sum = spyre.reduce sum(%x) dims [0, 1] : tensor<8x16x64xf16> -> tensor<1x1x64xf16>
    spyre.yield %sum : tensor<1x1x64xf16>
  }
  return %scope : tensor<1x1x64xf16>
}

// -----

func.func @a_masked_reduction(%x: tensor<4x200xf16> {spyre.dims = ["A", "B"]}) -> tensor<4x1xf16> {
  %scope = spyre.hint work_div(B = 2) {
    // expected-error @+1 {{'spyre.reduce' op cannot follow its 'work_div': iteration dimension 1 ('B') cannot be divided over cores: its last stick is partly empty and the reduction masks it}}
    %sum = spyre.reduce sum(%x) dims [1] : tensor<4x200xf16> -> tensor<4x1xf16>
    spyre.yield %sum : tensor<4x1xf16>
  }
  return %scope : tensor<4x1xf16>
}

// -----

func.func @a_gather_is_not_divided(%x: tensor<128x256xf16> {spyre.dims = ["", "E"]}, %index: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %scope = spyre.hint work_div(E = 2) {
    // expected-error @+1 {{'spyre.gather' op cannot follow its 'work_div': iteration dimension 2 ('E') cannot be divided over cores}}
    %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
    spyre.yield %rows : tensor<3x192x256xf16>
  }
  return %scope : tensor<3x192x256xf16>
}

// -----

// A hint decides alone: the four slices of B that the span needs are not added to it.
func.func @a_hint_that_leaves_the_span(%x: tensor<16384x16384xf16> {spyre.dims = ["A", "B"]}) -> tensor<16384x16384xf16> {
  %scope = spyre.hint work_div(A = 4) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': a core would address 536870912 bytes of operand 0; the hardware allows 268431360; its device size is [256, 16384, 64], and the slices are iteration dimension 1 ('B'): 1 of at most 256, iteration dimension 0 ('A'): 4 of at most 16384}}
    %exp = spyre.pointwise exp(%x) : tensor<16384x16384xf16>
    spyre.yield %exp : tensor<16384x16384xf16>
  }
  return %scope : tensor<16384x16384xf16>
}

// -----

func.func @a_name_that_no_op_has(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 2, K = 4) {
    // expected-error @+1 {{'spyre.pointwise' op is to be divided along 'K', but no op with this 'work_div' has a dimension of that name}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @an_inner_name_of_a_flattened_dim(%x: tensor<128x256xf16> {spyre.dims = ["C*D", "E"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(D = 2) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': 'D' is an inner part of iteration dimension 0 ('C*D'), which can only be cut into runs: name its outer part}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @two_names_of_one_dim(%x: tensor<128x256xf16> {spyre.dims = ["C*D", "E"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(C = 2, "C*D" = 4) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': 'C' and 'C*D' both name iteration dimension 0}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @a_name_of_two_dims(%x: tensor<64x64xf16> {spyre.dims = ["A", "A"]}) -> tensor<64x64xf16> {
  %scope = spyre.hint work_div(A = 2) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': 'A' names iteration dimensions 0 ('A') and 1 ('A')}}
    %exp = spyre.pointwise exp(%x) : tensor<64x64xf16>
    spyre.yield %exp : tensor<64x64xf16>
  }
  return %scope : tensor<64x64xf16>
}

// -----

func.func @a_hint_of_its_own(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 2) {
    // expected-error @+1 {{'spyre.pointwise' op has a 'work_div' of its own, and stands in a scope with another}}
    %exp = spyre.pointwise exp(%x) {work_div = [#spyre.work_hint<0, B = 2>]} : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}
