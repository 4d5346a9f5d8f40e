// RUN: spyre-opt --spyre-lay-out-tables --spyre-propagate-layouts --spyre-divide-jointly %s | FileCheck %s
// RUN: spyre-opt --spyre-lay-out-tables --spyre-propagate-layouts --spyre-divide-jointly --spyre-clone-inputs --spyre-plan-lx=planner=exact %s \
// RUN:   | FileCheck %s --check-prefix=LX

// By themselves both products cut their sums, so that none of the values is whole on any core. Here the columns of the first are the sum of
// the second, on the same cores: the order of the cores says so.
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

// By itself the exponential would be divided along its rows, which the sum over rows has no use for.
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

// What the user asks for stays, and the others follow it.
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

// An input that two ops read alike is brought into LX once; the model pays for the copy.
// CHECK-LABEL: func.func @an_input_is_copied_once(
// CHECK-COUNT-2: spyre.pointwise {{.*}}work = #spyre.work<[32, 1]>
// LX-LABEL:    func.func @an_input_is_copied_once(
// LX:            spyre.copy %{{.*}}place = #spyre.place<lx, 0>
func.func @an_input_is_copied_once(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %sum = spyre.pointwise add(%exp, %x) : tensor<512x1024xf16>
  return %sum : tensor<512x1024xf16>
}
