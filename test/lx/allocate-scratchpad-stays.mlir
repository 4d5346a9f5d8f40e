// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad %s | FileCheck %s

// A result with other uses is read from LX, and copied to HBM directly after its definition: the sum reuses its address.
// CHECK-LABEL: func.func @results_that_ops_read_are_copied_out(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{%.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm, "it is the copy in HBM of a value in LX">, work = #spyre.work<[32, 1]>}
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) {place = #spyre.place<lx, 128>,
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add([[EXP]], [[NEG]]) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[RESULT:%.+]] = spyre.pointwise exp([[SUM]]) {place = #spyre.place<hbm, "it is a result of the graph and has no copy in LX">,
// CHECK-NEXT:    return [[COPY]], [[RESULT]]
func.func @results_that_ops_read_are_copied_out(%x: tensor<32x64xf16>) -> (tensor<32x64xf16>, tensor<32x64xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<32x64xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<32x64xf16>
  %sum = spyre.pointwise add(%exp, %neg) : tensor<32x64xf16>
  %result = spyre.pointwise exp(%sum) : tensor<32x64xf16>
  return %exp, %result : tensor<32x64xf16>, tensor<32x64xf16>
}

// -----

// The sum of the columns has another core split than its operand, so it reads the copy in HBM.
// CHECK-LABEL: func.func @readers_in_other_slices_read_the_copy(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{%.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm,
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[COPY]])
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]])
// CHECK-NEXT:    return [[COPY]], [[SUM]], [[NEG]]
func.func @readers_in_other_slices_read_the_copy(%x: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<1x1024xf16>, tensor<512x1024xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %sum = spyre.reduce sum(%exp) dims [0] : tensor<512x1024xf16> -> tensor<1x1024xf16>
  %neg = spyre.pointwise neg(%exp) : tensor<512x1024xf16>
  return %exp, %sum, %neg : tensor<512x1024xf16>, tensor<1x1024xf16>, tensor<512x1024xf16>
}

// -----

// A user of a value through a view reads an equal view of the LX value.
// CHECK-LABEL: func.func @views_are_shown_anew(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{%.+}}) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]] {place = #spyre.place<hbm,
// CHECK:         [[VIEW:%.+]] = spyre.view [[EXP]]
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[VIEW]])
// CHECK-NEXT:    return [[COPY]], [[NEG]]
#rows = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#columns = #spyre.layout<[1, 64, 64], [4096, 1, 64]>
func.func @views_are_shown_anew(%x: tensor<64x64xf16, #rows>) -> (tensor<64x64xf16, #rows>, tensor<64x64xf16, #columns>) {
  %exp = spyre.pointwise exp(%x) : tensor<64x64xf16, #rows>
  %transposed = spyre.view %exp by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %neg = spyre.pointwise neg(%transposed) : tensor<64x64xf16, #columns>
  return %exp, %neg : tensor<64x64xf16, #rows>, tensor<64x64xf16, #columns>
}

// -----

// A result without uses in ops is written to HBM directly.
// CHECK-LABEL: func.func @results_that_no_op_reads_are_in_hbm(
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @results_that_no_op_reads_are_in_hbm(%x: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<32x64xf16>
  return %exp : tensor<32x64xf16>
}

// -----

// LX holds two tensors. The first one is evicted for the second one and its square, and reloaded for its last two uses.
// CHECK-LABEL: func.func @far_uses_are_served_by_a_reload(
// CHECK:         [[A:%.+]] = spyre.pointwise exp({{%.+}}) {place = #spyre.place<lx, [[AT:[0-9]+]]>,
// CHECK-NEXT:    [[OUT:%.+]] = spyre.copy [[A]] {place = #spyre.place<hbm, "it is the copy in HBM of a value in LX">,
// CHECK:         spyre.pointwise mul([[A]], [[A]])
// CHECK:         spyre.pointwise add([[A]],
// CHECK:         [[B:%.+]] = spyre.pointwise exp({{%.+}}) {place = #spyre.place<lx,
// CHECK-NOT:     spyre.copy
// CHECK:         [[IN:%.+]] = spyre.copy [[OUT]] {place = #spyre.place<lx,
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add([[IN]],
// CHECK-NEXT:    spyre.pointwise sub([[IN]], [[SUM]])
module attributes {spyre.target = {lx_bytes = 256 : i64}} {
  func.func @far_uses_are_served_by_a_reload(%x: tensor<32x64xf16>, %y: tensor<32x64xf16>) -> (tensor<32x64xf16>, tensor<32x64xf16>) {
    %a = spyre.pointwise exp(%x) : tensor<32x64xf16>
    %a1 = spyre.pointwise mul(%a, %a) : tensor<32x64xf16>
    %a2 = spyre.pointwise add(%a, %a1) : tensor<32x64xf16>
    %b = spyre.pointwise exp(%y) : tensor<32x64xf16>
    %b1 = spyre.pointwise mul(%b, %b) : tensor<32x64xf16>
    %b2 = spyre.pointwise mul(%b, %b1) : tensor<32x64xf16>
    %b3 = spyre.pointwise sub(%b, %b2) : tensor<32x64xf16>
    %c = spyre.pointwise add(%a, %b3) : tensor<32x64xf16>
    %c1 = spyre.pointwise sub(%a, %c) : tensor<32x64xf16>
    return %a2, %c1 : tensor<32x64xf16>, tensor<32x64xf16>
  }
}

// -----

// An input is copied to LX for uses that are close to each other, once for the first two and once for the last two.
// CHECK-LABEL: func.func @inputs_are_copied_where_it_pays(
// CHECK-SAME:    [[X:%.+]]: tensor<32x64xf16, #{{.+}}>, [[Y:%.+]]: tensor<32x64xf16, #{{.+}}>) ->
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.copy [[X]] {place = #spyre.place<lx,
// CHECK-NEXT:    spyre.pointwise neg([[FIRST]])
// CHECK-NEXT:    spyre.pointwise exp([[FIRST]])
// CHECK-NEXT:    [[B:%.+]] = spyre.pointwise exp([[Y]]) {place = #spyre.place<lx,
// CHECK:         [[SECOND:%.+]] = spyre.copy [[X]] {place = #spyre.place<lx,
// CHECK-NEXT:    spyre.pointwise neg([[SECOND]])
// CHECK-NEXT:    spyre.pointwise exp([[SECOND]])
module attributes {spyre.target = {lx_bytes = 128 : i64}} {
  func.func @inputs_are_copied_where_it_pays(%x: tensor<32x64xf16>, %y: tensor<32x64xf16>)
      -> (tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>) {
    %a = spyre.pointwise neg(%x) : tensor<32x64xf16>
    %b = spyre.pointwise exp(%x) : tensor<32x64xf16>
    %c = spyre.pointwise exp(%y) : tensor<32x64xf16>
    %d = spyre.pointwise neg(%c) : tensor<32x64xf16>
    %e = spyre.pointwise abs(%c) : tensor<32x64xf16>
    %f = spyre.pointwise neg(%x) : tensor<32x64xf16>
    %g = spyre.pointwise exp(%x) : tensor<32x64xf16>
    return %a, %b, %d, %e, %f, %g : tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>
  }
}

// -----

// A copy for a single use saves nothing.
// CHECK-LABEL: func.func @inputs_are_not_copied_for_one_read(
// CHECK-NOT:     spyre.copy
// CHECK:         return
module attributes {spyre.target = {lx_bytes = 128 : i64}} {
  func.func @inputs_are_not_copied_for_one_read(%x: tensor<32x64xf16>, %y: tensor<32x64xf16>)
      -> (tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>) {
    %a = spyre.pointwise neg(%x) : tensor<32x64xf16>
    %b = spyre.pointwise exp(%y) : tensor<32x64xf16>
    %c = spyre.pointwise neg(%b) : tensor<32x64xf16>
    %d = spyre.pointwise sub(%b, %c) : tensor<32x64xf16>
    %e = spyre.pointwise exp(%x) : tensor<32x64xf16>
    return %a, %d, %e : tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>
  }
}

// -----

// A tile is copied to LX in every iteration; the difference reuses its address.
// CHECK-LABEL: func.func @tiles_come_to_lx_in_each_iteration(
// CHECK:         spyre.loop 4 "rows" tiled([[TILE:%.+]] = {{%.+}}[0]
// CHECK-NEXT:      [[COPY:%.+]] = spyre.copy [[TILE]] {place = #spyre.place<lx, [[AT:[0-9]+]]>,
// CHECK-NEXT:      [[MAX:%.+]] = spyre.reduce max([[COPY]]) dims [1] {place = #spyre.place<lx,
// CHECK-NEXT:      [[SHIFTED:%.+]] = spyre.pointwise sub([[COPY]], [[MAX]]) {place = #spyre.place<lx, [[AT]]>,
// CHECK-NEXT:      spyre.pointwise exp([[SHIFTED]]) {place = #spyre.place<hbm, "its address would advance with a loop">,
#full = #spyre.layout<[2, 128, 64], [64, 128, 1]>
#window = #spyre.layout<[2, 128, 64], [64, 128, 1], of = [128, 128]>
#tile = #spyre.layout<[2, 32, 64], [64, 128, 1]>
#column = #spyre.layout<[1, 32, 64], [-1, 1, -1]>
func.func @tiles_come_to_lx_in_each_iteration(%x: tensor<128x128xf16, #full>) -> tensor<128x128xf16, #full> {
  %result = spyre.loop 4 "rows" tiled(%tile = %x[0] : tensor<128x128xf16, #full>) {
    %max = spyre.reduce max(%tile) dims [1] : tensor<32x128xf16, #window> -> tensor<32x1xf16, #column>
    %shifted = spyre.pointwise sub(%tile, %max) : (tensor<32x128xf16, #window>, tensor<32x1xf16, #column>) -> tensor<32x128xf16, #tile>
    %exp = spyre.pointwise exp(%shifted) : (tensor<32x128xf16, #tile>) -> tensor<32x128xf16, #window>
    spyre.yield %exp[0] : tensor<32x128xf16, #window>
  } : tensor<128x128xf16, #full>
  return %result : tensor<128x128xf16, #full>
}

// -----

// The loop reads the row in every iteration: it is resident for its complete live range, or not at all.
// CHECK-LABEL: func.func @what_a_loop_reads_again_stays_or_does_not_come(
// CHECK-NOT:     spyre.copy
// CHECK:         return
#matrix = #spyre.layout<[32, 32, 64], [64, 2048, 1]>
#part = #spyre.layout<[32, 32, 64], [64, 2048, 1], of = [32, 2048]>
#row = #spyre.layout<[32, 1, 64], [64, -1, 1]>
module attributes {spyre.target = {lx_bytes = 128 : i64}} {
  func.func @what_a_loop_reads_again_stays_or_does_not_come(%x: tensor<32x2048xf16, #matrix>, %bias: tensor<1x2048xf16, #row>) -> tensor<32x2048xf16, #matrix> {
    %row = spyre.pointwise exp(%bias) {work = #spyre.work<[1, 32]>} : tensor<1x2048xf16, #row>
    %square = spyre.pointwise mul(%row, %row) {work = #spyre.work<[1, 32]>} : tensor<1x2048xf16, #row>
    %loop = spyre.loop 32 "A" tiled(%tile = %x[0] : tensor<32x2048xf16, #matrix>) {
      %sum = spyre.pointwise add(%tile, %row) {work = #spyre.work<[1, 32]>} : (tensor<1x2048xf16, #part>, tensor<1x2048xf16, #row>) -> tensor<1x2048xf16, #row>
      %product = spyre.pointwise mul(%sum, %square) {work = #spyre.work<[1, 32]>} : (tensor<1x2048xf16, #row>, tensor<1x2048xf16, #row>) -> tensor<1x2048xf16, #part>
      spyre.yield %product[0] : tensor<1x2048xf16, #part>
    } : tensor<32x2048xf16, #matrix>
    return %loop : tensor<32x2048xf16, #matrix>
  }
}

// -----

// A result that its producer cannot write to LX is copied to LX for several uses; so is a value that a loop writes tile by tile.
// CHECK-LABEL: func.func @results_in_hbm_are_inputs_of_what_follows(
// CHECK:         [[ABS:%.+]] = spyre.pointwise abs({{%.+}}) {place = #spyre.place<hbm, "the device function 'abs' cannot access LX">,
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[ABS]] {place = #spyre.place<lx,
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[COPY]])
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add([[COPY]], [[NEG]])
// CHECK-NEXT:    [[LOOP:%.+]] = spyre.loop
// CHECK:         [[TILED:%.+]] = spyre.copy [[LOOP]] {place = #spyre.place<lx,
// CHECK-NEXT:    [[SHIFTED:%.+]] = spyre.pointwise sub([[TILED]], [[SUM]])
// CHECK-NEXT:    spyre.pointwise add([[TILED]], [[SHIFTED]])
#full = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 64, 64], [64, 64, 1], of = [64, 64]>
func.func @results_in_hbm_are_inputs_of_what_follows(%x: tensor<64x64xf16, #full>) -> tensor<64x64xf16, #full> {
  %abs = spyre.pointwise abs(%x) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #full>
  %neg = spyre.pointwise neg(%abs) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #full>
  %sum = spyre.pointwise add(%abs, %neg) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #full>
  %loop = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<64x64xf16, #full>) {
    %exp = spyre.pointwise exp(%tile) {work = #spyre.work<[32, 1]>} : tensor<32x64xf16, #window>
    spyre.yield %exp[0] : tensor<32x64xf16, #window>
  } : tensor<64x64xf16, #full>
  %shifted = spyre.pointwise sub(%loop, %sum) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #full>
  %result = spyre.pointwise add(%loop, %shifted) {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #full>
  return %result : tensor<64x64xf16, #full>
}
