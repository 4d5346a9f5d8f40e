// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-layouts %s

// expected-error @+1 {{'func.func' op argument of f16: only tensors of static shape have a device layout}}
func.func @scalar_argument(%x: f16) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument of tensor<8x64xf64>: has elements of f64, for which the device has no format}}
func.func @element_without_a_format(%x: tensor<8x64xf64>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument of tensor<2x2x2x2x2x2x64xf16>: 7 host dimensions are more than the 6 that a device layout can hold}}
func.func @too_many_dims(%x: tensor<2x2x2x2x2x2x64xf16>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument of tensor<0x64xf16>: size 0 of dimension 0 is not positive}}
func.func @empty_tensor(%x: tensor<0x64xf16>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument of tensor<4294967296x4294967296xf16>: the tensor is too large: its size does not fit in 64 bits}}
func.func @huge_tensor(%x: tensor<4294967296x4294967296xf16>) {
  return
}

// -----

// The rules for arguments hold for results.
func.func @result_without_a_format() -> tensor<8x64xf64> {
  // expected-error @+1 {{'spyre.constant' op has elements of f64, for which the device has no format}}
  %zero = spyre.fill 0.0 : f64 -> tensor<8x64xf64>
  return %zero : tensor<8x64xf64>
}

// -----

func.func @reshape(%x: tensor<8x64xf16>) -> tensor<512xf16> {
  %flat = spyre.view %x by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads through (d0) -> (d0 floordiv 64, d0 mod 64): only permuted, shifted, added or dropped dimensions are supported here}}
  %exp = spyre.pointwise exp(%flat) : tensor<512xf16>
  return %exp : tensor<512xf16>
}

// -----

// The rows are cut in two device dimensions.
#folded = #spyre.layout<[4, 2, 256, 64], [64, 65536, 256, 1]>
func.func @layout_of_no_simple_form(%x: tensor<512x256xf16, #folded>) -> tensor<512x256xf16> {
  // expected-error @+1 {{'spyre.pointwise' op device dimension 1 (size 2, stride 65536) is no host dimension and no stick count of one}}
  %exp = spyre.pointwise exp(%x) : (tensor<512x256xf16, #folded>) -> tensor<512x256xf16>
  return %exp : tensor<512x256xf16>
}

// -----

#one_row = #spyre.layout<[4, 64], [64, 1]>
func.func @layout_without_the_rows(%x: tensor<512x256xf16, #one_row>) -> tensor<512x256xf16> {
  // expected-error @+1 {{'spyre.pointwise' op host dimension 0 of size 512 is not in the device layout}}
  %exp = spyre.pointwise exp(%x) : (tensor<512x256xf16, #one_row>) -> tensor<512x256xf16>
  return %exp : tensor<512x256xf16>
}

// -----

// A result under other indices is a copy, and a copy keeps the stick.
func.func @returned_view(%x: tensor<8x64xf16>) -> tensor<512xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  %flat = spyre.view %exp by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  // expected-error @+1 {{'func.return' op result 0 needs a copy, which reads through (d0) -> (d0 floordiv 64, d0 mod 64): only permuted, shifted, added or dropped dimensions are supported here}}
  return %flat : tensor<512xf16>
}

// -----

// N is what a product has in its sticks.
func.func @product_of_one_column(%x: tensor<64x128xf16>, %y: tensor<128x1xf16>) -> tensor<64x1xf16> {
  // expected-error @+1 {{'spyre.matmul' op makes one column, which leaves its sticks without a dimension: not supported yet}}
  %z = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x1xf16>) -> tensor<64x1xf16>
  return %z : tensor<64x1xf16>
}

// -----

func.func @table_under_other_indices(%x: tensor<1x512x128xf16>, %index: tensor<16xi32>) -> tensor<16x128xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (0, d0, d1)> : tensor<1x512x128xf16> -> tensor<512x128xf16>
  // expected-error @+1 {{'spyre.gather' op gathers from a tensor under other indices: lay out tables first}}
  %rows = spyre.gather(%view, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// -----

func.func @buffer_without_a_format() {
  // expected-error @+1 {{'spyre.empty' op has elements of f64, for which the device has no format}}
  %buffer = spyre.empty : tensor<8x64xf64>
  return
}
