// RUN: spyre-opt --spyre-propagate-layouts --spyre-insert-restickify --spyre-split-views --spyre-propagate-dims --spyre-coarse-tile %s | FileCheck %s

// CHECK-DAG: #[[TRANSPOSED:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[SHIFTED:map[0-9]*]] = affine_map<(d0, d1) -> (d0 + 64, d1)>
// CHECK-DAG: #[[ROWS:layout[0-9]*]] = #spyre.layout<[2, 256, 64], [64, 128, 1]>{{$}}
// CHECK-DAG: #[[ROWS_TILE:layout[0-9]*]] = #spyre.layout<[2, 128, 64], [64, 128, 1]>{{$}}
// CHECK-DAG: #[[COLUMNS_WINDOW:layout[0-9]*]] = #spyre.layout<[2, 256, 64], [16384, 1, 256], of = [128, 256]>

// A view of an argument stays before the loop, which reads tiles of the view: it is a transposition.
// CHECK-LABEL: func.func @the_view_of_an_argument_is_cut(
// CHECK-SAME:    [[X:%[^:]+]]: tensor<256x128xf16, #[[ROWS]]>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by #[[TRANSPOSED]]
// CHECK-NEXT:    spyre.loop 2 "A" tiled([[VIEW0:%.+]] = [[VIEW]][1] : tensor<128x256xf16>) {
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp([[VIEW0]]) {dims = ["B", "A"]} : (tensor<128x128xf16>) -> tensor<128x128xf16, #[[COLUMNS_WINDOW]]>
// CHECK-NEXT:      spyre.yield [[EXP]][1]
func.func @the_view_of_an_argument_is_cut(%x: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %exp = spyre.pointwise exp(%view) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// The loop computes a tile of rows, so the view of this tile is a tile of columns; the view of the complete value is erased.
// CHECK-LABEL: func.func @the_view_of_a_tile_has_its_size(
// CHECK-NEXT:    spyre.loop 2 "A" tiled([[X0:%.+]] = {{%.+}}[0] : tensor<256x128xf16, #[[ROWS]]>) {
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg([[X0]]) {{.+}} -> tensor<128x128xf16, #[[ROWS_TILE]]>
// CHECK-NEXT:      [[VIEW:%.+]] = spyre.view [[NEG]] by #[[TRANSPOSED]] : tensor<128x128xf16, #[[ROWS_TILE]]> -> tensor<128x128xf16>
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp([[VIEW]]) {dims = ["B", "A"]} : {{.+}} -> tensor<128x128xf16, #[[COLUMNS_WINDOW]]>
// CHECK-NEXT:      spyre.yield [[EXP]][1]
// CHECK-NOT:     spyre.view
// CHECK:         return
func.func @the_view_of_a_tile_has_its_size(%x: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %neg = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<256x128xf16>
  %view = spyre.view %neg by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %exp = spyre.pointwise exp(%view) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// Two ops read the same view of a tile.
// CHECK-LABEL: func.func @one_view_serves_all_readers(
// CHECK:           [[VIEW:%.+]] = spyre.view
// CHECK-NEXT:      spyre.pointwise exp([[VIEW]])
// CHECK-NEXT:      spyre.pointwise abs([[VIEW]])
func.func @one_view_serves_all_readers(%x: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> (tensor<128x256xf16>, tensor<128x256xf16>) {
  %neg = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<256x128xf16>
  %view = spyre.view %neg by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %exp = spyre.pointwise exp(%view) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<128x256xf16>
  %abs = spyre.pointwise abs(%view) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<128x256xf16>
  return %exp, %abs : tensor<128x256xf16>, tensor<128x256xf16>
}

// Rows 64 to 191 of the tile of columns.
// CHECK-LABEL: func.func @a_slice_across_the_tiles(
// CHECK:         spyre.loop 2 "B"
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg(
// CHECK-NEXT:      [[VIEW:%.+]] = spyre.view [[NEG]] by #[[SHIFTED]] : tensor<256x64xf16, {{.+}}> -> tensor<128x64xf16>
// CHECK-NEXT:      spyre.pointwise exp([[VIEW]])
func.func @a_slice_across_the_tiles(%x: tensor<256x128xf16> {spyre.dims = ["", "B"]}) -> tensor<128x128xf16> {
  %neg = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, B = 2>]} : tensor<256x128xf16>
  %view = spyre.view %neg by affine_map<(d0, d1) -> (d0 + 64, d1)> : tensor<256x128xf16> -> tensor<128x128xf16>
  %exp = spyre.pointwise exp(%view) {hints = [#spyre.tile_hint<0, B = 2>]} : tensor<128x128xf16>
  return %exp : tensor<128x128xf16>
}

// Half of the rows are no tile: the slice requires the complete value, and its rows have another name.
// CHECK-LABEL: func.func @a_slice_of_what_is_cut_parts_the_loop(
// CHECK:         [[NEG:%.+]] = spyre.loop 2 "A"
// CHECK:         [[VIEW:%.+]] = spyre.view [[NEG]] by #[[SHIFTED]]
// CHECK-NEXT:    spyre.loop 2 "A" tiled({{%.+}} = [[VIEW]][0] : tensor<128x128xf16>, {{.+}}) {
// CHECK-NEXT:      spyre.pointwise add(
func.func @a_slice_of_what_is_cut_parts_the_loop(%x: tensor<256x128xf16>, %y: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %neg = spyre.pointwise neg(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<256x128xf16>
  %view = spyre.view %neg by affine_map<(d0, d1) -> (d0 + 64, d1)> : tensor<256x128xf16> -> tensor<128x128xf16>
  %sum = spyre.pointwise add(%view, %y) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<128x128xf16>
  return %sum : tensor<128x128xf16>
}

// Dimensions are merged and split by the layout phase; rows of A are tiled in both shapes.
// CHECK-LABEL: func.func @a_reshape_that_keeps_the_rows(
// CHECK:         [[TILES:%.+]] = spyre.loop 2 "A" tiled([[X0:%.+]] = {{%.+}}[0] : {{.+}}) {
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg([[X0]]) {{.+}} -> tensor<2x16x64xf16,
// CHECK-NEXT:      [[VIEW:%.+]] = spyre.view [[NEG]]
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp([[VIEW]]) {dims = ["A", "B", "C"]} : {{.+}} -> tensor<2x16x64xf16,
// CHECK-NEXT:      spyre.yield [[EXP]][0]
// CHECK:         [[VIEW:%.+]] = spyre.view [[TILES]] by {{#.+}} : tensor<4x16x64xf16, {{#.+}}> -> tensor<64x64xf16,
// CHECK-NEXT:    return [[VIEW]]
func.func @a_reshape_that_keeps_the_rows(%x: tensor<4x16x64xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<64x64xf16> {
  %neg = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<4x16x64xf16>
  %view = spyre.view %neg by affine_map<(d0, d1) -> (d0 floordiv 16, d0 mod 16, d1)> : tensor<4x16x64xf16> -> tensor<64x64xf16>
  %exp = spyre.pointwise exp(%view) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<64x64xf16>
  return %exp : tensor<64x64xf16>
}

// After the loop, the view is of the result of the loop.
// CHECK-LABEL: func.func @the_view_of_a_whole_value_is_behind_the_loop(
// CHECK-NEXT:    [[NEG:%.+]] = spyre.loop 2 "A"
// CHECK:         [[VIEW:%.+]] = spyre.view [[NEG]] by #[[TRANSPOSED]]
// CHECK-NEXT:    spyre.pointwise exp([[VIEW]])
func.func @the_view_of_a_whole_value_is_behind_the_loop(%x: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %neg = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<256x128xf16>
  %view = spyre.view %neg by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %exp = spyre.pointwise exp(%view) : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// A tile of a view of a value that is defined before the loop.
// CHECK-LABEL: func.func @a_tile_of_a_view(
// CHECK:         [[NEG:%.+]] = spyre.pointwise neg(
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[NEG]]
// CHECK-NEXT:    spyre.loop 2 "A" tiled([[VIEW0:%.+]] = [[VIEW]][1] : tensor<128x256xf16>) {
// CHECK-NEXT:      spyre.pointwise exp([[VIEW0]])
func.func @a_tile_of_a_view(%x: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %neg = spyre.pointwise neg(%x) : tensor<256x128xf16>
  %view = spyre.view %neg by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %exp = spyre.pointwise exp(%view) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}
