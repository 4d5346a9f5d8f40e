// RUN: spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-jointly --verify-diagnostics --split-input-file %s

func.func @a_wish_that_cannot_be(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  // expected-error @+1 {{cannot honor 'work_div': 3 slices of dimension 'A', which has 128 positions; use a divisor of 128}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], work_div = [#spyre.work_hint<0, A = 3>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// -----

func.func @a_wish_that_nobody_hears(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  // expected-error @+1 {{no op in the hint scope has the dimension 'C' that 'work_div' names; use a name of a dimension of the ops}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], work_div = [#spyre.work_hint<0, C = 2>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}
