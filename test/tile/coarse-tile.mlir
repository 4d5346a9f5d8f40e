// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile %s | FileCheck %s

// The full buffers, windows of them, and the tiles that are buffers of their own.
// CHECK-DAG: #[[FULL:layout[0-9]*]] = #spyre.layout<[64, 1024, 64], [64, 4096, 1]>{{$}}
// CHECK-DAG: #[[WINDOW:layout[0-9]*]] = #spyre.layout<[64, 1024, 64], [64, 4096, 1], of = [1024, 4096]>
// CHECK-DAG: #[[TILE:layout[0-9]*]] = #spyre.layout<[16, 512, 64], [64, 1024, 1]>{{$}}
// CHECK-DAG: #[[WIDE_TILE:layout[0-9]*]] = #spyre.layout<[64, 512, 64], [64, 4096, 1]>{{$}}
// CHECK-DAG: #[[ROW:layout[0-9]*]] = #spyre.layout<[64, 1, 64], [64, -1, 1]>{{$}}
// CHECK-DAG: #[[COLUMN:layout[0-9]*]] = #spyre.layout<[1, 1024, 64], [-1, 1, -1]>{{$}}
// CHECK-DAG: #[[COLUMN_WINDOW:layout[0-9]*]] = #spyre.layout<[1, 1024, 64], [-1, 1, -1], of = [1024, 1]>
// CHECK-DAG: #[[COLUMN_TILE:layout[0-9]*]] = #spyre.layout<[1, 512, 64], [-1, 1, -1]>{{$}}

// The first hint is the outer loop. What only the group uses is a buffer of the tile's size, what others use a window.
// CHECK-LABEL: func.func @hints_are_nested_loops(
// CHECK-SAME:    [[X:%.+]]: tensor<1024x4096xf16, #[[FULL]]> {{.+}}, [[Y:%.+]]: tensor<1024x4096xf16, #[[FULL]]>) -> tensor<1024x4096xf16, #[[FULL]]>
// CHECK-SAME:    attributes {spyre.dim_sizes = {A = 1024 : i64, B = 4096 : i64}} {
// CHECK-NEXT:    [[OUTER:%.+]] = spyre.loop 2 "A" tiled([[X0:%.+]] = [[X]][0] : tensor<1024x4096xf16, #[[FULL]]>, [[Y0:%.+]] = [[Y]][0] : tensor<1024x4096xf16, #[[FULL]]>) {
// CHECK-NEXT:      [[INNER:%.+]] = spyre.loop 4 "B" tiled([[X1:%.+]] = [[X0]][1] : tensor<512x4096xf16, #[[WINDOW]]>, [[Y1:%.+]] = [[Y0]][1] : tensor<512x4096xf16, #[[WINDOW]]>) {
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[X1]]) {dims = ["A", "B"]} : (tensor<512x1024xf16, #[[WINDOW]]>) -> tensor<512x1024xf16, #[[TILE]]>
// CHECK-NEXT:        [[SUM:%.+]] = spyre.pointwise add([[EXP]], [[Y1]]) {dims = ["A", "B"]} : (tensor<512x1024xf16, #[[TILE]]>, tensor<512x1024xf16, #[[WINDOW]]>) -> tensor<512x1024xf16, #[[WINDOW]]>
// CHECK-NEXT:        spyre.yield [[SUM]][1] : tensor<512x1024xf16, #[[WINDOW]]>
// CHECK-NEXT:      } : tensor<512x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:      spyre.yield [[INNER]][0] : tensor<512x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:    } : tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    return [[OUTER]] : tensor<1024x4096xf16, #[[FULL]]>
func.func @hints_are_nested_loops(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}, %y: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16>
  %sum = spyre.pointwise add(%exp, %y) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, B = 4>]} : tensor<1024x4096xf16>
  return %sum : tensor<1024x4096xf16>
}

// A row that every tile of rows needs is no operand of the loop, a column is cut with the matrix.
// CHECK-LABEL: func.func @what_has_not_the_dim_is_used_whole(
// CHECK-SAME:    [[X:%.+]]: tensor<1024x4096xf16, #[[FULL]]>{{.+}}, [[ROW_ARG:%.+]]: tensor<1x4096xf16, #[[ROW]]>, [[COLUMN_ARG:%.+]]: tensor<1024x1xf16, #[[COLUMN]]>)
// CHECK-NEXT:    [[LOOP:%.+]] = spyre.loop 2 "A" tiled([[X0:%.+]] = [[X]][0] : tensor<1024x4096xf16, #[[FULL]]>, [[COLUMN0:%.+]] = [[COLUMN_ARG]][0] : tensor<1024x1xf16, #[[COLUMN]]>) {
// CHECK-NEXT:      [[BIASED:%.+]] = spyre.pointwise add([[X0]], [[ROW_ARG]]) {{.*}} : (tensor<512x4096xf16, #[[WINDOW]]>, tensor<1x4096xf16, #[[ROW]]>) -> tensor<512x4096xf16, #[[WIDE_TILE]]>
// CHECK-NEXT:      [[SCALED:%.+]] = spyre.pointwise mul([[BIASED]], [[COLUMN0]]) {{.*}} : (tensor<512x4096xf16, #[[WIDE_TILE]]>, tensor<512x1xf16, #[[COLUMN_WINDOW]]>) -> tensor<512x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:      spyre.yield [[SCALED]][0]
func.func @what_has_not_the_dim_is_used_whole(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}, %row: tensor<1x4096xf16>, %column: tensor<1024x1xf16>) -> tensor<1024x4096xf16> {
  %biased = spyre.pointwise add(%x, %row) {hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<1024x4096xf16>, tensor<1x4096xf16>) -> tensor<1024x4096xf16>
  %scaled = spyre.pointwise mul(%biased, %column) {hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<1024x4096xf16>, tensor<1024x1xf16>) -> tensor<1024x4096xf16>
  return %scaled : tensor<1024x4096xf16>
}

// The inner loop cuts the columns only: the tile of rows is loop-invariant there.
// CHECK-LABEL: func.func @each_level_cuts_its_own_operands(
// CHECK-SAME:    [[X:%.+]]: tensor<512x1024xf16, {{#.+}}>{{.+}}, [[Y:%.+]]: tensor<1024x256xf16, {{#.+}}>
// CHECK-NEXT:    {{.+}} = spyre.loop 4 "M" tiled([[X0:%.+]] = [[X]][0] : {{[^=]+}}) {
// CHECK-NEXT:      {{.+}} = spyre.loop 2 "N" tiled([[Y0:%.+]] = [[Y]][1] : {{[^=]+}}) {
// CHECK-NEXT:        [[PRODUCT:%.+]] = spyre.matmul([[X0]], [[Y0]]) {{.*}} : (tensor<128x1024xf16, {{.+}}>, tensor<1024x128xf16, {{.+}}>) -> tensor<128x128xf16,
// CHECK-NEXT:        spyre.yield [[PRODUCT]][1]
func.func @each_level_cuts_its_own_operands(%x: tensor<512x1024xf16> {spyre.dims = ["M", "K"]}, %y: tensor<1024x256xf16> {spyre.dims = ["K", "N"]}) -> tensor<512x256xf16> {
  %product = spyre.matmul(%x, %y) {hints = [#spyre.tile_hint<0, M = 4>, #spyre.tile_hint<1, N = 2>]} : (tensor<512x1024xf16>, tensor<1024x256xf16>) -> tensor<512x256xf16>
  return %product : tensor<512x256xf16>
}

// One matrix, cut in rows for the left factor and in columns for the right one.
// CHECK-LABEL: func.func @a_tensor_may_be_cut_in_two_ways(
// CHECK-SAME:    [[X:%.+]]: tensor<512x512xf16, {{#.+}}>)
// CHECK-NEXT:    {{.+}} = spyre.loop 4 "M" tiled([[LEFT:%.+]] = [[X]][0] : {{[^=]+}}) {
// CHECK-NEXT:      {{.+}} = spyre.loop 2 "N" tiled([[RIGHT:%.+]] = [[X]][1] : {{[^=]+}}) {
// CHECK-NEXT:        spyre.matmul([[LEFT]], [[RIGHT]]) {{.*}} : (tensor<128x512xf16, {{.+}}>, tensor<512x256xf16, {{.+}}>) -> tensor<128x256xf16,
func.func @a_tensor_may_be_cut_in_two_ways(%x: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %square = spyre.matmul(%x, %x) {dims = ["M", "N", "K"], hints = [#spyre.tile_hint<0, M = 4>, #spyre.tile_hint<1, N = 2>]} : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %square : tensor<512x512xf16>
}

// 1024 rows in 2 x 4 tiles of 128.
// CHECK-LABEL: func.func @a_dim_may_be_cut_twice(
// CHECK-SAME:    [[X:%.+]]: tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    {{.+}} = spyre.loop 2 "A" tiled([[X0:%.+]] = [[X]][0] : tensor<1024x4096xf16, #[[FULL]]>) {
// CHECK-NEXT:      {{.+}} = spyre.loop 4 "A" tiled([[X1:%.+]] = [[X0]][0] : tensor<512x4096xf16, #[[WINDOW]]>) {
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[X1]]) {{.*}} : tensor<128x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:        spyre.yield [[EXP]][0] : tensor<128x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:      } : tensor<512x4096xf16, #[[WINDOW]]>
func.func @a_dim_may_be_cut_twice(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, A = 4>]} : tensor<1024x4096xf16>
  return %exp : tensor<1024x4096xf16>
}

// The exponential is read in the loop and behind it: the loop reads its own tile, which may stay in LX, and a copy goes to the window.
// CHECK-LABEL: func.func @a_value_used_inside_and_outside_is_copied(
// CHECK-SAME:    [[X:%.+]]: tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    [[LOOP:%.+]]:2 = spyre.loop 2 "A" tiled([[X0:%.+]] = [[X]][0] : tensor<1024x4096xf16, #[[FULL]]>) {
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp([[X0]]) {{.*}} -> tensor<512x4096xf16, #[[WIDE_TILE]]>
// CHECK-NEXT:      [[COPY:%.+]] = spyre.copy [[EXP]] {{.*}} -> tensor<512x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:      [[SUM:%.+]] = spyre.pointwise add([[EXP]], [[X0]]) {{.*}} -> tensor<512x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:      spyre.yield [[COPY]][0], [[SUM]][0] : tensor<512x4096xf16, #[[WINDOW]]>, tensor<512x4096xf16, #[[WINDOW]]>
// CHECK-NEXT:    } : tensor<1024x4096xf16, #[[FULL]]>, tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[LOOP]]#0) {{.*}} : tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    return [[LOOP]]#1, [[NEG]]
func.func @a_value_used_inside_and_outside_is_copied(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}) -> (tensor<1024x4096xf16>, tensor<1024x4096xf16>) {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16>
  %sum = spyre.pointwise add(%exp, %x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<1024x4096xf16>
  return %sum, %neg : tensor<1024x4096xf16>, tensor<1024x4096xf16>
}

// The maxima of the tile's rows are a tile too.
// CHECK-LABEL: func.func @kept_dims_of_reductions_are_tiled(
// CHECK-SAME:    [[X:%.+]]: tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    {{.+}} = spyre.loop 2 "A" tiled([[X0:%.+]] = [[X]][0] : tensor<1024x4096xf16, #[[FULL]]>) {
// CHECK-NEXT:      [[MAX:%.+]] = spyre.reduce max([[X0]]) dims [1] {{.*}} : tensor<512x4096xf16, #[[WINDOW]]> -> tensor<512x1xf16, #[[COLUMN_TILE]]>
// CHECK-NEXT:      [[SHIFTED:%.+]] = spyre.pointwise sub([[X0]], [[MAX]]) {{.*}} : (tensor<512x4096xf16, #[[WINDOW]]>, tensor<512x1xf16, #[[COLUMN_TILE]]>) -> tensor<512x4096xf16, #[[WINDOW]]>
func.func @kept_dims_of_reductions_are_tiled(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16> {
  %max = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16> -> tensor<1024x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) {hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<1024x4096xf16>, tensor<1024x1xf16>) -> tensor<1024x4096xf16>
  return %shifted : tensor<1024x4096xf16>
}

// Other ids are another group, even with the same name and count; the second reads what the first has written.
// CHECK-LABEL: func.func @groups_have_loops_of_their_own(
// CHECK-SAME:    [[X:%.+]]: tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.loop 2 "A" tiled([[X0:%.+]] = [[X]][0] : tensor<1024x4096xf16, #[[FULL]]>) {
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp([[X0]])
// CHECK-NEXT:      spyre.yield [[EXP]][0]
// CHECK-NEXT:    } : tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    [[SECOND:%.+]] = spyre.loop 2 "A" tiled([[FIRST0:%.+]] = [[FIRST]][0] : tensor<1024x4096xf16, #[[FULL]]>) {
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg([[FIRST0]])
// CHECK-NEXT:      spyre.yield [[NEG]][0]
// CHECK-NEXT:    } : tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    return [[SECOND]]
func.func @groups_have_loops_of_their_own(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16>
  %neg = spyre.pointwise neg(%exp) {hints = [#spyre.tile_hint<1, A = 2>]} : tensor<1024x4096xf16>
  return %neg : tensor<1024x4096xf16>
}

// The negation has no hint and needs nothing of the loop, so it comes before it.
// CHECK-LABEL: func.func @an_op_without_hints_comes_before(
// CHECK-SAME:    [[X:%.+]]: tensor<1024x4096xf16, #[[FULL]]>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[X]])
// CHECK-NEXT:    {{.+}} = spyre.loop 2 "A" tiled({{.+}} = [[X]][0] : tensor<1024x4096xf16, #[[FULL]]>, [[NEG0:%.+]] = [[NEG]][0] : tensor<1024x4096xf16, #[[FULL]]>) {
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:      spyre.pointwise add([[EXP]], [[NEG0]])
func.func @an_op_without_hints_comes_before(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16>
  %neg = spyre.pointwise neg(%x) : tensor<1024x4096xf16>
  %sum = spyre.pointwise add(%exp, %neg) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16>
  return %sum : tensor<1024x4096xf16>
}

// Here it needs the loop: what needs it in turn gets a loop of its own.
// CHECK-LABEL: func.func @an_op_without_hints_may_part_a_loop(
// CHECK:         [[FIRST:%.+]] = spyre.loop 2 "A"
// CHECK:         [[NEG:%.+]] = spyre.pointwise neg([[FIRST]])
// CHECK-NEXT:    spyre.loop 2 "A" tiled({{.+}} = [[FIRST]][0] : {{.+}}, {{.+}} = [[NEG]][0] : {{.+}}) {
// CHECK-NEXT:      spyre.pointwise add(
func.func @an_op_without_hints_may_part_a_loop(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<1024x4096xf16>
  %sum = spyre.pointwise add(%exp, %neg) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<1024x4096xf16>
  return %sum : tensor<1024x4096xf16>
}

// CHECK-LABEL: func.func @without_hints_there_is_no_loop(
// CHECK-NOT:     spyre.loop
// CHECK:         return
func.func @without_hints_there_is_no_loop(%x: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}) -> tensor<1024x4096xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<1024x4096xf16>
  return %exp : tensor<1024x4096xf16>
}
