// RUN: spyre-opt --spyre-propagate-layouts --spyre-allocate-scratchpad %s | FileCheck %s

// A value whose readers need other slices than its writer leaves is moved between the LX of cores.

// CHECK-LABEL: func.func @other_slices(
// CHECK:         %[[EXP:.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, {{[0-9]+}}>,
// CHECK:         %[[MOVED:.+]] = spyre.copy %[[EXP]] {destination = #spyre.work<[8, 4]>, place = #spyre.place<lx, {{[0-9]+}}>, work = #spyre.work<[32, 1]>}
// CHECK:         spyre.pointwise neg(%[[MOVED]])
func.func @other_slices(%x: tensor<2048x1024xf16>) -> tensor<2048x1024xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<2048x1024xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[8, 4]>} : tensor<2048x1024xf16>
  return %neg : tensor<2048x1024xf16>
}

// The matmul needs each slice of rows on four cores. The other reader reads what the writer left.
// CHECK-LABEL: func.func @slices_on_several_cores(
// CHECK:         %[[EXP:.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, {{[0-9]+}}>,
// CHECK:         spyre.reduce max(%[[EXP]])
// CHECK:         %[[MOVED:.+]] = spyre.copy %[[EXP]] {destination = #spyre.work<[8, 1, 4]>, place = #spyre.place<lx, {{[0-9]+}}>, work = #spyre.work<[8, 4]>}
// CHECK:         spyre.matmul(%[[MOVED]],
func.func @slices_on_several_cores(%x: tensor<512x1024xf16>, %w: tensor<1024x1024xf16>)
    -> (tensor<512x1024xf16>, tensor<512x1xf16>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 4]>} : tensor<512x1024xf16>
  %max = spyre.reduce max(%exp) dims [1] {work = #spyre.work<[8, 4]>} : tensor<512x1024xf16> -> tensor<512x1xf16>
  %product = spyre.matmul(%exp, %w) {work = #spyre.work<[8, 4, 1]>} : (tensor<512x1024xf16>, tensor<1024x1024xf16>) -> tensor<512x1024xf16>
  return %product, %max : tensor<512x1024xf16>, tensor<512x1xf16>
}

// A core would collect its slice from 16 cores, and the machine has registers for 8.
// CHECK-LABEL: func.func @too_many_cores(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "its users split it over the cores differently: use 1 slices it differently from use 0">,
// CHECK-NOT:     spyre.copy
func.func @too_many_cores(%x: tensor<2048x1024xf16>) -> tensor<2048x1024xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<2048x1024xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[2, 16]>} : tensor<2048x1024xf16>
  return %neg : tensor<2048x1024xf16>
}

// The op that moves 8 KiB takes longer than HBM.
// CHECK-LABEL: func.func @small_value(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm,
// CHECK-NOT:     spyre.copy
func.func @small_value(%x: tensor<32x128xf16>) -> tensor<32x128xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[4, 1]>} : tensor<32x128xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[2, 2]>} : tensor<32x128xf16>
  return %neg : tensor<32x128xf16>
}

// The reader runs on more cores than have a slice.
// CHECK-LABEL: func.func @reader_on_more_cores(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm,
// CHECK-NOT:     spyre.copy
func.func @reader_on_more_cores(%x: tensor<2048x1024xf16>) -> tensor<2048x1024xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 1]>} : tensor<2048x1024xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[32, 1]>} : tensor<2048x1024xf16>
  return %neg : tensor<2048x1024xf16>
}

// A result that other cores read is stored once, and a shuffle gives them their slices.
// CHECK-LABEL: func.func @results_are_stored_and_moved(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx,
// CHECK-NEXT:    [[STORED:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm, "it is the copy in HBM of a value in LX">,
// CHECK-NEXT:    [[MOVED:%.+]] = spyre.copy [[EXP]] {destination = #spyre.work<[8, 4]>, place = #spyre.place<lx,
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[MOVED]])
// CHECK-NEXT:    return [[STORED]], [[NEG]]
func.func @results_are_stored_and_moved(%x: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<512x1024xf16>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[8, 4]>} : tensor<512x1024xf16>
  return %exp, %neg : tensor<512x1024xf16>, tensor<512x1024xf16>
}

// A reader on 24 cores has no shuffle from 32; the other one has.
// CHECK-LABEL: func.func @readers_without_a_shuffle_read_hbm(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx,
// CHECK-NEXT:    [[STORED:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm, "it is the copy in HBM of a value in LX">,
// CHECK-NEXT:    [[MOVED:%.+]] = spyre.copy [[EXP]] {destination = #spyre.work<[8, 4]>, place = #spyre.place<lx,
// CHECK-NEXT:    spyre.pointwise neg([[MOVED]])
// CHECK-NEXT:    spyre.pointwise tanh([[STORED]])
func.func @readers_without_a_shuffle_read_hbm(%x: tensor<768x1024xf16>) -> (tensor<768x1024xf16>, tensor<768x1024xf16>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<768x1024xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[8, 4]>} : tensor<768x1024xf16>
  %tanh = spyre.pointwise tanh(%exp) {work = #spyre.work<[24, 1]>} : tensor<768x1024xf16>
  return %neg, %tanh : tensor<768x1024xf16>, tensor<768x1024xf16>
}
