// RUN: spyre-opt --spyre-set-target=file=%S/Inputs/no-shuffles.json --spyre-propagate-layouts --spyre-allocate-scratchpad %s | FileCheck %s

// Without shuffles, a core finds in its LX only what it wrote there itself. The functions say how the work is divided.

// CHECK-LABEL: func.func @equal_slices_share_lx(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
func.func @equal_slices_share_lx(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 4]>} : tensor<64x256xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[8, 4]>} : tensor<64x256xf16>
  return %neg : tensor<64x256xf16>
}

// CHECK-LABEL: func.func @other_slices_do_not(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "its users split it over the cores differently: use 1 slices it differently from use 0">,
func.func @other_slices_do_not(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<64x256xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[8, 4]>} : tensor<64x256xf16>
  return %neg : tensor<64x256xf16>
}

// A reader with other slices reads a copy in HBM.
// CHECK-LABEL: func.func @readers_with_other_slices_read_hbm(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[STORED:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm, "it is the copy in HBM of a value in LX">,
// CHECK-NEXT:    spyre.pointwise neg([[EXP]])
// CHECK-NEXT:    spyre.pointwise abs([[STORED]])
func.func @readers_with_other_slices_read_hbm(%x: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<512x1024xf16>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 4]>} : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[8, 4]>} : tensor<512x1024xf16>
  %abs = spyre.pointwise abs(%exp) {work = #spyre.work<[4, 4]>} : tensor<512x1024xf16>
  return %neg, %abs : tensor<512x1024xf16>, tensor<512x1024xf16>
}

// The copy is an op of its own, which takes longer than a read of 32 KiB.
// CHECK-LABEL: func.func @small_values_are_read_in_hbm(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "its users split it over the cores differently: use 2 slices it differently from use 0">,
func.func @small_values_are_read_in_hbm(%x: tensor<64x256xf16>) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 4]>} : tensor<64x256xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[8, 4]>} : tensor<64x256xf16>
  %abs = spyre.pointwise abs(%exp) {work = #spyre.work<[4, 4]>} : tensor<64x256xf16>
  return %neg, %abs : tensor<64x256xf16>, tensor<64x256xf16>
}

// Four cores want the one slice of a row, but only one has it.
// CHECK-LABEL: func.func @a_slice_is_on_one_core(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "its users split it over the cores differently: use 1 runs on 4 cores, but there are 1 slices">,
func.func @a_slice_is_on_one_core(%row: tensor<1x64xf16>, %x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %exp = spyre.pointwise exp(%row) {work = #spyre.work<[1, 1]>} : tensor<1x64xf16>
  %sum = spyre.pointwise add(%x, %exp) {work = #spyre.work<[4, 1]>} : (tensor<64x64xf16>, tensor<1x64xf16>) -> tensor<64x64xf16>
  return %sum : tensor<64x64xf16>
}

// Each core sums its part of a row; the sums of the parts are added up in HBM.
// CHECK-LABEL: func.func @partial_sums_are_not_in_lx(
// CHECK:         spyre.reduce sum({{.+}}) dims [1] {place = #spyre.place<hbm, "its users split it over the cores differently: its writer splits a reduction, so that each core has a partial result">,
func.func @partial_sums_are_not_in_lx(%x: tensor<64x256xf16>) -> tensor<64x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {work = #spyre.work<[8, 4]>} : tensor<64x256xf16> -> tensor<64x1xf16>
  %neg = spyre.pointwise neg(%sum) {work = #spyre.work<[8, 1]>} : tensor<64x1xf16>
  return %neg : tensor<64x1xf16>
}

// CHECK-LABEL: func.func @unequal_slices_are_not_in_lx(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "its users split it over the cores differently: use 0 splits a device dimension into unequal parts">,
func.func @unequal_slices_are_not_in_lx(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[5, 1]>} : tensor<64x256xf16>
  %neg = spyre.pointwise neg(%exp) {work = #spyre.work<[5, 1]>} : tensor<64x256xf16>
  return %neg : tensor<64x256xf16>
}

// A sum needs all columns of its rows, and the cores have them.
// CHECK-LABEL: func.func @a_reduction_reads_what_its_core_wrote(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 128>,
// CHECK-NEXT:    spyre.reduce sum({{.+}}) dims [1] {place = #spyre.place<lx, 0>,
func.func @a_reduction_reads_what_its_core_wrote(%x: tensor<32x256xf16>) -> tensor<32x256xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[32, 1]>} : tensor<32x256xf16>
  %sum = spyre.reduce sum(%exp) dims [1] {work = #spyre.work<[32, 1]>} : tensor<32x256xf16> -> tensor<32x1xf16>
  %mean = spyre.pointwise mul(%exp, %sum) {work = #spyre.work<[32, 1]>} : (tensor<32x256xf16>, tensor<32x1xf16>) -> tensor<32x256xf16>
  return %mean : tensor<32x256xf16>
}

// A view changes the indices, not the cores: the rows of the product are the columns of what it reads.
// CHECK-LABEL: func.func @slices_are_followed_through_views(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
func.func @slices_are_followed_through_views(%x: tensor<64x256xf16>) -> tensor<256x64xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 1]>} : tensor<64x256xf16>
  %transposed = spyre.view %exp by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x256xf16> -> tensor<256x64xf16>
  %neg = spyre.pointwise neg(%transposed) {work = #spyre.work<[1, 8]>} : tensor<256x64xf16>
  return %neg : tensor<256x64xf16>
}

// A matmul numbers its cores from K; without a cut in K its rows are where an elementwise op wants them.
// CHECK-LABEL: func.func @a_product_is_where_its_rows_were_made(
// CHECK:         spyre.matmul({{.+}}) {place = #spyre.place<lx, 0>,
func.func @a_product_is_where_its_rows_were_made(%x: tensor<64x128xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16> {
  %product = spyre.matmul(%x, %y) {work = #spyre.work<[8, 4, 1]>} : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  %exp = spyre.pointwise exp(%product) {work = #spyre.work<[8, 4]>} : tensor<64x256xf16>
  return %exp : tensor<64x256xf16>
}

// The second matmul counts K first, so the cores of a block of %exp are other ones: neighbours instead of every eighth.
// CHECK-LABEL: func.func @the_number_of_a_core_counts(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "its users split it over the cores differently: use 1 slices it differently from use 0">,
func.func @the_number_of_a_core_counts(%x: tensor<64x256xf16>, %y: tensor<256x64xf16>) -> tensor<64x64xf16> {
  %exp = spyre.pointwise exp(%x) {work = #spyre.work<[8, 4]>} : tensor<64x256xf16>
  %product = spyre.matmul(%exp, %y) {work = #spyre.work<[8, 1, 4]>} : (tensor<64x256xf16>, tensor<256x64xf16>) -> tensor<64x64xf16>
  return %product : tensor<64x64xf16>
}
