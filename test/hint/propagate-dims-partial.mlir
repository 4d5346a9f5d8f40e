// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-dims %s | FileCheck %s

// A slice has no name; what is not cut keeps its own. One op tells it, though two read the slice.
// CHECK-LABEL: func.func @a_slice_is_partial(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["", "B"]}
// CHECK-NEXT:    spyre.pointwise neg({{.+}}) {dims = ["", "B"]}
// expected-note @+1 {{'A' comes from here}}
func.func @a_slice_is_partial(%x: tensor<8x64xf16> {spyre.dims = ["A", "B"]}) -> (tensor<4x64xf16>, tensor<4x64xf16>) {
  %slice = spyre.view %x by affine_map<(d0, d1) -> (d0 + 2, d1)> : tensor<8x64xf16> -> tensor<4x64xf16>
  // expected-warning @+1 {{dimension name 'A' (size 8) is dropped: the op reads 4 positions of it in dimension 0 of shape 4x64}}
  %exp = spyre.pointwise exp(%slice) : tensor<4x64xf16>
  %neg = spyre.pointwise neg(%slice) : tensor<4x64xf16>
  return %exp, %neg : tensor<4x64xf16>, tensor<4x64xf16>
}

// -----

// The note shows the op that made the buffer, behind the views.
// CHECK-LABEL: func.func @a_split_inside_a_name_is_partial(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["", "", "B"]}
func.func @a_split_inside_a_name_is_partial(%x: tensor<8x64xf16> {spyre.dims = ["A", "B"]}) -> tensor<2x4x64xf16> {
  // expected-note @+1 {{'A' comes from here}}
  %neg = spyre.pointwise neg(%x) : tensor<8x64xf16>
  %split = spyre.view %neg by affine_map<(d0, d1, d2) -> (d0 * 4 + d1, d2)> : tensor<8x64xf16> -> tensor<2x4x64xf16>
  // expected-warning @+1 {{dimension name 'A' (size 8) is dropped: it covers several dimensions of shape 2x4x64; name each dimension}}
  %exp = spyre.pointwise exp(%split) : tensor<2x4x64xf16>
  return %exp : tensor<2x4x64xf16>
}

// -----

// 6 * 4 * 64 as 8 * 3 * 64: C is as before.
// CHECK-LABEL: func.func @other_boundaries_are_partial(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["", "", "C"]}
// expected-note @+2 {{'A' comes from here}}
// expected-note @+1 {{'B' comes from here}}
func.func @other_boundaries_are_partial(%x: tensor<6x4x64xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<8x3x64xf16> {
  %view = spyre.view %x by affine_map<(d0, d1, d2) -> ((d0 * 3 + d1) floordiv 4, (d0 * 3 + d1) mod 4, d2)> : tensor<6x4x64xf16> -> tensor<8x3x64xf16>
  // expected-warning @+2 {{dimension name 'A' (size 6) is dropped: its elements run along no dimension of shape 8x3x64}}
  // expected-warning @+1 {{dimension name 'B' (size 4) is dropped: its elements run along no dimension of shape 8x3x64}}
  %exp = spyre.pointwise exp(%view) : tensor<8x3x64xf16>
  return %exp : tensor<8x3x64xf16>
}

// -----

// A name beside elements without one is told once, and is there again where its dimension is.
// CHECK-LABEL: func.func @a_name_beside_none_is_partial(
// CHECK:         spyre.pointwise exp({{.+}}) : tensor<512xf16>
// CHECK-NEXT:    spyre.pointwise neg({{.+}}) : tensor<512xf16>
// CHECK:         spyre.pointwise abs({{.+}}) {dims = ["A", ""]}
// expected-note @+1 {{'A' comes from here}}
func.func @a_name_beside_none_is_partial(%x: tensor<8x64xf16> {spyre.dims = ["A", ""]}) -> tensor<8x64xf16> {
  %flat = spyre.view %x by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  // expected-warning @+1 {{dimension name 'A' (size 8) is dropped: dimension 0 of shape 512 also has elements without a name}}
  %exp = spyre.pointwise exp(%flat) : tensor<512xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<512xf16>
  %rows = spyre.view %neg by affine_map<(d0, d1) -> (d0 * 64 + d1)> : tensor<512xf16> -> tensor<8x64xf16>
  %abs = spyre.pointwise abs(%rows) : tensor<8x64xf16>
  return %abs : tensor<8x64xf16>
}

// -----

// x @ y wants the last names of x to be the first of y.
// CHECK-LABEL: func.func @other_names_along_the_reduction(
// CHECK:         spyre.matmul({{.+}}) {dims = ["M", "N", "K"]}
// expected-note @+2 {{'K' comes from here}}
// expected-note @+1 {{'L' comes from here}}
func.func @other_names_along_the_reduction(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]}, %y: tensor<256x128xf16> {spyre.dims = ["L", "N"]}) -> tensor<64x128xf16> {
  // expected-warning @+1 {{operands name iteration dimension 2 'K' and 'L'; 'K' is kept}}
  %p = spyre.matmul(%x, %y) : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
  return %p : tensor<64x128xf16>
}

// -----

// The order counts also within a dimension.
// CHECK-LABEL: func.func @reversed_names_disagree(
// CHECK:         spyre.pointwise add({{.+}}) {dims = ["M*K"]}
// expected-note @+2 {{'M*K' comes from here}}
// expected-note @+1 {{'K*M' comes from here}}
func.func @reversed_names_disagree(%x: tensor<512xf16> {spyre.dims = ["M", "K"]}, %y: tensor<512xf16> {spyre.dims = ["K", "M"]}) -> tensor<512xf16>
    attributes {spyre.dim_sizes = {K = 64}} {
  // expected-warning @+1 {{operands name iteration dimension 0 'M*K' and 'K*M'; 'M*K' is kept}}
  %sum = spyre.pointwise add(%x, %y) : tensor<512xf16>
  return %sum : tensor<512xf16>
}

// -----

// CHECK-LABEL: func.func @parts_of_a_buffer_disagree(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["A", "B"]} : tensor<24x64xf16>
// expected-note @+2 {{'C' comes from here}}
// expected-note @+1 {{'D' comes from here}}
func.func @parts_of_a_buffer_disagree(%x: tensor<8x64xf16> {spyre.dims = ["A", "B"]}, %y: tensor<16x64xf16> {spyre.dims = ["C", "D"]}) -> tensor<24x64xf16> {
  %buffer = spyre.empty : tensor<24x64xf16>
  // expected-note @+2 {{'A' comes from here}}
  // expected-note @+1 {{'B' comes from here}}
  %0 = spyre.insert %x into %buffer at [0, 0] : tensor<8x64xf16> into tensor<24x64xf16>
  // expected-warning @+2 {{slices name dimension 0 of the buffer 'A' and 'C'; 'A' is kept}}
  // expected-warning @+1 {{slices name dimension 1 of the buffer 'B' and 'D'; 'B' is kept}}
  %1 = spyre.insert %y into %0 at [8, 0] : tensor<16x64xf16> into tensor<24x64xf16>
  %exp = spyre.pointwise exp(%1) : tensor<24x64xf16>
  return %exp : tensor<24x64xf16>
}

// -----

// CHECK-LABEL: func.func @two_names_in_a_window(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["", "B"]} : tensor<24x64xf16>
// expected-note @+1 {{'A*H' comes from here}}
func.func @two_names_in_a_window(%x: tensor<8x64xf16> {spyre.dims = ["A", "H", "B"]}) -> tensor<24x64xf16> attributes {spyre.dim_sizes = {H = 2, B = 64}} {
  %buffer = spyre.empty : tensor<24x64xf16>
  // expected-warning @+1 {{dimension name 'A*H' is dropped: the op writes 8 of 24 positions of dimension 0}}
  %0 = spyre.insert %x into %buffer at [0, 0] : tensor<8x64xf16> into tensor<24x64xf16>
  %exp = spyre.pointwise exp(%0) : tensor<24x64xf16>
  return %exp : tensor<24x64xf16>
}
