// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-layouts %s

// expected-error @+1 {{'func.func' op argument of f16: only tensors of static shape have a device layout}}
func.func @scalar_argument(%x: f16) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument of tensor<8x64xf128>: expected elements of a device format, found f128; convert them before the export}}
func.func @element_without_a_format(%x: tensor<8x64xf128>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument of tensor<2x2x2x2x2x2x64xf16>: expected at most 6 dimensions, found 7; reshape the tensor}}
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
func.func @result_without_a_format() -> tensor<8x64xf128> {
  // expected-error @+1 {{'spyre.copy' op expected elements of a device format, found f128; convert them before the export}}
  %zero = spyre.fill 0.0 : f128 -> tensor<8x64xf128>
  return %zero : tensor<8x64xf128>
}

// -----

// The rows are split into two device dimensions.
#folded = #spyre.layout<[4, 2, 256, 64], [64, 65536, 256, 1]>
func.func @layout_of_no_simple_form(%x: tensor<512x256xf16, #folded>) -> tensor<512x256xf16> {
  // expected-error @+1 {{'spyre.pointwise' op device dimension 1 (size 2, stride 65536) is neither a host dimension nor the number of its sticks}}
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

func.func @table_without_a_layout(%x: tensor<1x512x128xf16>, %index: tensor<16xi32>) -> tensor<16x128xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (0, d0, d1)> : tensor<1x512x128xf16> -> tensor<512x128xf16>
  // expected-error @+1 {{'spyre.gather' op gathers from a table without a layout; run spyre-layout-gather-tables first}}
  %rows = spyre.gather(%view, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// -----

#sparse = #spyre.layout<[128, 1, 64], [1, -1, -1]>
func.func @elements_one_a_stick(%x: tensor<128x1xf16, #sparse>, %index: tensor<16xi64>) -> tensor<16x1xf16> {
  // expected-error @+1 {{'spyre.gather' op gathers single elements per stick, which is not supported; gather whole rows}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x1xf16, #sparse>, tensor<16xi64>) -> tensor<16x1xf16>
  return %rows : tensor<16x1xf16>
}

// -----

// A matmul result has N as stick dimension.
#on_rows = #spyre.layout<[1, 256, 64], [16384, 1, 256]>
func.func @result_with_m_in_its_sticks(%x: tensor<64x128xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16, #on_rows> {
  // expected-error @+1 {{'spyre.matmul' op expected a result layout with dimension 0 in its sticks, found dimension 1 in its sticks from the op; remove the layout of the result}}
  %product = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16, #on_rows>
  return %product : tensor<64x256xf16, #on_rows>
}

// -----

#table = #spyre.layout<[128, 4, 64], [256, 64, 1]>
#on_rows = #spyre.layout<[1, 256, 64], [16384, 1, 256]>
func.func @result_with_indices_in_its_sticks(%x: tensor<128x256xf16, #table>, %index: tensor<16xi64>) -> tensor<16x256xf16, #on_rows> {
  // expected-error @+1 {{'spyre.gather' op expected a result layout with dimension 0 in its sticks, found dimension 1 in its sticks from the op; remove the layout of the result}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #table>, tensor<16xi64>) -> tensor<16x256xf16, #on_rows>
  return %rows : tensor<16x256xf16, #on_rows>
}

// -----

// Both terms index the same dimension, and overlap.
func.func @overlapping_digits(%x: tensor<5x64xf16>) -> tensor<9x64xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 3 + d0 mod 3, d1)> : tensor<5x64xf16> -> tensor<9x64xf16>
  // expected-error @+1 {{'spyre.pointwise' op cannot read an operand through its views: operand 0, dimension 0: 3 steps of 1 overlap with steps of 1}}
  %exp = spyre.pointwise exp(%view) : tensor<9x64xf16>
  return %exp : tensor<9x64xf16>
}

// -----

// The column is read backwards.
func.func @backwards(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (7 - d0, d1)> : tensor<8x64xf16> -> tensor<8x64xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads through (d0, d1) -> (-d0 + 7, d1): factor -1 is negative: an index cannot run backwards}}
  %exp = spyre.pointwise exp(%view) : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// The device writes complete sticks, so a slice of a buffer with a given layout must not begin or end inside of a stick.
#x_rows = #spyre.layout<[1, 8, 64], [64, 64, 1]>
#rows = #spyre.layout<[2, 8, 64], [64, 128, 1]>
func.func @part_that_begins_inside_a_stick(%x: tensor<8x64xf16, #x_rows>) -> tensor<8x128xf16, #rows> {
  %buffer = spyre.empty : tensor<8x128xf16, #rows>
  // expected-error @+1 {{'spyre.insert' op expected a slice of whole sticks (64 elements), found elements 32 to 95 of dimension 1 of size 128; align both ends to multiples of 64}}
  %0 = spyre.insert %x into %buffer at [0, 32] : tensor<8x64xf16, #x_rows> into tensor<8x128xf16, #rows>
  return %0 : tensor<8x128xf16, #rows>
}

// -----

// If a stick has elements of two slices, the lanes of the second slice are not even aligned.
#rows = #spyre.layout<[1, 8, 64], [64, 64, 1]>
func.func @part_of_one_stick(%x: tensor<8x16xf16>) -> tensor<8x64xf16, #rows> {
  %buffer = spyre.empty : tensor<8x64xf16, #rows>
  // expected-error @+1 {{'spyre.insert' op expected a slice of whole sticks (64 elements), found elements 48 to 63 of dimension 1 of size 64; align both ends to multiples of 64}}
  %0 = spyre.insert %x into %buffer at [0, 48] : tensor<8x16xf16> into tensor<8x64xf16, #rows>
  return %0 : tensor<8x64xf16, #rows>
}

// -----

// Which dimension that is depends on the layout of the buffer.
#on_rows = #spyre.layout<[2, 64, 64], [4096, 1, 64]>
func.func @part_of_the_sticks_of_rows(%x: tensor<8x64xf16>) -> tensor<128x64xf16, #on_rows> {
  %buffer = spyre.empty : tensor<128x64xf16, #on_rows>
  // expected-error @+1 {{'spyre.insert' op expected a slice of whole sticks (64 elements), found elements 8 to 15 of dimension 0 of size 128; align both ends to multiples of 64}}
  %0 = spyre.insert %x into %buffer at [8, 0] : tensor<8x64xf16> into tensor<128x64xf16, #on_rows>
  return %0 : tensor<128x64xf16, #on_rows>
}

// -----

// A returned view whose indices carry into the next dimension is copied like other views, but the copy cannot read it either.
func.func @returned_across_rows(%x: tensor<24x12x16xf16>) -> tensor<24x65xf16> {
  %0 = spyre.pointwise neg(%x) : tensor<24x12x16xf16>
  %1 = spyre.view %0 by affine_map<(d0, d1) -> (d0, (d1 + 19) floordiv 16, (d1 + 19) mod 16)> : tensor<24x12x16xf16> -> tensor<24x65xf16>
  // expected-error @+1 {{'spyre.copy' op reads through (d0, d1) -> (d0, (d1 + 19) floordiv 16, (d1 + 19) mod 16): the terms below divisor 16 reach}}
  return %1 : tensor<24x65xf16>
}

// -----

// One operand has one element per stick, the other 64: a relayout between the two would need more dimensions than an op has.
#sparse = #spyre.layout<[2, 3, 2, 3, 64, 1, 64], [1152, 384, 192, 64, 1, -1, -1]>
func.func @sparse_and_dense(%x: tensor<2x3x2x3x64x1xf16, #sparse>, %y: tensor<64x5xf16>) -> tensor<2x3x2x3x1x5xf16> {
  %row = spyre.view %x by affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5, d4)> : tensor<2x3x2x3x64x1xf16, #sparse> -> tensor<2x3x2x3x1x64xf16>
  %all = spyre.view %y by affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)> : tensor<64x5xf16> -> tensor<2x3x2x3x64x5xf16>
  // expected-error @+1 {{'spyre.matmul' op expected another stick dimension of operand 0 (shape [2, 2, 3, 2, 3, 64]), found dimension 0 in its sticks, and no relayout gathers elements of several sticks into one; transpose or copy the operand}}
  %sum = spyre.matmul(%row, %all) : (tensor<2x3x2x3x1x64xf16>, tensor<2x3x2x3x64x5xf16>) -> tensor<2x3x2x3x1x5xf16>
  return %sum : tensor<2x3x2x3x1x5xf16>
}

// -----

// Padding positions would be read as elements.
func.func @empty_positions(%x: tensor<64x64xf16>) -> tensor<64x1xf16, #spyre.layout<[1000, 64, 64], [-1, 1, -1]>> {
  // expected-error @+1 {{device dimension 0 (size 1000, stride -1) is neither a host dimension nor the number of its sticks}}
  %y = spyre.reduce sum(%x) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16, #spyre.layout<[1000, 64, 64], [-1, 1, -1]>>
  return %y : tensor<64x1xf16, #spyre.layout<[1000, 64, 64], [-1, 1, -1]>>
}
