// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-layouts --spyre-insert-restickify %s
// RUN: not spyre-opt --split-input-file --spyre-insert-restickify %s 2>&1 | FileCheck %s --check-prefix=NO-LAYOUT

func.func @transposed_addend(%x: tensor<128x256xf16>, %y: tensor<256x128xf16>) -> tensor<128x256xf16> {
  %transposed = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  // NO-LAYOUT: insert-restickify-invalid.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'spyre.pointwise' op has an operand without a device layout
  // expected-error @+1 {{'spyre.pointwise' op needs a restickify, which is not supported yet: operand 1 has c0 in its sticks, another has c1}}
  %sum = spyre.pointwise add(%x, %transposed) : tensor<128x256xf16>
  return %sum : tensor<128x256xf16>
}

// -----

// The sums of rows stand one a stick, but the result has them side by side in its sticks.
func.func @transposed_column(%x: tensor<256x64xf16>, %y: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %sums = spyre.reduce sum(%x) dims [1] : tensor<256x64xf16> -> tensor<256x1xf16>
  %row = spyre.view %sums by affine_map<(d0, d1) -> (d1, 0)> : tensor<256x1xf16> -> tensor<1x256xf16>
  // expected-error @+1 {{'spyre.pointwise' op needs a restickify, which is not supported yet: operand 1 steps over sticks with c1, the dimension inside the sticks of the op}}
  %difference = spyre.pointwise sub(%y, %row) : (tensor<128x256xf16>, tensor<1x256xf16>) -> tensor<128x256xf16>
  return %difference : tensor<128x256xf16>
}

// -----

#on_rows = #spyre.layout<[2, 256, 64], [16384, 1, 256]>
#rows = #spyre.layout<[4, 128, 64], [64, 256, 1]>
func.func @copy_that_moves_the_stick(%x: tensor<128x256xf16, #on_rows>) -> tensor<128x256xf16, #rows> {
  // expected-error @+1 {{'spyre.copy' op needs a restickify, which is not supported yet: operand 1 has c1 in its sticks, another has c0}}
  %copy = spyre.copy %x : tensor<128x256xf16, #on_rows> -> tensor<128x256xf16, #rows>
  return %copy : tensor<128x256xf16, #rows>
}

// -----

func.func @left_operand_with_m_in_its_sticks(%x: tensor<128x64xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16> {
  %transposed = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x64xf16> -> tensor<64x128xf16>
  // expected-error @+1 {{'spyre.matmul' op needs a restickify, which is not supported yet: the left operand must have K in its sticks}}
  %product = spyre.matmul(%transposed, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  return %product : tensor<64x256xf16>
}

// -----

func.func @right_operand_with_k_in_its_sticks(%x: tensor<64x128xf16>, %y: tensor<256x128xf16>) -> tensor<64x256xf16> {
  %transposed = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  // expected-error @+1 {{'spyre.matmul' op needs a restickify, which is not supported yet: the right operand must have N in its sticks}}
  %product = spyre.matmul(%x, %transposed) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  return %product : tensor<64x256xf16>
}

// -----

#on_rows = #spyre.layout<[1, 256, 64], [16384, 1, 256]>
func.func @result_with_m_in_its_sticks(%x: tensor<64x128xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16, #on_rows> {
  // expected-error @+1 {{'spyre.matmul' op needs a restickify, which is not supported yet: the result must have N in its sticks}}
  %product = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16, #on_rows>
  return %product : tensor<64x256xf16, #on_rows>
}

// -----

func.func @table_inside_its_columns(%x: tensor<128x256xf16>, %index: tensor<16xi64>) -> tensor<16x256xf16> {
  // expected-error @+1 {{'spyre.gather' op needs another layout of its table: dimension 0 is indexed, but is not the outermost in the device layout}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16>, tensor<16xi64>) -> tensor<16x256xf16>
  return %rows : tensor<16x256xf16>
}

// -----

#table = #spyre.layout<[128, 4, 64], [256, 64, 1]>
#columns = #spyre.layout<[1, 192, 32], [6144, 1, 192]>
func.func @index_in_columns(%x: tensor<128x256xf16, #table>, %index: tensor<3x192xi64, #columns>) -> tensor<3x192x256xf16> {
  // expected-error @+1 {{'spyre.gather' op needs its index tensor in the layout <[6, 3, 32], [32, 192, 1], IEEE_INT32>, found <[1, 192, 32], [6144, 1, 192], IEEE_INT32>}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #table>, tensor<3x192xi64, #columns>) -> tensor<3x192x256xf16>
  return %rows : tensor<3x192x256xf16>
}

// -----

#table = #spyre.layout<[128, 4, 64], [256, 64, 1]>
#on_rows = #spyre.layout<[1, 256, 64], [16384, 1, 256]>
func.func @result_with_indices_in_its_sticks(%x: tensor<128x256xf16, #table>, %index: tensor<16xi64>) -> tensor<16x256xf16, #on_rows> {
  // expected-error @+1 {{'spyre.gather' op needs a restickify, which is not supported yet: operand 1 has c0 in its sticks, another has c1}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #table>, tensor<16xi64>) -> tensor<16x256xf16, #on_rows>
  return %rows : tensor<16x256xf16, #on_rows>
}

// -----

#sparse = #spyre.layout<[128, 1, 64], [1, -1, -1]>
func.func @elements_one_a_stick(%x: tensor<128x1xf16, #sparse>, %index: tensor<16xi64>) -> tensor<16x1xf16> {
  // expected-error @+1 {{'spyre.gather' op gathers elements one a stick: not supported yet}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x1xf16, #sparse>, tensor<16xi64>) -> tensor<16x1xf16>
  return %rows : tensor<16x1xf16>
}

// -----

#on_rows = #spyre.layout<[2, 64, 64], [4096, 1, 64]>
func.func @part_with_its_stick_elsewhere(%x: tensor<128x64xf16, #on_rows>) -> tensor<128x128xf16> {
  %buffer = spyre.empty : tensor<128x128xf16>
  // expected-error @+1 {{'spyre.insert' op needs a restickify, which is not supported yet: operand 1 has c1 in its sticks, another has c0}}
  %0 = spyre.insert %x into %buffer at [0, 64] : tensor<128x64xf16, #on_rows> into tensor<128x128xf16>
  return %0 : tensor<128x128xf16>
}

// -----

func.func @part_that_begins_inside_a_stick(%x: tensor<8x64xf16>) -> tensor<8x128xf16> {
  %buffer = spyre.empty : tensor<8x128xf16>
  // expected-error @+1 {{'spyre.insert' op writes elements 32 to 95 of dimension 1, which has 128: the device writes whole sticks, so a part begins at a multiple of 64 and ends at one, or with the dimension}}
  %0 = spyre.insert %x into %buffer at [0, 32] : tensor<8x64xf16> into tensor<8x128xf16>
  return %0 : tensor<8x128xf16>
}

// -----

func.func @part_that_ends_inside_a_stick(%x: tensor<8x36xf16>) -> tensor<8x100xf16> {
  %buffer = spyre.empty : tensor<8x100xf16>
  // expected-error @+1 {{'spyre.insert' op writes elements 0 to 35 of dimension 1, which has 100: the device writes whole sticks}}
  %0 = spyre.insert %x into %buffer at [0, 0] : tensor<8x36xf16> into tensor<8x100xf16>
  return %0 : tensor<8x100xf16>
}

// -----

// In one stick of which another part has the rest, the lanes do not even line up.
func.func @part_of_one_stick(%x: tensor<8x16xf16>) -> tensor<8x64xf16> {
  %buffer = spyre.empty : tensor<8x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes elements 48 to 63 of dimension 1, which has 64: the device writes whole sticks}}
  %0 = spyre.insert %x into %buffer at [0, 48] : tensor<8x16xf16> into tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// -----

// Which dimension that is depends on the layout of the buffer.
#on_rows = #spyre.layout<[2, 64, 64], [4096, 1, 64]>
func.func @part_of_the_sticks_of_rows(%x: tensor<8x64xf16>) -> tensor<128x64xf16, #on_rows> {
  %buffer = spyre.empty : tensor<128x64xf16, #on_rows>
  // expected-error @+1 {{'spyre.insert' op writes elements 8 to 15 of dimension 0, which has 128: the device writes whole sticks}}
  %0 = spyre.insert %x into %buffer at [8, 0] : tensor<8x64xf16> into tensor<128x64xf16, #on_rows>
  return %0 : tensor<128x64xf16, #on_rows>
}
