// RUN: spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-work %s | FileCheck %s
// RUN: spyre-opt --spyre-set-target=cores=4 --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-work %s | FileCheck %s --check-prefix=FOUR

// The longest output dimension takes as many cores as divide it: 128 rows before 4 sticks.
// CHECK-LABEL: func.func @the_longest_dim_comes_first(
// CHECK:         spyre.pointwise exp({{%.+}}) {work = #spyre.work<[32, 1]>}
// FOUR-LABEL: func.func @the_longest_dim_comes_first(
// FOUR:         spyre.pointwise exp({{%.+}}) {work = #spyre.work<[4, 1]>}
func.func @the_longest_dim_comes_first(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// 1280 columns are 20 sticks, more than 6 rows; the 12 cores that are left are too few to halve the rows of each stick.
// CHECK-LABEL: func.func @columns_are_counted_in_sticks(
// CHECK:         spyre.pointwise exp({{%.+}}) {work = #spyre.work<[1, 20]>}
// FOUR-LABEL: func.func @columns_are_counted_in_sticks(
// FOUR:         spyre.pointwise exp({{%.+}}) {work = #spyre.work<[1, 4]>}
func.func @columns_are_counted_in_sticks(%x: tensor<6x1280xf16>) -> tensor<6x1280xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<6x1280xf16>
  return %exp : tensor<6x1280xf16>
}

// CHECK-LABEL: func.func @what_is_left_goes_to_the_next_dim(
// CHECK:         spyre.pointwise exp({{%.+}}) {work = #spyre.work<[8, 4]>}
func.func @what_is_left_goes_to_the_next_dim(%x: tensor<8x256xf16>) -> tensor<8x256xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x256xf16>
  return %exp : tensor<8x256xf16>
}

// CHECK-LABEL: func.func @cores_that_divide_nothing_stay_idle(
// CHECK:         spyre.pointwise exp({{%.+}}) {work = #spyre.work<[3, 1]>}
func.func @cores_that_divide_nothing_stay_idle(%x: tensor<3x64xf16>) -> tensor<3x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<3x64xf16>
  return %exp : tensor<3x64xf16>
}

// The iteration is the 4 sticks of the result, then the 64 reduced rows: the result has the first choice.
// CHECK-LABEL: func.func @reduced_dims_come_last(
// CHECK:         spyre.reduce sum({{%.+}}) dims [0] {work = #spyre.work<[4, 8]>}
func.func @reduced_dims_come_last(%x: tensor<64x256xf16>) -> tensor<1x256xf16> {
  %sum = spyre.reduce sum(%x) dims [0] : tensor<64x256xf16> -> tensor<1x256xf16>
  return %sum : tensor<1x256xf16>
}

// 200 columns end inside a stick, which every core of a reduction must see.
// CHECK-LABEL: func.func @a_padded_reduction_stays_whole(
// CHECK:         spyre.reduce sum({{%.+}}) dims [1] {work = #spyre.work<[4, 1]>}
func.func @a_padded_reduction_stays_whole(%x: tensor<4x200xf16>) -> tensor<4x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<4x200xf16> -> tensor<4x1xf16>
  return %sum : tensor<4x1xf16>
}

// Largest divisors would give each core 2 rows, a quarter of a pass of the systolic array. M, N, K.
// CHECK-LABEL: func.func @matmuls_follow_the_cost_model(
// CHECK:         spyre.matmul({{.+}}) {work = #spyre.work<[4, 4, 2]>}
func.func @matmuls_follow_the_cost_model(%x: tensor<64x128xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  return %product : tensor<64x256xf16>
}

// One row and one stick of columns leave only K.
// CHECK-LABEL: func.func @k_is_divided_where_nothing_else_can_be(
// CHECK:         spyre.matmul({{.+}}) {work = #spyre.work<[1, 1, 32]>}
func.func @k_is_divided_where_nothing_else_can_be(%x: tensor<1x8192xf16>, %y: tensor<8192x64xf16>) -> tensor<1x64xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<1x8192xf16>, tensor<8192x64xf16>) -> tensor<1x64xf16>
  return %product : tensor<1x64xf16>
}

// CHECK-LABEL: func.func @batches_are_divided_too(
// CHECK:         spyre.matmul({{.+}}) {work = #spyre.work<[2, 4, 2, 2]>}
func.func @batches_are_divided_too(%x: tensor<4x64x128xf16>, %y: tensor<4x128x128xf16>) -> tensor<4x64x128xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<4x64x128xf16>, tensor<4x128x128xf16>) -> tensor<4x64x128xf16>
  return %product : tensor<4x64x128xf16>
}

// CHECK-LABEL: func.func @minima_are_kept(
// CHECK:         spyre.pointwise exp({{%.+}}) {min_work = #spyre.work<[1, 4]>, work = #spyre.work<[8, 4]>}
func.func @minima_are_kept(%x: tensor<512x256xf16>) -> tensor<512x256xf16> {
  %exp = spyre.pointwise exp(%x) {min_work = #spyre.work<[1, 4]>} : tensor<512x256xf16>
  return %exp : tensor<512x256xf16>
}

// The cores divide the 16 rows of one iteration.
// CHECK-LABEL: func.func @loops_are_divided_inside(
// CHECK:         spyre.loop 16 "rows"
// CHECK-NEXT:      spyre.pointwise exp({{%.+}}) {work = #spyre.work<[16, 2]>}
#full = #spyre.layout<[4, 256, 64], [64, 256, 1]>
#window = #spyre.layout<[4, 256, 64], [64, 256, 1], of = [256, 256]>
func.func @loops_are_divided_inside(%x: tensor<256x256xf16, #full>) -> tensor<256x256xf16, #full> {
  %result = spyre.loop 16 "rows" tiled(%tile = %x[0] : tensor<256x256xf16, #full>) {
    %exp = spyre.pointwise exp(%tile) : tensor<16x256xf16, #window>
    spyre.yield %exp[0] : tensor<16x256xf16, #window>
  } : tensor<256x256xf16, #full>
  return %result : tensor<256x256xf16, #full>
}

// A gather is divided along its indices, in whole sticks of 32: all cores read the table at one address.
// CHECK-LABEL: func.func @a_gather_is_divided_along_its_indices(
// CHECK:         spyre.gather({{.+}}) dim 0 {work = #spyre.work<[3, 6, 1]>}
func.func @a_gather_is_divided_along_its_indices(%x: tensor<128x256xf16>, %index: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  return %rows : tensor<3x192x256xf16>
}

// The last stick of 40 indices is partly filled, so it cannot be cut off.
// CHECK-LABEL: func.func @a_partly_filled_stick_of_indices_is_not_divided(
// CHECK:         spyre.gather({{.+}}) dim 0 {work = #spyre.work<[3, 1, 1]>}
func.func @a_partly_filled_stick_of_indices_is_not_divided(%x: tensor<128x256xf16>, %index: tensor<3x40xi64>) -> tensor<3x40x256xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16>, tensor<3x40xi64>) -> tensor<3x40x256xf16>
  return %rows : tensor<3x40x256xf16>
}
