// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-flatten-hints --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-propagate-dims --spyre-reduce-span --spyre-divide-work %s

func.func @slices_that_do_not_divide_positions(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 3) {
    // expected-error @+1 {{cannot honor 'work_div': 3 slices of dimension 'A', which has 128 positions; use a divisor of 128}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

// 256 columns are 4 sticks, and a stick is not cut.
func.func @slices_that_do_not_divide_sticks(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(B = 8) {
    // expected-error @+1 {{cannot honor 'work_div': 8 slices of dimension 'B', which has 4 sticks; use a divisor of 4}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @more_slices_than_cores(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 32, B = 4) {
    // expected-error @+1 {{cannot honor 'work_div': expected at most 32 slices in all, one per core, found 128; request fewer slices}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @two_reduced_dims(%x: tensor<8x16x64xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<1x1x64xf16> {
  %scope = spyre.hint work_div(A = 2, B = 2) {
    // expected-error @+1 {{cannot honor 'work_div': expected core splits of at most one reduction dimension, found several; split one of them}}
    %sum = spyre.reduce sum(%x) dims [0, 1] : tensor<8x16x64xf16> -> tensor<1x1x64xf16>
    spyre.yield %sum : tensor<1x1x64xf16>
  }
  return %scope : tensor<1x1x64xf16>
}

// -----

func.func @a_masked_reduction(%x: tensor<4x200xf16> {spyre.dims = ["A", "B"]}) -> tensor<4x1xf16> {
  %scope = spyre.hint work_div(B = 2) {
    // expected-error @+1 {{cannot honor 'work_div': dimension 'B' cannot be split across cores: the reduction masks its last stick; split another dimension}}
    %sum = spyre.reduce sum(%x) dims [1] : tensor<4x200xf16> -> tensor<4x1xf16>
    spyre.yield %sum : tensor<4x1xf16>
  }
  return %scope : tensor<4x1xf16>
}

// -----

func.func @a_gather_is_not_divided(%x: tensor<128x256xf16> {spyre.dims = ["", "E"]}, %index: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %scope = spyre.hint work_div(E = 2) {
    // expected-error @+1 {{cannot honor 'work_div': dimension 'E' cannot be split across cores; split another dimension}}
    %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
    spyre.yield %rows : tensor<3x192x256xf16>
  }
  return %scope : tensor<3x192x256xf16>
}

// -----

// A hint decides alone: the four slices of B that the span needs are not added to it.
func.func @a_hint_that_leaves_the_span(%x: tensor<16384x16384xf16> {spyre.dims = ["A", "B"]}) -> tensor<16384x16384xf16> {
  %scope = spyre.hint work_div(A = 4) {
    // expected-error @+1 {{cannot honor 'work_div': operand 0 spans 536870912 bytes on one core; the hardware limit is 268431360 (device size [256, 16384, 64]; slices: dimension 'B': 1 of at most 256, dimension 'A': 4 of at most 16384)}}
    %exp = spyre.pointwise exp(%x) : tensor<16384x16384xf16>
    spyre.yield %exp : tensor<16384x16384xf16>
  }
  return %scope : tensor<16384x16384xf16>
}

// -----

func.func @a_name_that_no_op_has(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 2, K = 4) {
    // expected-error @+1 {{no op in the hint scope has the dimension 'K' that 'work_div' names; use a name of a dimension of the ops}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @an_inner_name_of_a_flattened_dim(%x: tensor<128x256xf16> {spyre.dims = ["C", "D", "E"]}) -> tensor<128x256xf16> attributes {spyre.dim_sizes = {C = 8, D = 16}} {
  %scope = spyre.hint work_div(D = 2) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': expected the outermost name of iteration dimension 0 ('C*D'), found inner name 'D'; use the outermost name}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @two_names_of_one_dim(%x: tensor<128x256xf16> {spyre.dims = ["C", "D", "E"]}) -> tensor<128x256xf16> attributes {spyre.dim_sizes = {C = 8, D = 16}} {
  %scope = spyre.hint work_div(C = 2, "C*D" = 4) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': expected one name for iteration dimension 0, found 'C' and 'C*D'; use one of them}}
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}

// -----

func.func @a_name_of_two_dims(%x: tensor<64x64xf16> {spyre.dims = ["A", "A"]}) -> tensor<64x64xf16> {
  %scope = spyre.hint work_div(A = 2) {
    // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': expected a name of one dimension, found 'A' of dimensions 0 ('A') and 1 ('A'); use another name}}
    %exp = spyre.pointwise exp(%x) : tensor<64x64xf16>
    spyre.yield %exp : tensor<64x64xf16>
  }
  return %scope : tensor<64x64xf16>
}

// -----

func.func @a_hint_of_its_own(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint work_div(A = 2) {
    // expected-error @+1 {{'spyre.pointwise' op expected 'work_div' from one source, found it on the op and on its scope; remove one of them}}
    %exp = spyre.pointwise exp(%x) {work_div = [#spyre.work_hint<0, B = 2>]} : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}
