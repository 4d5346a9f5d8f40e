// RUN: spyre-opt --spyre-propagate-layouts --spyre-reduce-span %s | FileCheck %s

// CHECK-LABEL: func.func @small_tensors_need_nothing(
// CHECK-NOT:     min_work
// CHECK:         return
func.func @small_tensors_need_nothing(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

// 512 MiB: 256 sticks side by side, 2 MiB each. Two slices of 128 are one page too much, so there must be four.
// CHECK-LABEL: func.func @columns_of_sticks_are_cut_first(
// CHECK:         spyre.pointwise exp({{%.+}}) {min_work = #spyre.work<[1, 4]>}
func.func @columns_of_sticks_are_cut_first(%x: tensor<16384x16384xf16>) -> tensor<16384x16384xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<16384x16384xf16>
  return %exp : tensor<16384x16384xf16>
}

// 256 MiB are one page too much: two slices of the 32, the outermost dimension of the device.
// CHECK-LABEL: func.func @two_slices_may_do(
// CHECK:         spyre.pointwise exp({{%.+}}) {min_work = #spyre.work<[1, 2, 1, 1]>}
func.func @two_slices_may_do(%x: tensor<1x32x2048x2048xf16>) -> tensor<1x32x2048x2048xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<1x32x2048x2048xf16>
  return %exp : tensor<1x32x2048x2048xf16>
}

// 64 columns are one stick, so there is nothing to cut but the rows.
// CHECK-LABEL: func.func @one_column_of_sticks_is_cut_along_rows(
// CHECK:         spyre.pointwise exp({{%.+}}) {min_work = #spyre.work<[4, 1]>}
func.func @one_column_of_sticks_is_cut_along_rows(%x: tensor<4194304x64xf16>) -> tensor<4194304x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<4194304x64xf16>
  return %exp : tensor<4194304x64xf16>
}

// The iteration is M, N, K: the left operand needs K in 4, the right one then N in 2; the result needs nothing more.
// CHECK-LABEL: func.func @what_one_operand_needs_binds_the_next(
// CHECK:         spyre.matmul({{.+}}) {min_work = #spyre.work<[1, 2, 4]>}
func.func @what_one_operand_needs_binds_the_next(%x: tensor<8192x32768xf16>, %y: tensor<32768x4096xf16>) -> tensor<8192x4096xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<8192x32768xf16>, tensor<32768x4096xf16>) -> tensor<8192x4096xf16>
  return %product : tensor<8192x4096xf16>
}

// The iteration is rows, then the reduced columns.
// CHECK-LABEL: func.func @one_reduced_dim_may_be_cut(
// CHECK:         spyre.reduce sum({{%.+}}) dims [1] {min_work = #spyre.work<[1, 4]>}
func.func @one_reduced_dim_may_be_cut(%x: tensor<16384x16384xf16>) -> tensor<16384x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<16384x16384xf16> -> tensor<16384x1xf16>
  return %sum : tensor<16384x1xf16>
}

// A tile is a window: the core addresses 8 sticks side by side of the full buffer, not 256.
// CHECK-LABEL: func.func @a_window_counts_what_it_shows(
// CHECK-NOT:     min_work
// CHECK:         return
#full = #spyre.layout<[256, 16384, 64], [64, 16384, 1]>
#window = #spyre.layout<[256, 16384, 64], [64, 16384, 1], of = [16384, 16384]>
func.func @a_window_counts_what_it_shows(%x: tensor<16384x16384xf16, #full>) -> tensor<16384x16384xf16, #full> {
  %result = spyre.loop 32 "columns" tiled(%tile = %x[1] : tensor<16384x16384xf16, #full>) {
    %exp = spyre.pointwise exp(%tile) : tensor<16384x512xf16, #window>
    spyre.yield %exp[1] : tensor<16384x512xf16, #window>
  } : tensor<16384x16384xf16, #full>
  return %result : tensor<16384x16384xf16, #full>
}
