// RUN: spyre-opt --split-input-file --spyre-coarse-tile %s | FileCheck %s

// The loop is put before the first op of its group, so a constant that a later op reads is moved before the loop.
// CHECK-LABEL: func.func @what_stands_between_the_ops_comes_first(
// CHECK:         spyre.constant
// CHECK:         spyre.loop 4 "A"
#column = #spyre.layout<[1, 1, 64], [-1, -1, -1]>
#rows = #spyre.layout<[2, 8, 64], [64, 128, 1]>
func.func @what_stands_between_the_ops_comes_first(%x: tensor<8x128xf16, #rows>) -> tensor<8x128xf16, #rows> {
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x128xf16, #rows>
  %one = spyre.constant dense<1.0> : tensor<1x1xf16> -> tensor<1x1xf16, #column>
  %sum = spyre.pointwise add(%exp, %one) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 4>]} : (tensor<8x128xf16, #rows>, tensor<1x1xf16, #column>) -> tensor<8x128xf16, #rows>
  return %sum : tensor<8x128xf16, #rows>
}

// -----

// Only the yields of the new loops get windows: the outer loop still yields its own tile.
// CHECK-LABEL: func.func @loops_may_stand_in_loops(
// CHECK:         spyre.loop 2 "A"
// CHECK-NEXT:      [[INNER:%.+]] = spyre.loop 2 "B"
// CHECK:           spyre.yield [[INNER]][0]
#rows = #spyre.layout<[2, 8, 64], [64, 128, 1]>
#window = #spyre.layout<[2, 8, 64], [64, 128, 1], of = [8, 128]>
func.func @loops_may_stand_in_loops(%x: tensor<8x128xf16, #rows>) -> tensor<8x128xf16, #rows> {
  %result = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<8x128xf16, #rows>) {
    %exp = spyre.pointwise exp(%tile) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 2>]} : tensor<4x128xf16, #window>
    spyre.yield %exp[0] : tensor<4x128xf16, #window>
  } : tensor<8x128xf16, #rows>
  return %result : tensor<8x128xf16, #rows>
}
