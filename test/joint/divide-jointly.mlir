// RUN: spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-jointly %s | FileCheck %s
// RUN: spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-jointly --spyre-clone-inputs --spyre-allocate-scratchpad=planner=exact %s \
// RUN:   | FileCheck %s --check-prefix=LX

// In isolation both matmuls split their reduction dimensions, so no core has a complete value. Jointly, the split of the columns of the
// first is the split of the reduction of the second, with the same core order.
// CHECK-LABEL: func.func @a_product_reads_what_a_product_leaves(
// CHECK:         spyre.matmul({{.*}}work = #spyre.work<[4, 8, 1], order = [1, 0, 2]>
// CHECK:         spyre.pointwise neg({{.*}}work = #spyre.work<[4, 8], order = [1, 0]>
// CHECK:         spyre.matmul({{.*}}work = #spyre.work<[4, 1, 8]>
// LX-LABEL:    func.func @a_product_reads_what_a_product_leaves(
// LX:            spyre.matmul({{.*}}place = #spyre.place<lx, 0>
// LX:            spyre.pointwise neg({{.*}}place = #spyre.place<lx, 0>
// LX:            spyre.matmul({{.*}}place = #spyre.place<hbm, "it is a result of the graph
func.func @a_product_reads_what_a_product_leaves(%x: tensor<32x128xf16>, %a: tensor<128x512xf16>, %b: tensor<512x128xf16>) -> tensor<32x128xf16> {
  %first = spyre.matmul(%x, %a) : (tensor<32x128xf16>, tensor<128x512xf16>) -> tensor<32x512xf16>
  %act = spyre.pointwise neg(%first) : tensor<32x512xf16>
  %second = spyre.matmul(%act, %b) : (tensor<32x512xf16>, tensor<512x128xf16>) -> tensor<32x128xf16>
  return %second : tensor<32x128xf16>
}

// In isolation the exponential would be split along its rows, which does not suit the sum over rows.
// CHECK-LABEL: func.func @a_sum_over_rows_divides_its_operand(
// CHECK:         spyre.pointwise exp({{.*}}work = #spyre.work<[1, 32]>
// CHECK:         spyre.reduce sum({{.*}}work = #spyre.work<[32, 1]>
// CHECK:         spyre.pointwise realdiv({{.*}}work = #spyre.work<[1, 32]>
// LX-LABEL:    func.func @a_sum_over_rows_divides_its_operand(
// LX:            spyre.pointwise exp({{.*}}place = #spyre.place<lx, {{[0-9]+}}>
// LX:            spyre.reduce sum({{.*}}place = #spyre.place<lx, {{[0-9]+}}>
func.func @a_sum_over_rows_divides_its_operand(%x: tensor<512x2048xf16>) -> tensor<512x2048xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x2048xf16>
  %sum = spyre.reduce sum(%exp) dims [0] : tensor<512x2048xf16> -> tensor<1x2048xf16>
  %part = spyre.pointwise realdiv(%exp, %sum) : (tensor<512x2048xf16>, tensor<1x2048xf16>) -> tensor<512x2048xf16>
  return %part : tensor<512x2048xf16>
}

// A hint is honored, and the splits of the other ops follow it.
// CHECK-LABEL: func.func @a_wish_is_kept(
// CHECK:         spyre.matmul({{.*}}work = #spyre.work<[8, 1, 1]>
// CHECK:         spyre.pointwise neg({{.*}}work = #spyre.work<[8, 1]>
// LX-LABEL:    func.func @a_wish_is_kept(
// LX:            spyre.matmul({{.*}}place = #spyre.place<lx, 0>
func.func @a_wish_is_kept(%x: tensor<32x128xf16> {spyre.dims = ["M", "K"]}, %a: tensor<128x512xf16>) -> tensor<32x512xf16> {
  %first = spyre.matmul(%x, %a) {dims = ["M", "N", "K"], work_div = [#spyre.work_hint<0, M = 8>]} : (tensor<32x128xf16>, tensor<128x512xf16>) -> tensor<32x512xf16>
  %act = spyre.pointwise neg(%first) : tensor<32x512xf16>
  return %act : tensor<32x512xf16>
}

// An input that two ops read with the same split is copied to LX once; the model includes the cost of the copy.
// CHECK-LABEL: func.func @an_input_is_copied_once(
// CHECK-COUNT-2: spyre.pointwise {{.*}}work = #spyre.work<[32, 1]>
// LX-LABEL:    func.func @an_input_is_copied_once(
// LX:            spyre.copy %{{.*}}place = #spyre.place<lx, 0>
func.func @an_input_is_copied_once(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %sum = spyre.pointwise add(%exp, %x) : tensor<512x1024xf16>
  return %sum : tensor<512x1024xf16>
}
