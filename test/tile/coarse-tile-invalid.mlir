// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-coarse-tile %s

func.func @count_that_does_not_divide(%x: tensor<1024x64xf16>) -> tensor<1024x64xf16> {
  // expected-error @+1 {{tile count 3 does not divide dimension 'A' of size 1024; nearest divisors are 2 and 4}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 3>]} : tensor<1024x64xf16>
  return %exp : tensor<1024x64xf16>
}

// -----

// 12 rows make 4 tiles of 3; a second cut finds 3 rows.
func.func @second_cut_that_does_not_divide(%x: tensor<12x64xf16>) -> tensor<12x64xf16> {
  // expected-error @+1 {{tile count 2 does not divide dimension 'A' of size 3; nearest divisors are 1 and 3}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, A = 2>]} : tensor<12x64xf16>
  return %exp : tensor<12x64xf16>
}

// -----

// The op that cannot be cut is named, not the first of the group.
func.func @later_op_that_cannot_be_cut(%x: tensor<8x64xf16>, %y: tensor<9x64xf16>) -> (tensor<8x64xf16>, tensor<9x64xf16>) {
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  // expected-error @+1 {{tile count 2 does not divide dimension 'A' of size 9; nearest divisors are 1 and 3}}
  %neg = spyre.pointwise neg(%y) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<9x64xf16>
  return %exp, %neg : tensor<8x64xf16>, tensor<9x64xf16>
}

// -----

func.func @name_that_no_op_has(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{no op in the hint scope has a dimension 'C' for 2 tiles; known dimensions are 'A' and 'B'}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, C = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// Without names nothing can be cut.
func.func @dims_without_names(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{no op in the hint scope has a dimension 'A' for 2 tiles; no dimension has a name, give names with --dims}}
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
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
  // expected-error @+1 {{tiles of 'B' must be whole sticks (64 elements), found 32 elements; use at most 2 tiles}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 4>]} : tensor<8x128xf16, #rows>
  return %exp : tensor<8x128xf16, #rows>
}

// -----

func.func @tensors_without_layouts(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{has an operand without a device layout}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// The device dimensions are not those of the tensor.
#folded = #spyre.layout<[4, 2, 4, 64], [64, 1024, 256, 1]>
func.func @layout_of_no_simple_form(%x: tensor<8x256xf16, #folded>) -> tensor<8x256xf16, #folded> {
  // expected-error @+1 {{tiles of 'A' have no device layout: device dimension 1 (size 2, stride 1024) is neither a host dimension nor the number of its sticks; leave 'A' whole}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x256xf16, #folded>
  return %exp : tensor<8x256xf16, #folded>
}

// -----

func.func @name_of_two_dimensions(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{expected one dimension 'A' for 2 tiles, found iteration dimensions 0 and 1; tile another dimension, or pass the tensor as two arguments}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "A"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// 64 elements are 4 of C with 16 of D each: tiles of D alone lie apart.
func.func @inner_name_of_a_dimension(%x: tensor<64xf16>) -> tensor<64xf16> attributes {spyre.dim_sizes = {C = 4 : i64, D = 16 : i64}} {
  // expected-error @+1 {{expected an outermost name for 2 tiles, found inner name 'D' of 'C*D' (64 elements); tile 'C' to single positions first}}
  %exp = spyre.pointwise exp(%x) {dims = ["C*D"], hints = [#spyre.tile_hint<0, D = 2>]} : tensor<64xf16>
  return %exp : tensor<64xf16>
}

// -----

// The outer level leaves 2 of the 4 positions of C in each tile.
func.func @inner_name_of_a_dimension_that_is_cut(%x: tensor<64xf16>) -> tensor<64xf16> attributes {spyre.dim_sizes = {C = 4 : i64, D = 16 : i64}} {
  // expected-error @+1 {{expected an outermost name for 2 tiles, found inner name 'D' of 'C*D' (32 elements); tile 'C' to single positions first}}
  %exp = spyre.pointwise exp(%x) {dims = ["C*D"], hints = [#spyre.tile_hint<0, C = 2>, #spyre.tile_hint<1, D = 2>]} : tensor<64xf16>
  return %exp : tensor<64xf16>
}

// -----

// 8 tiles of the 64 elements would be even, but not of the 4 positions.
func.func @one_of_several_names_that_does_not_divide(%x: tensor<64xf16>) -> tensor<64xf16> attributes {spyre.dim_sizes = {C = 4 : i64, D = 16 : i64}} {
  // expected-error @+1 {{tile count 8 does not divide dimension 'C' of size 4; use at most 4 tiles}}
  %exp = spyre.pointwise exp(%x) {dims = ["C*D"], hints = [#spyre.tile_hint<0, C = 8>]} : tensor<64xf16>
  return %exp : tensor<64xf16>
}

// -----

func.func @names_without_sizes(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error @+1 {{size of 'C' of 'C*D' is unknown, found 2 tiles; declare the size in 'spyre.dim_sizes'}}
  %exp = spyre.pointwise exp(%x) {dims = ["C*D"], hints = [#spyre.tile_hint<0, C = 2>]} : tensor<64xf16>
  return %exp : tensor<64xf16>
}

// -----

// Even one tile, if nothing has the name.
func.func @one_tile_of_a_name_that_no_op_has(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{no op in the hint scope has a dimension 'C' for 1 tiles; known dimensions are 'A' and 'B'}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, C = 1>]} : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

#wide = #spyre.layout<[4, 8, 64], [64, 256, 1]>
// Two levels cut one dimension: the message has the tiles of both.
func.func @stick_that_two_levels_cut(%x: tensor<8x256xf16, #wide>) -> tensor<8x256xf16, #wide> {
  // expected-error @+1 {{tiles of 'B' must be whole sticks (64 elements), found 32 elements; use at most 4 tiles}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<8x256xf16, #wide>
  return %exp : tensor<8x256xf16, #wide>
}

// -----

// The operand has its sticks along A, only the result has them along B.
#rows = #spyre.layout<[2, 64, 64], [64, 128, 1]>
#columns = #spyre.layout<[1, 128, 64], [8192, 1, 128]>
func.func @stick_of_the_result(%x: tensor<64x128xf16, #columns>) -> tensor<64x128xf16, #rows> {
  // expected-error @+1 {{tiles of 'B' must be whole sticks (64 elements), found 32 elements; use at most 2 tiles}}
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 4>]} : (tensor<64x128xf16, #columns>) -> tensor<64x128xf16, #rows>
  return %exp : tensor<64x128xf16, #rows>
}
