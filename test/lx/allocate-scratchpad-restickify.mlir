// RUN: spyre-opt --spyre-propagate-layouts --spyre-allocate-scratchpad %s | FileCheck %s
// RUN: spyre-opt --spyre-set-target=file=%S/Inputs/no-restickify.json --spyre-propagate-layouts --spyre-allocate-scratchpad %s | FileCheck %s --check-prefix=NONE

// Restickifies access LX where each core reads the slice that it has.

#on_rows = #spyre.layout<[8, 1024, 64], [65536, 1, 1024]>
#columns_padded = #spyre.layout<[2, 512, 64], [64, 100, 1]>
#rows_of_padded = #spyre.layout<[8, 100, 64], [6400, 1, 100]>
#rows_padded = #spyre.layout<[2, 512, 64], [32768, 1, 512]>

// CHECK-LABEL: func.func @equal_slices_share_lx(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.restickify {{.+}} {place = #spyre.place<lx, 32768>,
// NONE-LABEL:  func.func @equal_slices_share_lx(
// NONE:          spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "a restickify that pads sticks, or that the target keeps in HBM, reads it">,
// NONE-NEXT:     spyre.restickify {{.+}} {place = #spyre.place<hbm, "the device function 'ReStickifyOpHBM' cannot access LX">,
func.func @equal_slices_share_lx(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[2, 16]>} : tensor<512x1024xf16>
  %moved = spyre.restickify %exp {work = #spyre.work<[2, 16]>} : tensor<512x1024xf16> -> tensor<512x1024xf16, #on_rows>
  %neg = spyre.pointwise neg(%moved) {work = #spyre.work<[2, 16]>} : (tensor<512x1024xf16, #on_rows>) -> tensor<512x1024xf16>
  return %neg : tensor<512x1024xf16>
}

// Shuffles move the value to the slices that the restickify reads, and its result to those that its reader needs.
// CHECK-LABEL: func.func @shuffles_move_other_slices(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx,
// CHECK-NEXT:    [[BEFORE:%.+]] = spyre.copy [[EXP]] {destination = #spyre.work<[8, 4]>, place = #spyre.place<lx,
// CHECK-NEXT:    [[MOVED:%.+]] = spyre.restickify [[BEFORE]] {place = #spyre.place<lx,
// CHECK-NEXT:    [[AFTER:%.+]] = spyre.copy [[MOVED]] {destination = #spyre.work<[1, 32]>, place = #spyre.place<lx,
// CHECK-NEXT:    spyre.pointwise neg([[AFTER]])
func.func @shuffles_move_other_slices(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<512x1024xf16>
  %moved = spyre.restickify %exp {work = #spyre.work<[8, 4]>} : tensor<512x1024xf16> -> tensor<512x1024xf16, #on_rows>
  %neg = spyre.pointwise neg(%moved) {work = #spyre.work<[1, 32]>} : (tensor<512x1024xf16, #on_rows>) -> tensor<512x1024xf16>
  return %neg : tensor<512x1024xf16>
}

// The sticks of the result are full, so the input needs no gap; those of the input are padded, so the result has a gap.
// CHECK-LABEL: func.func @gaps_are_in_hbm(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.restickify {{.+}} {place = #spyre.place<hbm, "the device function 'ReStickifyOpHBM' cannot access LX">,
func.func @gaps_are_in_hbm(%x: tensor<512x100xf16>) -> tensor<512x100xf16, #rows_of_padded> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 1]>} : tensor<512x100xf16>
  %moved = spyre.restickify %exp {work = #spyre.work<[8, 1]>} : tensor<512x100xf16> -> tensor<512x100xf16, #rows_of_padded>
  %neg = spyre.pointwise neg(%moved) {work = #spyre.work<[8, 1]>} : tensor<512x100xf16, #rows_of_padded>
  return %neg : tensor<512x100xf16, #rows_of_padded>
}

// CHECK-LABEL: func.func @inputs_of_padded_results_are_in_hbm(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "a restickify that pads sticks, or that the target keeps in HBM, reads it">,
// CHECK-NEXT:    spyre.restickify {{.+}} {place = #spyre.place<lx, 0>,
func.func @inputs_of_padded_results_are_in_hbm(%x: tensor<100x512xf16>) -> tensor<100x512xf16, #rows_padded> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[1, 8]>} : tensor<100x512xf16>
  %moved = spyre.restickify %exp {work = #spyre.work<[1, 8]>} : tensor<100x512xf16> -> tensor<100x512xf16, #rows_padded>
  %neg = spyre.pointwise neg(%moved) {work = #spyre.work<[1, 8]>} : tensor<100x512xf16, #rows_padded>
  return %neg : tensor<100x512xf16, #rows_padded>
}
