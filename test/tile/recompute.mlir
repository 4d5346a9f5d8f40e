// RUN: spyre-opt %s --spyre-flatten-hints | FileCheck %s --check-prefix=HINTS
// RUN: spyre-opt %s --spyre-flatten-hints --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile | FileCheck %s

// An op without dimension "m" is inside the loop along "m" nevertheless, and recomputed in every iteration; it is tiled along "n".
// HINTS-LABEL: func.func @again(
// HINTS:         spyre.pointwise neg{{.*}} {hints = [#spyre.tile_hint<0, m = 2, recompute>, #spyre.tile_hint<1, n = 2>]}
// CHECK-LABEL: func.func @again(
// CHECK-NEXT:    spyre.loop 2 "m" tiled
// CHECK-NEXT:      spyre.loop 2 "n" tiled
// CHECK-NEXT:        [[NEG:%.+]] = spyre.pointwise neg({{.*}}) {dims = ["k", "n"], spyre.times = 2 : i64} : (tensor<128x256xf16
// CHECK-NEXT:        spyre.matmul({{.*}}, [[NEG]])
func.func @again(%a: tensor<256x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x512xf16> {spyre.dims = ["k", "n"]}) -> tensor<256x512xf16> {
  %c = spyre.hint tiles(m = 2, n = 2) {
    %scaled = spyre.hint recompute(m) {
      %neg = spyre.pointwise neg(%b) : tensor<128x512xf16>
      spyre.yield %neg : tensor<128x512xf16>
    }
    %product = spyre.matmul(%a, %scaled) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
    spyre.yield %product : tensor<256x512xf16>
  }
  return %c : tensor<256x512xf16>
}

// A complete chain is recomputed, except for an op with other uses and the ops that only this op uses.
// CHECK-LABEL: func.func @chain(
// CHECK:         spyre.loop 2 "n" tiled
// CHECK-NEXT:      [[ABS:%.+]] = spyre.pointwise abs({{.*}}) {dims = ["k", "n"]} :
// CHECK-NEXT:      spyre.pointwise neg([[ABS]]) {dims = ["k", "n"]} :
// CHECK:         spyre.loop 2 "m" tiled
// CHECK-NEXT:      spyre.loop 2 "n" tiled
// CHECK-NEXT:        [[RELU:%.+]] = spyre.pointwise relufwd({{.*}}) {dims = ["k", "n"], spyre.times = 2 : i64}
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[RELU]]) {dims = ["k", "n"], spyre.times = 2 : i64}
// CHECK-NEXT:        spyre.matmul({{.*}}, [[EXP]])
func.func @chain(%a: tensor<256x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x512xf16> {spyre.dims = ["k", "n"]})
    -> (tensor<256x512xf16>, tensor<128x512xf16>) {
  %c:2 = spyre.hint tiles(m = 2, n = 2) {
    %made:2 = spyre.hint recompute(m) {
      %abs = spyre.pointwise abs(%b) : tensor<128x512xf16>
      %neg = spyre.pointwise neg(%abs) : tensor<128x512xf16>
      %relu = spyre.pointwise relufwd(%neg) : tensor<128x512xf16>
      %exp = spyre.pointwise exp(%relu) : tensor<128x512xf16>
      spyre.yield %exp, %neg : tensor<128x512xf16>, tensor<128x512xf16>
    }
    %product = spyre.matmul(%a, %made#0) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
    spyre.yield %product, %made#1 : tensor<256x512xf16>, tensor<128x512xf16>
  }
  return %c#0, %c#1 : tensor<256x512xf16>, tensor<128x512xf16>
}

// Not recomputed: reductions, and values with uses in a second loop, which depends on the complete result of the first loop.
// CHECK-LABEL: func.func @once(
// CHECK-NOT:     spyre.times
// CHECK:         return
func.func @once(%a: tensor<256x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x512xf16> {spyre.dims = ["k", "n"]}) -> tensor<256x512xf16> {
  %c = spyre.hint tiles(m = 2) {
    %row = spyre.hint recompute(m) {
      %sum = spyre.reduce sum(%b) dims [0] : tensor<128x512xf16> -> tensor<1x512xf16>
      spyre.yield %sum : tensor<1x512xf16>
    }
    %neg = spyre.hint recompute(m) {
      %neg = spyre.pointwise neg(%b) : tensor<128x512xf16>
      spyre.yield %neg : tensor<128x512xf16>
    }
    %product = spyre.matmul(%a, %neg) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
    %most = spyre.reduce max(%product) dims [0] : tensor<256x512xf16> -> tensor<1x512xf16>
    %lower = spyre.pointwise sub(%neg, %most) : (tensor<128x512xf16>, tensor<1x512xf16>) -> tensor<128x512xf16>
    %second = spyre.matmul(%a, %lower) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
    %summed = spyre.pointwise add(%second, %row) : (tensor<256x512xf16>, tensor<1x512xf16>) -> tensor<256x512xf16>
    spyre.yield %summed : tensor<256x512xf16>
  }
  return %c : tensor<256x512xf16>
}
