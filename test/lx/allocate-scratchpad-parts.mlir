// RUN: spyre-opt --spyre-compile="compile-to=lx tile-search=none" --split-input-file %s | FileCheck %s
// RUN: spyre-opt --spyre-compile="compile-to=lx tile-search=none lx-planner=greedy" --split-input-file %s | FileCheck %s --check-prefix=GREEDY

// Both halves of what is turned are written where their cores read them: one value with two writers, which lives from the first on, beside what both read.
// CHECK-LABEL:  func.func @halves_change_places(
// CHECK:          spyre.pointwise exp({{.*}}place = #spyre.place<lx, 16384>, work = #spyre.work<[8, 4, 1]>
// CHECK:          spyre.pointwise neg({{.*}} {work = #spyre.work<[8, 4, 1]>}
// CHECK:          spyre.empty {place = #spyre.place<lx, 0>}
// CHECK:          spyre.insert {{.*}} at [0, 0, 0] {in_place}
// CHECK:          spyre.insert {{.*}} at [0, 0, 32] {work = #spyre.work<[8, 4, 1]>}
// CHECK:          spyre.pointwise mul({{.*}}place = #spyre.place<lx, {{[0-9]+}}>
// GREEDY-LABEL: func.func @halves_change_places(
// GREEDY:         spyre.empty {place = #spyre.place<hbm, "it is written in parts">}
func.func @halves_change_places(%x: tensor<8x512x64xf16>, %s: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x512x64xf16>
  %first = spyre.view %exp by affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x512x64xf16> -> tensor<8x512x32xf16>
  %second = spyre.view %exp by affine_map<(d0, d1, d2) -> (d0, d1, d2 + 32)> : tensor<8x512x64xf16> -> tensor<8x512x32xf16>
  %neg = spyre.pointwise neg(%second) : tensor<8x512x32xf16>
  %buffer = spyre.empty : tensor<8x512x64xf16>
  %half = spyre.insert %neg into %buffer at [0, 0, 0] : tensor<8x512x32xf16> into tensor<8x512x64xf16>
  %turned = spyre.insert %first into %half at [0, 0, 32] : tensor<8x512x32xf16> into tensor<8x512x64xf16>
  %sine = spyre.pointwise mul(%turned, %s) : tensor<8x512x64xf16>
  %sum = spyre.pointwise add(%exp, %sine) : tensor<8x512x64xf16>
  return %sum : tensor<8x512x64xf16>
}

// -----

// A result of the graph is in HBM, whatever it is written in.
// CHECK-LABEL: func.func @put_together_for_the_caller(
// CHECK:         spyre.empty {place = #spyre.place<hbm, "it is a result of the graph and has no copy in LX">}
func.func @put_together_for_the_caller(%x: tensor<64x64xf16>) -> tensor<128x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<64x64xf16>
  %neg = spyre.pointwise neg(%x) : tensor<64x64xf16>
  %buffer = spyre.empty : tensor<128x64xf16>
  %half = spyre.insert %exp into %buffer at [0, 0] : tensor<64x64xf16> into tensor<128x64xf16>
  %both = spyre.insert %neg into %half at [64, 0] : tensor<64x64xf16> into tensor<128x64xf16>
  return %both : tensor<128x64xf16>
}

// -----

// Only rows could be divided, and a core would have rows of one part where its readers need others.
// CHECK-LABEL: func.func @rows_behind_rows(
// CHECK:         spyre.empty {place = #spyre.place<hbm, "its users split it over the cores differently: use 0 splits a dimension of which it uses only a part">}
func.func @rows_behind_rows(%x: tensor<64x64xf16>) -> tensor<128x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<64x64xf16>
  %neg = spyre.pointwise neg(%x) : tensor<64x64xf16>
  %buffer = spyre.empty : tensor<128x64xf16>
  %half = spyre.insert %exp into %buffer at [0, 0] : tensor<64x64xf16> into tensor<128x64xf16>
  %both = spyre.insert %neg into %half at [64, 0] : tensor<64x64xf16> into tensor<128x64xf16>
  %root = spyre.pointwise sqrt(%both) : tensor<128x64xf16>
  return %root : tensor<128x64xf16>
}
