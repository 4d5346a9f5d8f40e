// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-insert-restickify %s

func.func @nothing_has_a_layout(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  // expected-error @+1 {{'spyre.pointwise' op has a result without a device layout; run spyre-propagate-layouts first}}
  %exp = spyre.pointwise exp(%x) : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// -----

// Layouts that propagate-layouts would not choose.
#sparse = #spyre.layout<[64, 1, 64], [1, -1, -1]>
#row = #spyre.layout<[1, 64], [64, 1]>
func.func @sparse_and_dense(%x: tensor<64x1xf16, #sparse>) -> tensor<64xf16, #row> {
  %column = spyre.view %x by affine_map<(d0) -> (d0, 0)> : tensor<64x1xf16, #sparse> -> tensor<64xf16>
  // expected-error @+1 {{'spyre.pointwise' op expected another stick dimension of operand 0 (shape [64, 1]), found one element per stick, and no relayout gathers elements of several sticks into one; transpose or copy the operand}}
  %exp = spyre.pointwise exp(%column) : (tensor<64xf16>) -> tensor<64xf16, #row>
  return %exp : tensor<64xf16, #row>
}

// -----

#x = #spyre.layout<[4, 128, 64], [64, 256, 1]>
#index = #spyre.layout<[1, 32], [32, 1]>
#rows = #spyre.layout<[4, 16, 64], [64, 256, 1]>
func.func @table_inside_its_columns(%x: tensor<128x256xf16, #x>, %index: tensor<16xi64, #index>) -> tensor<16x256xf16, #rows> {
  // expected-error @+1 {{'spyre.gather' op requires another layout of its table: dimension 0 is indexed, but is not the outermost in the device layout; copy the table}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #x>, tensor<16xi64, #index>) -> tensor<16x256xf16, #rows>
  return %rows : tensor<16x256xf16, #rows>
}

// -----

#table = #spyre.layout<[128, 4, 64], [256, 64, 1]>
#columns = #spyre.layout<[1, 192, 32], [6144, 1, 192]>
#rows = #spyre.layout<[192, 4, 3, 64], [256, 64, 49152, 1]>
func.func @index_in_columns(%x: tensor<128x256xf16, #table>, %index: tensor<3x192xi64, #columns>) -> tensor<3x192x256xf16, #rows> {
  // expected-error @+1 {{'spyre.gather' op requires its index tensor in the layout <[6, 3, 32], [32, 192, 1], IEEE_INT32>, found <[1, 192, 32], [6144, 1, 192], IEEE_INT32>; copy the indices}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #table>, tensor<3x192xi64, #columns>) -> tensor<3x192x256xf16, #rows>
  return %rows : tensor<3x192x256xf16, #rows>
}

// -----

#table = #spyre.layout<[512, 2, 1, 64], [128, 64, -1, 1]>
#index = #spyre.layout<[1, 32], [32, 1]>
#rows = #spyre.layout<[2, 16, 64], [64, 128, 1]>
func.func @table_under_other_indices(%x: tensor<1x512x128xf16, #table>, %index: tensor<16xi32, #index>) -> tensor<16x128xf16, #rows> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (0, d0, d1)> : tensor<1x512x128xf16, #table> -> tensor<512x128xf16>
  // expected-error @+1 {{requires another layout of its table: dimension 0 is indexed, but is not the outermost in the device layout; copy the table}}
  %rows = spyre.gather(%view, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32, #index>) -> tensor<16x128xf16, #rows>
  return %rows : tensor<16x128xf16, #rows>
}
