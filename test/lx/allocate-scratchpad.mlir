// RUN: spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad=planner=first-fit %s | FileCheck %s

// 32768 bytes of the matrix on each of 32 cores; each op of the chain overwrites its input, which nobody else reads.
// CHECK-LABEL: func.func @chains_work_in_place(
// CHECK:         spyre.pointwise add({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise mul({{.+}}) {place = #spyre.place<hbm, "it is a result of the graph and has no copy in LX">,
func.func @chains_work_in_place(%x: tensor<512x1024xf16>, %y: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %sum = spyre.pointwise add(%x, %y) : tensor<512x1024xf16>
  %exp = spyre.pointwise exp(%sum) : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<512x1024xf16>
  %product = spyre.pointwise mul(%neg, %y) : tensor<512x1024xf16>
  return %product : tensor<512x1024xf16>
}

// The exponential is still read behind the negation.
// CHECK-LABEL: func.func @a_value_that_lives_on_is_not_overwritten(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 32768>,
// CHECK-NEXT:    spyre.pointwise mul({{.+}}) {place = #spyre.place<lx, 32768>,
// CHECK-NEXT:    spyre.pointwise add(
func.func @a_value_that_lives_on_is_not_overwritten(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<512x1024xf16>
  %product = spyre.pointwise mul(%neg, %neg) : tensor<512x1024xf16>
  %sum = spyre.pointwise add(%product, %exp) : tensor<512x1024xf16>
  return %sum : tensor<512x1024xf16>
}

// The sum of a row has other elements than the row, even where both take a stick.
// CHECK-LABEL: func.func @reductions_do_not_work_in_place(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 128>,
// CHECK-NEXT:    spyre.reduce sum({{.+}}) dims [1] {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise mul({{.+}}) {place = #spyre.place<hbm,
func.func @reductions_do_not_work_in_place(%x: tensor<32x64xf16>) -> tensor<32x1xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<32x64xf16>
  %sum = spyre.reduce sum(%exp) dims [1] : tensor<32x64xf16> -> tensor<32x1xf16>
  %square = spyre.pointwise mul(%sum, %sum) : tensor<32x1xf16>
  return %square : tensor<32x1xf16>
}

// Nor has a result the elements of an operand that it repeats.
// CHECK-LABEL: func.func @broadcasts_do_not_work_in_place(
// CHECK:         spyre.reduce max({{.+}}) dims [1] {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise sub({{.+}}) {place = #spyre.place<lx, 128>,
// CHECK-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm,
func.func @broadcasts_do_not_work_in_place(%x: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<32x64xf16> -> tensor<32x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<32x64xf16>, tensor<32x1xf16>) -> tensor<32x64xf16>
  %exp = spyre.pointwise exp(%shifted) : tensor<32x64xf16>
  return %exp : tensor<32x64xf16>
}

// The back end has a list of functions that write LX.
// CHECK-LABEL: func.func @some_functions_cannot_write_lx(
// CHECK:         spyre.pointwise abs({{.+}}) {place = #spyre.place<hbm, "the device function 'abs' cannot access LX">,
// CHECK-NEXT:    spyre.reduce min({{.+}}) dims [1] {place = #spyre.place<hbm, "the device function 'min' cannot access LX">,
func.func @some_functions_cannot_write_lx(%x: tensor<512x1024xf16>) -> tensor<512x1xf16> {
  %abs = spyre.pointwise abs(%x) : tensor<512x1024xf16>
  %min = spyre.reduce min(%abs) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
  return %min : tensor<512x1xf16>
}

// CHECK-LABEL: func.func @what_nobody_reads_stays_in_hbm(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "no op could read it from LX">,
func.func @what_nobody_reads_stays_in_hbm(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %unused = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%x) : tensor<512x1024xf16>
  return %neg : tensor<512x1024xf16>
}

// A result must be in HBM even if the program reads it on.
// CHECK-LABEL: func.func @results_that_are_read_stay_in_hbm(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "it is a result of the graph and has no copy in LX">,
func.func @results_that_are_read_stay_in_hbm(%x: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<512x1024xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<512x1024xf16>
  return %exp, %neg : tensor<512x1024xf16>, tensor<512x1024xf16>
}

// 2 MiB on each core are more than LX has.
// CHECK-LABEL: func.func @large_values_stay_in_hbm(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "it needs 2097152 bytes and LX has 1625344">,
func.func @large_values_stay_in_hbm(%x: tensor<8192x4096xf16>) -> tensor<8192x4096xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8192x4096xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<8192x4096xf16>
  return %neg : tensor<8192x4096xf16>
}

// A buffer that several ops write is in HBM; its parts, which one op reads whole, are in LX as usual.
// CHECK-LABEL: func.func @what_is_written_in_parts_stays_in_hbm(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty {place = #spyre.place<hbm, "it is written in parts">}
// CHECK-NEXT:    spyre.insert [[EXP]] into [[BUFFER]] at [0, 0] {work = #spyre.work<[32, 1]>}
// CHECK-NEXT:    spyre.insert {{%.+}} into {{%.+}} at [512, 0] {work = #spyre.work<[32, 1]>}
// CHECK-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 0>,
func.func @what_is_written_in_parts_stays_in_hbm(%x: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %buffer = spyre.empty : tensor<1024x1024xf16>
  %upper = spyre.insert %exp into %buffer at [0, 0] : tensor<512x1024xf16> into tensor<1024x1024xf16>
  %whole = spyre.insert %x into %upper at [512, 0] : tensor<512x1024xf16> into tensor<1024x1024xf16>
  %neg = spyre.pointwise neg(%whole) : tensor<1024x1024xf16>
  %square = spyre.pointwise mul(%neg, %neg) : tensor<1024x1024xf16>
  return %square : tensor<1024x1024xf16>
}

// A core has its own rows of the exponential, which are not the rows that it needs of the lower half.
// CHECK-LABEL: func.func @what_an_op_reads_a_part_of_stays_in_hbm(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "an op reads a part of it">,
func.func @what_an_op_reads_a_part_of_stays_in_hbm(%x: tensor<512x1024xf16>) -> tensor<256x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %half = spyre.view %exp by affine_map<(d0, d1) -> (d0 + 256, d1)> : tensor<512x1024xf16> -> tensor<256x1024xf16>
  %neg = spyre.pointwise neg(%half) : tensor<256x1024xf16>
  return %neg : tensor<256x1024xf16>
}
