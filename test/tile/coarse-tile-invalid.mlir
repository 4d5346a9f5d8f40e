// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-coarse-tile %s

func.func @count_that_does_not_divide(%x: tensor<1024x64xf16>) -> tensor<1024x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op cannot cut 'A' of 1024 into 3 tiles of equal size}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 3>]} : tensor<1024x64xf16>
  return %exp : tensor<1024x64xf16>
}

// -----

// 12 rows make 4 tiles of 3; a second cut finds 3 rows.
func.func @second_cut_that_does_not_divide(%x: tensor<12x64xf16>) -> tensor<12x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op cannot cut 'A' of 3 into 2 tiles of equal size}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, A = 2>]} : tensor<12x64xf16>
  return %exp : tensor<12x64xf16>
}

// -----

// The op that cannot be cut is named, not the first of the group.
func.func @later_op_that_cannot_be_cut(%x: tensor<8x64xf16>, %y: tensor<9x64xf16>) -> (tensor<8x64xf16>, tensor<9x64xf16>) {
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  // expected-error @+1 {{'spyre.pointwise' op cannot cut 'A' of 9 into 2 tiles of equal size}}
  %neg = spyre.pointwise neg(%y) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<9x64xf16>
  return %exp, %neg : tensor<8x64xf16>, tensor<9x64xf16>
}

// -----

func.func @reduced_dim(%x: tensor<8x64xf16>) -> tensor<8x1xf16> {
  // expected-error @+1 {{'spyre.reduce' op cannot cut 'B', which the op reduces: tiling a reduction is not supported yet}}
  %sum = spyre.reduce sum(%x) dims [1] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 2>]} : tensor<8x64xf16> -> tensor<8x1xf16>
  return %sum : tensor<8x1xf16>
}

// -----

func.func @contracted_dim(%x: tensor<8x128xf16>, %y: tensor<128x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.matmul' op cannot cut 'K', which the op reduces: tiling a reduction is not supported yet}}
  %product = spyre.matmul(%x, %y) {dims = ["M", "N", "K"], hints = [#spyre.tile_hint<0, K = 2>]} : (tensor<8x128xf16>, tensor<128x64xf16>) -> tensor<8x64xf16>
  return %product : tensor<8x64xf16>
}

// -----

func.func @name_that_no_op_has(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op is to be tiled along 'C', but no op of its group has a dimension of that name}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, C = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// Without names nothing can be cut.
func.func @dims_without_names(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op is to be tiled along 'A', but no op of its group has a dimension of that name}}
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// The rows of the exponential are made two by two; the product contracts all of them.
func.func @reader_that_needs_all_tiles(%weights: tensor<4x8xf16>, %x: tensor<8x64xf16>) -> tensor<4x64xf16> {
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x64xf16>
  // expected-error @+1 {{'spyre.matmul' op reads operand 1 whole or along another dimension, but it is made tile by tile in the same loop}}
  %product = spyre.matmul(%weights, %exp) {dims = ["C", "B", ""], hints = [#spyre.tile_hint<0, A = 4>]} : (tensor<4x8xf16>, tensor<8x64xf16>) -> tensor<4x64xf16>
  return %product : tensor<4x64xf16>
}

// -----

func.func @reader_that_cuts_another_dim(%x: tensor<8x8xf16>, %y: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x8xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads operand 0 whole or along another dimension, but it is made tile by tile in the same loop}}
  %sum = spyre.pointwise add(%exp, %y) {dims = ["B", "A"], hints = [#spyre.tile_hint<0, A = 4>]} : tensor<8x8xf16>
  return %sum : tensor<8x8xf16>
}

// -----

// Every iteration would write the whole row.
func.func @result_without_the_dim(%x: tensor<8x64xf16>, %row: tensor<1x64xf16>) -> (tensor<8x64xf16>, tensor<1x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op has no dimension 'A', so every iteration makes the same result, but it is used outside the loop: not supported yet}}
  %exp = spyre.pointwise exp(%row) {dims = ["", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1x64xf16>
  %sum = spyre.pointwise add(%x, %exp) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<8x64xf16>, tensor<1x64xf16>) -> tensor<8x64xf16>
  // expected-note @+1 {{used here}}
  return %sum, %exp : tensor<8x64xf16>, tensor<1x64xf16>
}

// -----

func.func @operand_behind_a_view(%x: tensor<64x8xf16>) -> tensor<8x64xf16> {
  %transposed = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x8xf16> -> tensor<8x64xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads a tensor under other indices in a tiled group: not supported yet}}
  %exp = spyre.pointwise exp(%transposed) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

func.func @operand_behind_a_reshape(%x: tensor<8x64xf16>) -> tensor<512xf16> {
  %flat = spyre.view %x by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads through (d0) -> (d0 floordiv 64, d0 mod 64): only permuted, shifted, added or dropped dimensions are supported here}}
  %exp = spyre.pointwise exp(%flat) {dims = ["A"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<512xf16>
  return %exp : tensor<512xf16>
}

// -----

#rows = #spyre.layout<[2, 8, 64], [64, 128, 1]>
func.func @tile_that_ends_inside_a_stick(%x: tensor<8x128xf16, #rows>) -> tensor<8x128xf16, #rows> {
  // expected-error @+1 {{'spyre.pointwise' op 32 elements along dimension 1 cut a stick of 64}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 4>]} : tensor<8x128xf16, #rows>
  return %exp : tensor<8x128xf16, #rows>
}

// -----

func.func @tensors_without_layouts(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op has an operand without a device layout}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// The device dimensions are not those of the tensor.
#folded = #spyre.layout<[4, 2, 4, 64], [64, 1024, 256, 1]>
func.func @layout_of_no_simple_form(%x: tensor<8x256xf16, #folded>) -> tensor<8x256xf16, #folded> {
  // expected-error @+1 {{'spyre.pointwise' op device dimension 1 (size 2, stride 1024) is no host dimension and no stick count of one}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x256xf16, #folded>
  return %exp : tensor<8x256xf16, #folded>
}

// -----

func.func @name_of_two_dimensions(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op has two dimensions 'A', so a tile count for it has no one meaning}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "A"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

func.func @part_of_a_buffer(%x: tensor<32x64xf16>) -> tensor<64x64xf16> {
  %buffer = spyre.empty : tensor<64x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes a part of a buffer in a tiled group: not supported yet}}
  %0 = spyre.insert %x into %buffer at [0, 0] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16> into tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
