// RUN: spyre-opt --spyre-lay-out-tables --spyre-propagate-layouts --spyre-divide-jointly --verify-diagnostics --split-input-file %s

func.func @a_wish_that_cannot_be(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  // expected-error @+1 {{'spyre.pointwise' op cannot follow its 'work_div': 3 slices do not divide the 128 positions of iteration dimension 0 ('A')}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], work_div = [#spyre.work_hint<0, A = 3>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// -----

func.func @a_wish_that_nobody_hears(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  // expected-error @+1 {{'spyre.pointwise' op is to be divided along 'C', but no op with this 'work_div' has a dimension of that name}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], work_div = [#spyre.work_hint<0, C = 2>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}
