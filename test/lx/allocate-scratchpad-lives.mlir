// RUN: spyre-opt --split-input-file --spyre-allocate-scratchpad %s | FileCheck %s
// RUN: spyre-opt --split-input-file --spyre-allocate-scratchpad=planner=first-fit %s | FileCheck %s --check-prefix=FIRST-FIT

// A copy that finds no room in LX is undone only if what it copies is in HBM: the planner ended the life of %exp at the copy and gave its
// bytes to the negation.
// CHECK-LABEL: func.func @copies_of_lx_values_stay(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp(
// CHECK:         [[COPY:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm,
// CHECK:         spyre.pointwise neg([[COPY]]) {{.*}}work = #spyre.work<[8, 1]>
#rows = #spyre.layout<[1, 32, 64], [64, 64, 1]>
func.func @copies_of_lx_values_stay(%x: tensor<32x64xf16, #rows>, %y: tensor<32x64xf16, #rows>) -> (tensor<32x64xf16, #rows>, tensor<32x64xf16, #rows>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<32x64xf16, #rows>
  %copy = spyre.copy %exp {work = #spyre.work<[32, 1]>} : tensor<32x64xf16, #rows> -> tensor<32x64xf16, #rows>
  %neg = spyre.pointwise neg(%y) {work = #spyre.work<[32, 1]>} : tensor<32x64xf16, #rows>
  %same = spyre.pointwise neg(%neg) {work = #spyre.work<[32, 1]>} : tensor<32x64xf16, #rows>
  %result = spyre.pointwise neg(%copy) {work = #spyre.work<[8, 1]>} : tensor<32x64xf16, #rows>
  return %result, %same : tensor<32x64xf16, #rows>, tensor<32x64xf16, #rows>
}

// -----

// A reader behind a view is a reader: what cuts the view, or returns it, cuts or returns the value.
// CHECK-LABEL: func.func @a_loop_that_cuts_a_view_cuts_the_value(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm,
#rows = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#columns = #spyre.layout<[1, 64, 64], [4096, 1, 64]>
#window = #spyre.layout<[1, 64, 64], [4096, 1, 64], of = [64, 64]>
func.func @a_loop_that_cuts_a_view_cuts_the_value(%x: tensor<64x64xf16, #rows>) -> (tensor<64x64xf16, #rows>, tensor<64x64xf16, #columns>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #rows>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #rows>
  %transposed = spyre.view %exp by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %loop = spyre.loop 2 "A" tiled(%tile = %transposed[1] : tensor<64x64xf16, #columns>) {
    %abs = spyre.pointwise abs(%tile) {work = #spyre.work<[1, 32]>} : tensor<64x32xf16, #window>
    spyre.yield %abs[1] : tensor<64x32xf16, #window>
  } : tensor<64x64xf16, #columns>
  return %neg, %loop : tensor<64x64xf16, #rows>, tensor<64x64xf16, #columns>
}

// -----

// CHECK-LABEL: func.func @a_returned_view_is_a_result(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm,
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]])
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[COPY]]
// CHECK-NEXT:    return [[NEG]], [[VIEW]]
// FIRST-FIT-LABEL: func.func @a_returned_view_is_a_result(
// FIRST-FIT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "a result of the graph is a view of it">
#rows = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @a_returned_view_is_a_result(%x: tensor<64x64xf16, #rows>) -> (tensor<64x64xf16, #rows>, tensor<64x64xf16>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #rows>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #rows>
  %transposed = spyre.view %exp by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x64xf16, #rows> -> tensor<64x64xf16>
  return %neg, %transposed : tensor<64x64xf16, #rows>, tensor<64x64xf16>
}
