// RUN: spyre-opt --spyre-compile="compile-to=lx tile-search=none" %s | FileCheck %s

// A view is the tensor that it shows, not a second value in LX that is live from the start. Counted so, three values of 768 KiB on each core would
// live at once, and the divisions that leave the values in LX be refused.
// CHECK-LABEL: func.func @the_sum_of_columns_behind_views(
// CHECK:         spyre.pointwise neg({{.*}}place = #spyre.place<lx, {{[0-9]+}}>, work = #spyre.work<[32, 1, 1]>
// CHECK:         spyre.copy {{.*}}place = #spyre.place<lx, 0>, spyre.for_layout, work = #spyre.work<[1, 32, 1]>
// CHECK:         spyre.reduce sum({{.*}}work = #spyre.work<[1, 32]>
func.func @the_sum_of_columns_behind_views(%x: tensor<4096x3072xf16>) -> tensor<1x3072xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<4096x3072xf16>
  %rows = spyre.view %exp by affine_map<(d0, d1, d2) -> (d0 * 64 + d1, d2)> : tensor<4096x3072xf16> -> tensor<64x64x3072xf16>
  %neg = spyre.pointwise neg(%rows) : tensor<64x64x3072xf16>
  %flat = spyre.view %neg by affine_map<(d0, d1) -> (d0 floordiv 64, d0 mod 64, d1)> : tensor<64x64x3072xf16> -> tensor<4096x3072xf16>
  %sum = spyre.reduce sum(%flat) dims [0] : tensor<4096x3072xf16> -> tensor<1x3072xf16>
  return %sum : tensor<1x3072xf16>
}
