// RUN: spyre-opt --spyre-flatten-hints --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile --spyre-reduce-span --spyre-divide-work %s | FileCheck %s

// The cost model would take [4, 4, 2]. Dimensions that are not named stay whole.
// CHECK-LABEL: func.func @a_hint_overrides_the_cost_model(
// CHECK:         spyre.matmul({{.+}}) {dims = ["M", "N", "K"], work = #spyre.work<[2, 1, 2]>}
func.func @a_hint_overrides_the_cost_model(%x: tensor<64x128xf16> {spyre.dims = ["M", "K"]}, %y: tensor<128x256xf16> {spyre.dims = ["K", "N"]}) -> tensor<64x256xf16> {
  %scope = spyre.hint work_div(M = 2, K = 2) {
    %product = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
    spyre.yield %product : tensor<64x256xf16>
  }
  return %scope : tensor<64x256xf16>
}

// Each op takes what concerns it: K is nothing to the second op, and the third has none of the names.
// CHECK-LABEL: func.func @each_op_takes_the_names_that_it_has(
// CHECK:         spyre.matmul({{.+}}) {dims = ["M", "N", "K"], work = #spyre.work<[8, 1, 2]>}
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["M", "N"], work = #spyre.work<[8, 1]>}
// CHECK:         spyre.pointwise neg({{.+}}) {work = #spyre.work<[32, 1]>}
func.func @each_op_takes_the_names_that_it_has(%x: tensor<64x128xf16> {spyre.dims = ["M", "K"]}, %y: tensor<128x256xf16> {spyre.dims = ["K", "N"]},
                                               %z: tensor<64x64xf16>) -> (tensor<64x256xf16>, tensor<64x64xf16>) {
  %first, %second = spyre.hint work_div(M = 8, K = 2) {
    %product = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
    %exp = spyre.pointwise exp(%product) : tensor<64x256xf16>
    %neg = spyre.pointwise neg(%z) : tensor<64x64xf16>
    spyre.yield %exp, %neg : tensor<64x256xf16>, tensor<64x64xf16>
  }
  return %first, %second : tensor<64x256xf16>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @an_inner_scope_overrides_an_outer_one(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["A", "B"], work = #spyre.work<[16, 2]>}
// CHECK:         spyre.pointwise neg({{.+}}) {dims = ["A", "B"], work = #spyre.work<[4, 2]>}
func.func @an_inner_scope_overrides_an_outer_one(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %outer = spyre.hint work_div(A = 16, B = 2) {
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    %inner = spyre.hint work_div(A = 4) {
      %neg = spyre.pointwise neg(%exp) : tensor<128x256xf16>
      spyre.yield %neg : tensor<128x256xf16>
    }
    spyre.yield %inner : tensor<128x256xf16>
  }
  return %outer : tensor<128x256xf16>
}

// An op may carry the wish itself. One slice is a wish too: 1 core here.
// CHECK-LABEL: func.func @an_op_may_have_the_hint_itself(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["A", "B"], work = #spyre.work<[1, 1]>}
func.func @an_op_may_have_the_hint_itself(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %exp = spyre.pointwise exp(%x) {work_div = [#spyre.work_hint<0, A = 1>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// A dimension may have several names, the outer one first.
// CHECK-LABEL: func.func @the_outer_name_of_a_flattened_dim(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["C*D", "E"], work = #spyre.work<[8, 1]>}
// CHECK:         spyre.pointwise neg({{.+}}) {dims = ["C*D", "E"], work = #spyre.work<[2, 4]>}
func.func @the_outer_name_of_a_flattened_dim(%x: tensor<128x256xf16> {spyre.dims = ["C*D", "E"]}) -> tensor<128x256xf16> {
  %first = spyre.hint work_div(C = 8) {
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  %second = spyre.hint work_div("C*D" = 2, E = 4) {
    %neg = spyre.pointwise neg(%first) : tensor<128x256xf16>
    spyre.yield %neg : tensor<128x256xf16>
  }
  return %second : tensor<128x256xf16>
}

// The span would need four slices of B; the hint cuts it into eight, which is as good.
// CHECK-LABEL: func.func @a_hint_may_reduce_the_span(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["A", "B"], work = #spyre.work<[1, 8]>}
func.func @a_hint_may_reduce_the_span(%x: tensor<16384x16384xf16> {spyre.dims = ["A", "B"]}) -> tensor<16384x16384xf16> {
  %scope = spyre.hint work_div(B = 8) {
    %exp = spyre.pointwise exp(%x) : tensor<16384x16384xf16>
    spyre.yield %exp : tensor<16384x16384xf16>
  }
  return %scope : tensor<16384x16384xf16>
}

// Tiles come first: the cores divide the 64 rows of one of the two tiles.
// CHECK-LABEL: func.func @cores_divide_a_tile(
// CHECK:         spyre.loop 2 "A"
// CHECK:           spyre.pointwise exp({{.+}}) {dims = ["A", "B"], work = #spyre.work<[4, 2]>} : tensor<64x256xf16
func.func @cores_divide_a_tile(%x: tensor<128x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %scope = spyre.hint tiles(A = 2) work_div(A = 4, B = 2) {
    %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
    spyre.yield %exp : tensor<128x256xf16>
  }
  return %scope : tensor<128x256xf16>
}
