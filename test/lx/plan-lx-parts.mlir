// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-plan-lx=planner=exact %s | FileCheck %s

// Halves of the columns lie behind each other on a core, which has the same rows of both.
// CHECK-LABEL: func.func @halves_of_columns(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>, work = #spyre.work<[32, 1]>}
func.func @halves_of_columns(%x: tensor<64x256xf16>) -> tensor<64x128xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<64x256xf16>
  %left = spyre.view %exp by affine_map<(d0, d1) -> (d0, d1)> : tensor<64x256xf16> -> tensor<64x128xf16>
  %right = spyre.view %exp by affine_map<(d0, d1) -> (d0, d1 + 128)> : tensor<64x256xf16> -> tensor<64x128xf16>
  %product = spyre.pointwise mul(%left, %right) : tensor<64x128xf16>
  return %product : tensor<64x128xf16>
}

// -----

// A core has its own rows of the exponential, which are not the rows that it needs of the lower half.
// CHECK-LABEL: func.func @half_of_the_rows(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "its users divide it among the cores in different ways: use 1 divides a dimension of which it needs a part">,
func.func @half_of_the_rows(%x: tensor<512x1024xf16>) -> tensor<256x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %half = spyre.view %exp by affine_map<(d0, d1) -> (d0 + 256, d1)> : tensor<512x1024xf16> -> tensor<256x1024xf16>
  %neg = spyre.pointwise neg(%half) : tensor<256x1024xf16>
  return %neg : tensor<256x1024xf16>
}

// -----

// Columns are divided by both, and a core has a gap behind the rows that it reads.
// CHECK-LABEL: func.func @rows_of_divided_columns(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
func.func @rows_of_divided_columns(%x: tensor<3x2048xf16>) -> tensor<1x2048xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<3x2048xf16>
  %row = spyre.view %exp by affine_map<(d0, d1) -> (d0 + 1, d1)> : tensor<3x2048xf16> -> tensor<1x2048xf16>
  %neg = spyre.pointwise neg(%row) : tensor<1x2048xf16>
  return %neg : tensor<1x2048xf16>
}
