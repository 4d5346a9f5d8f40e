// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile --spyre-divide-work --spyre-allocate-scratchpad=planner=first-fit %s | FileCheck %s

// Values that are local to an iteration are in LX; results of the loop are written to HBM tile by tile.
// CHECK-LABEL: func.func @values_of_one_iteration_are_in_lx(
// CHECK:         spyre.loop 4 "A"
// CHECK-NEXT:      spyre.reduce max({{.+}}) {{.*}}place = #spyre.place<lx, 0>
// CHECK-NEXT:      spyre.pointwise sub({{.+}}) {{.*}}place = #spyre.place<lx, 512>
// CHECK-NEXT:      spyre.pointwise exp({{.+}}) {{.*}}place = #spyre.place<hbm, "its address would advance with a loop">
func.func @values_of_one_iteration_are_in_lx(%x: tensor<512x1024xf16> {spyre.dims = ["A", "B"]}) -> tensor<512x1024xf16> {
  %max = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<512x1024xf16> -> tensor<512x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) {hints = [#spyre.tile_hint<0, A = 4>]} : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
  %exp = spyre.pointwise exp(%shifted) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

// The loop advances through the value, but an LX address is fixed.
// CHECK-LABEL: func.func @what_a_loop_cuts_is_in_hbm(
// CHECK:         spyre.pointwise neg({{.+}}) {{.*}}place = #spyre.place<hbm, "its address would advance with a loop">
// CHECK:         spyre.loop 4 "A"
func.func @what_a_loop_cuts_is_in_hbm(%x: tensor<512x1024xf16> {spyre.dims = ["A", "B"]}) -> tensor<512x1024xf16> {
  %neg = spyre.pointwise neg(%x) : tensor<512x1024xf16>
  %exp = spyre.pointwise exp(%neg) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

// The first op of the loop is the only user of the row, but every iteration rereads it: the sum must not reuse its address,
// although it has the same size and layout.
// CHECK-LABEL: func.func @what_a_loop_reads_lives_until_the_loop_ends(
// CHECK:         spyre.pointwise exp({{.+}}) {{.*}}place = #spyre.place<lx, 0>
// CHECK-NEXT:    spyre.loop 32 "A"
// CHECK-NEXT:      spyre.pointwise add({{.+}}) {{.*}}place = #spyre.place<lx, 128>
// CHECK-NEXT:      spyre.pointwise neg({{.+}}) {{.*}}place = #spyre.place<lx, 128>
// CHECK-NEXT:      spyre.pointwise mul({{.+}}) {{.*}}place = #spyre.place<hbm,
func.func @what_a_loop_reads_lives_until_the_loop_ends(%x: tensor<32x2048xf16> {spyre.dims = ["A", "B"]}, %bias: tensor<1x2048xf16>) -> tensor<32x2048xf16> {
  %row = spyre.pointwise exp(%bias) : tensor<1x2048xf16>
  %sum = spyre.pointwise add(%x, %row) {hints = [#spyre.tile_hint<0, A = 32>]} : (tensor<32x2048xf16>, tensor<1x2048xf16>) -> tensor<32x2048xf16>
  %neg = spyre.pointwise neg(%sum) {hints = [#spyre.tile_hint<0, A = 32>]} : tensor<32x2048xf16>
  %product = spyre.pointwise mul(%neg, %x) {hints = [#spyre.tile_hint<0, A = 32>]} : tensor<32x2048xf16>
  return %product : tensor<32x2048xf16>
}

// Without a loop the sum reuses the address.
// CHECK-LABEL: func.func @what_no_loop_reads_again_dies(
// CHECK:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise add({{.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 0>,
func.func @what_no_loop_reads_again_dies(%x: tensor<1x2048xf16>, %bias: tensor<1x2048xf16>) -> tensor<1x2048xf16> {
  %row = spyre.pointwise exp(%bias) : tensor<1x2048xf16>
  %sum = spyre.pointwise add(%x, %row) : tensor<1x2048xf16>
  %neg = spyre.pointwise neg(%sum) : tensor<1x2048xf16>
  %product = spyre.pointwise mul(%neg, %x) : tensor<1x2048xf16>
  return %product : tensor<1x2048xf16>
}

// The maximum in an iteration of the outer loop is live in every iteration of the inner loop.
// CHECK-LABEL: func.func @what_an_inner_loop_reads_lives_until_that_ends(
// CHECK:         spyre.loop 2 "A"
// CHECK-NEXT:      spyre.reduce max({{.+}}) dims [0] {{.*}}place = #spyre.place<lx, 0>
// CHECK-NEXT:      spyre.loop 32 "A"
// CHECK-NEXT:        spyre.pointwise add({{.+}}) {{.*}}place = #spyre.place<lx, 128>
// CHECK-NEXT:        spyre.pointwise neg({{.+}}) {{.*}}place = #spyre.place<lx, 128>
// CHECK-NEXT:        spyre.pointwise mul({{.+}}) {{.*}}place = #spyre.place<hbm,
#full = #spyre.layout<[32, 64, 64], [64, 2048, 1]>
#window = #spyre.layout<[32, 64, 64], [64, 2048, 1], of = [64, 2048]>
#row = #spyre.layout<[32, 1, 64], [64, -1, 1]>
func.func @what_an_inner_loop_reads_lives_until_that_ends(%x: tensor<64x2048xf16, #full>) -> tensor<64x2048xf16, #full> {
  %result = spyre.loop 2 "A" tiled(%rows = %x[0] : tensor<64x2048xf16, #full>) {
    %max = spyre.reduce max(%rows) dims [0] : tensor<32x2048xf16, #window> -> tensor<1x2048xf16, #row>
    %part = spyre.loop 32 "A" tiled(%row = %rows[0] : tensor<32x2048xf16, #window>) {
      %sum = spyre.pointwise add(%row, %max) : (tensor<1x2048xf16, #window>, tensor<1x2048xf16, #row>) -> tensor<1x2048xf16, #row>
      %neg = spyre.pointwise neg(%sum) : tensor<1x2048xf16, #row>
      %product = spyre.pointwise mul(%neg, %row) : (tensor<1x2048xf16, #row>, tensor<1x2048xf16, #window>) -> tensor<1x2048xf16, #window>
      spyre.yield %product[0] : tensor<1x2048xf16, #window>
    } : tensor<32x2048xf16, #window>
    spyre.yield %part[0] : tensor<32x2048xf16, #window>
  } : tensor<64x2048xf16, #full>
  return %result : tensor<64x2048xf16, #full>
}

// A carried value is one buffer, at the place of the copy that initializes it. It is live from there to its use after the loop, so the
// partial sum has another address, and the op that accumulates has no place.
// CHECK-LABEL: func.func @an_accumulator_is_in_lx_over_the_whole_loop(
// CHECK:         [[START:%.+]] = spyre.copy {{.+}}place = #spyre.place<lx, 256>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.loop 4 "B" {{.+}} carried([[BEFORE:%.+]] = [[START]] :
// CHECK-NEXT:      [[PART:%.+]] = spyre.reduce sum({{.+}}) {{.*}}place = #spyre.place<lx, 0>
// CHECK-NEXT:      spyre.pointwise add([[BEFORE]], [[PART]]) {dims = ["A", ""], work = #spyre.work<[32, 1]>}
// CHECK:         spyre.pointwise exp([[SUM]]) {{.*}}place = #spyre.place<lx, 256>
func.func @an_accumulator_is_in_lx_over_the_whole_loop(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %exp = spyre.pointwise exp(%sum) : tensor<64x1xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<64x1xf16>
  return %neg : tensor<64x1xf16>
}

// A value that is live across the loop shares no bytes with the accumulator or with values of the loop.
// CHECK-LABEL: func.func @what_lives_beside_an_accumulator_has_other_bytes(
// CHECK:         spyre.pointwise exp({{.+}}) {{.*}}place = #spyre.place<lx, [[KEPT:[0-9]+]]>
// CHECK-NOT:     #spyre.place<lx, [[KEPT]]>
// CHECK:         spyre.pointwise mul({{.+}}) {{.*}}place = #spyre.place<hbm
func.func @what_lives_beside_an_accumulator_has_other_bytes(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}, %y: tensor<64x1xf16>) -> tensor<64x1xf16> {
  %exp = spyre.pointwise exp(%y) : tensor<64x1xf16>
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %product = spyre.pointwise mul(%sum, %exp) : tensor<64x1xf16>
  return %product : tensor<64x1xf16>
}

// In an outer loop over output tiles, each iteration starts a new sum in the same bytes.
// CHECK-LABEL: func.func @an_accumulator_of_a_tile_is_in_lx(
// CHECK:         spyre.loop 4 "A"
// CHECK:           [[START:%.+]] = spyre.copy {{.+}}place = #spyre.place<lx, {{[0-9]+}}>
// CHECK-NEXT:      [[SUM:%.+]] = spyre.loop 4 "B" {{.+}} carried({{%.+}} = [[START]] :
// CHECK:           spyre.pointwise neg([[SUM]]) {{.*}}place = #spyre.place<hbm, "its address would advance with a loop">
func.func @an_accumulator_of_a_tile_is_in_lx(%x: tensor<512x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<512x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 4>]} : tensor<512x256xf16> -> tensor<512x1xf16>
  %neg = spyre.pointwise neg(%sum) {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 4>]} : tensor<512x1xf16>
  return %neg : tensor<512x1xf16>
}

// An inner loop tiles the accumulator, so it is in HBM.
// CHECK-LABEL: func.func @an_accumulator_that_is_cut_is_in_hbm(
// CHECK:         spyre.copy {{.+}}place = #spyre.place<hbm, "its address would advance with a loop">
// CHECK-NEXT:    spyre.loop 4 "B"
// CHECK-NEXT:      spyre.loop 4 "A"
func.func @an_accumulator_that_is_cut_is_in_hbm(%x: tensor<512x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<512x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>, #spyre.tile_hint<1, A = 4>]} : tensor<512x256xf16> -> tensor<512x1xf16>
  %neg = spyre.pointwise neg(%sum) : tensor<512x1xf16>
  return %neg : tensor<512x1xf16>
}
