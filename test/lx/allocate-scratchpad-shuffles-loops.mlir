// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile --spyre-divide-work --spyre-allocate-scratchpad %s | FileCheck %s

// A loop reads the value completely in each iteration: the shuffle runs once, before the loop.
// CHECK-LABEL: func.func @reader_in_loop(
// CHECK:         %[[EXP:.+]] = spyre.pointwise exp({{.+}}) {{.*}}place = #spyre.place<lx, {{[0-9]+}}>
// CHECK:         %[[MOVED:.+]] = spyre.copy %[[EXP]] {destination = #spyre.work<[8, 1, 4]>, {{.*}}place = #spyre.place<lx, {{[0-9]+}}>
// CHECK:         spyre.loop 2 "C"
// CHECK:           spyre.matmul(%[[MOVED]],
func.func @reader_in_loop(%x: tensor<512x1024xf16> {spyre.dims = ["A", "B"]}, %w: tensor<1024x512xf16> {spyre.dims = ["B", "C"]}) -> tensor<512x512xf16> {
  %exp = spyre.pointwise exp(%x) {work_div = [#spyre.work_hint<0, A = 32>]} : tensor<512x1024xf16>
  %product = spyre.matmul(%exp, %w) {hints = [#spyre.tile_hint<0, C = 2>], work_div = [#spyre.work_hint<0, A = 8>, #spyre.work_hint<0, C = 4>]} : (tensor<512x1024xf16>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %product : tensor<512x512xf16>
}

// The loop advances through the value, which therefore stays in HBM.
// CHECK-LABEL: func.func @loop_that_advances(
// CHECK:         spyre.pointwise exp({{.+}}) {{.*}}place = #spyre.place<hbm, "its address would advance with a loop">
// CHECK-NOT:     spyre.copy
func.func @loop_that_advances(%x: tensor<512x1024xf16> {spyre.dims = ["A", "B"]}) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) {work_div = [#spyre.work_hint<0, A = 32>]} : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%exp) {hints = [#spyre.tile_hint<0, A = 2>], work_div = [#spyre.work_hint<0, A = 8>, #spyre.work_hint<0, B = 4>]} : tensor<512x1024xf16>
  return %neg : tensor<512x1024xf16>
}
