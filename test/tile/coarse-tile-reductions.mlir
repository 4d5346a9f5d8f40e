// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile %s | FileCheck %s

// One element per stick: a complete buffer, a window of it, and a compact buffer.
// CHECK-DAG: #[[COLUMN:layout[0-9]*]] = #spyre.layout<[1, 64, 64], [-1, 1, -1]>{{$}}
// CHECK-DAG: #[[COLUMN_WINDOW:layout[0-9]*]] = #spyre.layout<[1, 64, 64], [-1, 1, -1], of = [64, 1]>
// CHECK-DAG: #[[COLUMN_TILE:layout[0-9]*]] = #spyre.layout<[1, 16, 64], [-1, 1, -1]>{{$}}
// CHECK-DAG: #[[PRODUCT:layout[0-9]*]] = #spyre.layout<[2, 512, 64], [64, 128, 1]>{{$}}
// CHECK-DAG: #[[PRODUCT_WINDOW:layout[0-9]*]] = #spyre.layout<[2, 512, 64], [64, 128, 1], of = [512, 128]>
// CHECK-DAG: #[[PRODUCT_TILE:layout[0-9]*]] = #spyre.layout<[2, 64, 64], [64, 128, 1]>{{$}}
// CHECK-DAG: #[[EVERYWHERE:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0)>

// The loop starts with the neutral element, and each iteration adds a partial result.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    [[X:%[^:]+]]: tensor<64x256xf16,
// CHECK-NEXT:    [[ZERO:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ZEROS:%.+]] = spyre.view [[ZERO]] by #[[EVERYWHERE]] : {{.+}} -> tensor<64x1xf16>
// CHECK-NEXT:    [[START:%.+]] = spyre.copy [[ZEROS]] {dims = ["A", ""]} : tensor<64x1xf16> -> tensor<64x1xf16, #[[COLUMN]]>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.loop 4 "B" tiled([[X0:%.+]] = [[X]][1] : {{.+}}) carried([[BEFORE:%.+]] = [[START]] : tensor<64x1xf16, #[[COLUMN]]>) {
// CHECK-NEXT:      [[PART:%.+]] = spyre.reduce sum([[X0]]) dims [1] {dims = ["A", "B"]} : tensor<64x64xf16, {{.+}}> -> tensor<64x1xf16, #[[COLUMN]]>
// CHECK-NEXT:      [[AFTER:%.+]] = spyre.pointwise add([[BEFORE]], [[PART]]) {dims = ["A", ""]} : tensor<64x1xf16, #[[COLUMN]]>
// CHECK-NEXT:      spyre.yield [[AFTER]] : tensor<64x1xf16, #[[COLUMN]]>
// CHECK-NEXT:    } : tensor<64x1xf16, #[[COLUMN]]>
// CHECK-NEXT:    spyre.pointwise neg([[SUM]])
func.func @sum(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %neg = spyre.pointwise neg(%sum) : tensor<64x1xf16>
  return %neg : tensor<64x1xf16>
}

// CHECK-LABEL: func.func @max(
// CHECK-NEXT:    spyre.constant dense<0xFC00> : tensor<1x1xf16>
// CHECK:           [[PART:%.+]] = spyre.reduce max(
// CHECK-NEXT:      spyre.pointwise maximum({{%.+}}, [[PART]])
func.func @max(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %max = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  return %max : tensor<64x1xf16>
}

// CHECK-LABEL: func.func @min(
// CHECK-NEXT:    spyre.constant dense<0x7C00> : tensor<1x1xf16>
// CHECK:           [[PART:%.+]] = spyre.reduce min(
// CHECK-NEXT:      spyre.pointwise minimum({{%.+}}, [[PART]])
func.func @min(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %min = spyre.reduce min(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  return %min : tensor<64x1xf16>
}

// CHECK-LABEL: func.func @product(
// CHECK-NEXT:    spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK:           [[PART:%.+]] = spyre.reduce prod(
// CHECK-NEXT:      spyre.pointwise mul({{%.+}}, [[PART]])
func.func @product(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %product = spyre.reduce prod(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  return %product : tensor<64x1xf16>
}

// The factor of the mean is that of all 256 elements, so partial results are added.
// CHECK-LABEL: func.func @mean(
// CHECK-NEXT:    spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK:           [[PART:%.+]] = spyre.reduce mean({{%.+}}) dims [1] {constants = array<f64: 3.906250e-03>, {{.*}} : tensor<64x64xf16,
// CHECK-NEXT:      spyre.pointwise add({{%.+}}, [[PART]])
func.func @mean(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %mean = spyre.reduce mean(%x) dims [1] {constants = array<f64: 0.00390625>, hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  return %mean : tensor<64x1xf16>
}

// The mean of one row per iteration is a product with the factor.
// CHECK-LABEL: func.func @mean_of_single_elements(
// CHECK:         [[FACTOR:%.+]] = spyre.constant dense<2.500000e-01> : tensor<1x1xf16>
// CHECK-NEXT:    spyre.loop 4 "A" tiled([[ROW:%.+]] = {{%.+}}[0] : {{.+}}) carried([[BEFORE:%.+]] = {{%.+}} : {{.+}}) {
// CHECK-NEXT:      [[SHARE:%.+]] = spyre.pointwise mul([[ROW]], [[FACTOR]]) {dims = ["", "B"]}
// CHECK-NEXT:      [[AFTER:%.+]] = spyre.pointwise add([[BEFORE]], [[SHARE]])
// CHECK-NEXT:      spyre.yield [[AFTER]] :
// CHECK-NOT:     spyre.reduce
func.func @mean_of_single_elements(%x: tensor<4x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<1x256xf16> {
  %mean = spyre.reduce mean(%x) dims [0] {constants = array<f64: 0.25>, hints = [#spyre.tile_hint<0, A = 4>]} : tensor<4x256xf16> -> tensor<1x256xf16>
  return %mean : tensor<1x256xf16>
}

// Two rows per iteration are a mean.
// CHECK-LABEL: func.func @mean_of_pairs(
// CHECK:           spyre.reduce mean(
func.func @mean_of_pairs(%x: tensor<4x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<1x256xf16> {
  %mean = spyre.reduce mean(%x) dims [0] {constants = array<f64: 0.25>, hints = [#spyre.tile_hint<0, A = 2>]} : tensor<4x256xf16> -> tensor<1x256xf16>
  return %mean : tensor<1x256xf16>
}

// The worked example of src/tile/mod.rs: each tile of rows has an accumulator of its own size, which the sum beside the inner loop reads.
// CHECK-LABEL: func.func @output_tiles_around_a_product(
// CHECK-SAME:    [[X:%[^:]+]]: {{.+}}, [[Y:%[^:]+]]: tensor<256x128xf16{{.+}}, [[C:%[^:]+]]: tensor<512x128xf16
// CHECK:         [[ROWS:%.+]] = spyre.loop 8 "M" tiled([[X0:%.+]] = [[X]][0] : {{.+}}, [[C0:%.+]] = [[C]][0] : {{[^)]+}}) {
// CHECK:           [[START:%.+]] = spyre.copy {{.+}} -> tensor<64x128xf16, #[[PRODUCT_TILE]]>
// CHECK-NEXT:      [[SUM:%.+]] = spyre.loop 4 "K" tiled([[X1:%.+]] = [[X0]][1] : {{.+}}, [[Y1:%.+]] = [[Y]][0] : {{.+}}) carried([[BEFORE:%.+]] = [[START]] : tensor<64x128xf16, #[[PRODUCT_TILE]]>) {
// CHECK-NEXT:        [[PART:%.+]] = spyre.matmul([[X1]], [[Y1]])
// CHECK-NEXT:        [[AFTER:%.+]] = spyre.pointwise add([[BEFORE]], [[PART]])
// CHECK-NEXT:        spyre.yield [[AFTER]] :
// CHECK-NEXT:      } : tensor<64x128xf16, #[[PRODUCT_TILE]]>
// CHECK-NEXT:      [[BIASED:%.+]] = spyre.pointwise add([[SUM]], [[C0]]) {{.+}} -> tensor<64x128xf16, #[[PRODUCT_WINDOW]]>
// CHECK-NEXT:      spyre.yield [[BIASED]][0]
func.func @output_tiles_around_a_product(%x: tensor<512x256xf16> {spyre.dims = ["M", "K"]}, %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]}, %c: tensor<512x128xf16>) -> tensor<512x128xf16> {
  %product = spyre.matmul(%x, %y) {hints = [#spyre.tile_hint<0, M = 8>, #spyre.tile_hint<1, K = 4>]} : (tensor<512x256xf16>, tensor<256x128xf16>) -> tensor<512x128xf16>
  %sum = spyre.pointwise add(%product, %c) {hints = [#spyre.tile_hint<0, M = 8>, #spyre.tile_hint<1, K = 4>]} : tensor<512x128xf16>
  return %sum : tensor<512x128xf16>
}

// Uses next to the inner loop read the compact accumulator, uses after the outer loop read a copy in the window.
// CHECK-LABEL: func.func @finished_tiles_are_copied_out(
// CHECK:         spyre.loop 4 "A"
// CHECK:           [[SUM:%.+]] = spyre.loop 4 "B" {{.+}} carried(
// CHECK:             spyre.yield {{%.+}} : tensor<16x1xf16, #[[COLUMN_TILE]]>
// CHECK-NEXT:      } : tensor<16x1xf16, #[[COLUMN_TILE]]>
// CHECK-NEXT:      [[COPY:%.+]] = spyre.copy [[SUM]] {dims = ["A", ""], spyre.for_loop = "{{.+}}"} : tensor<16x1xf16, #[[COLUMN_TILE]]> -> tensor<16x1xf16, #[[COLUMN_WINDOW]]>
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg([[SUM]])
// CHECK-NEXT:      spyre.yield [[COPY]][0], [[NEG]][0]
func.func @finished_tiles_are_copied_out(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> (tensor<64x1xf16>, tensor<64x1xf16>) {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, A = 4>, #spyre.tile_hint<1, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %neg = spyre.pointwise neg(%sum) {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<64x1xf16>
  return %sum, %neg : tensor<64x1xf16>, tensor<64x1xf16>
}

// The outer loop carries the complete accumulator, the inner one reads and writes windows of it.
// CHECK-LABEL: func.func @a_reduced_level_outside_of_output_tiles(
// CHECK:         [[START:%.+]] = spyre.copy {{.+}} -> tensor<512x128xf16, #[[PRODUCT]]>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.loop 4 "K" tiled({{.+}}) carried([[BEFORE:%.+]] = [[START]] : tensor<512x128xf16, #[[PRODUCT]]>) {
// CHECK-NEXT:      [[INNER:%.+]] = spyre.loop 8 "M" tiled({{.+}}, [[BEFORE0:%.+]] = [[BEFORE]][0] : tensor<512x128xf16, #[[PRODUCT]]>) {
// CHECK-NEXT:        [[PART:%.+]] = spyre.matmul({{.+}} -> tensor<64x128xf16, #[[PRODUCT_TILE]]>
// CHECK-NEXT:        [[AFTER:%.+]] = spyre.pointwise add([[BEFORE0]], [[PART]]) {{.+}} -> tensor<64x128xf16, #[[PRODUCT_WINDOW]]>
// CHECK-NEXT:        spyre.yield [[AFTER]][0]
// CHECK-NEXT:      } : tensor<512x128xf16, #[[PRODUCT]]>
// CHECK-NEXT:      spyre.yield [[INNER]] :
// CHECK-NEXT:    } : tensor<512x128xf16, #[[PRODUCT]]>
// CHECK-NEXT:    spyre.pointwise neg([[SUM]])
func.func @a_reduced_level_outside_of_output_tiles(%x: tensor<512x256xf16> {spyre.dims = ["M", "K"]}, %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]}) -> tensor<512x128xf16> {
  %product = spyre.matmul(%x, %y) {hints = [#spyre.tile_hint<0, K = 4>, #spyre.tile_hint<1, M = 8>]} : (tensor<512x256xf16>, tensor<256x128xf16>) -> tensor<512x128xf16>
  %neg = spyre.pointwise neg(%product) : tensor<512x128xf16>
  return %neg : tensor<512x128xf16>
}

// One loop carries both accumulators, each with its own initial value, and yields them in the same order.
// CHECK-LABEL: func.func @two_accumulators_in_one_loop(
// CHECK:         spyre.constant dense<0xFC00>
// CHECK:         [[LOWEST:%.+]] = spyre.copy
// CHECK:         spyre.constant dense<0.000000e+00>
// CHECK:         [[ZEROS:%.+]] = spyre.copy
// CHECK-NEXT:    [[BOTH:%.+]]:2 = spyre.loop 4 "B" tiled({{.+}}) carried([[MAX:%[^ ]+]] = [[LOWEST]] : {{.+}}, [[SUM:%[^ ]+]] = [[ZEROS]] : {{.+}}) {
// CHECK:           [[MAX_AFTER:%.+]] = spyre.pointwise maximum([[MAX]],
// CHECK:           [[SUM_AFTER:%.+]] = spyre.pointwise add([[SUM]],
// CHECK-NEXT:      spyre.yield [[MAX_AFTER]], [[SUM_AFTER]] :
// CHECK:         spyre.pointwise exp([[BOTH]]#0)
// CHECK-NEXT:    spyre.pointwise neg([[BOTH]]#1)
func.func @two_accumulators_in_one_loop(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> (tensor<64x1xf16>, tensor<64x1xf16>) {
  %max = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %exp = spyre.pointwise exp(%max) : tensor<64x1xf16>
  %neg = spyre.pointwise neg(%sum) : tensor<64x1xf16>
  return %exp, %neg : tensor<64x1xf16>, tensor<64x1xf16>
}

// Tiled results precede carried results, as tiled operands do.
// CHECK-LABEL: func.func @a_sum_beside_tiles(
// CHECK:         [[BOTH:%.+]]:2 = spyre.loop 4 "B" tiled({{.+}}) carried(
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:      [[COPY:%.+]] = spyre.copy [[EXP]]
// CHECK-NEXT:      [[PART:%.+]] = spyre.reduce sum([[EXP]])
// CHECK-NEXT:      [[SUM:%.+]] = spyre.pointwise add({{%.+}}, [[PART]])
// CHECK-NEXT:      spyre.yield [[COPY]][1], [[SUM]] :
// CHECK:         spyre.pointwise realdiv([[BOTH]]#0, [[BOTH]]#1)
func.func @a_sum_beside_tiles(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16>
  %sum = spyre.reduce sum(%exp) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %quotient = spyre.pointwise realdiv(%exp, %sum) : (tensor<64x256xf16>, tensor<64x1xf16>) -> tensor<64x256xf16>
  return %quotient : tensor<64x256xf16>
}

// An accumulator that may be in LX is copied if it is a program result.
// CHECK-LABEL: func.func @a_returned_accumulator_is_copied(
// CHECK:         [[SUM:%.+]] = spyre.loop 4 "B"
// CHECK:         [[COPY:%.+]] = spyre.copy [[SUM]] {dims = ["A", ""], spyre.for_loop = "an accumulator that may be in LX is a program result, yielded by a loop, or read tile by tile"} : tensor<64x1xf16, #[[COLUMN]]> -> tensor<64x1xf16, #[[COLUMN]]>
// CHECK-NEXT:    return [[COPY]]
func.func @a_returned_accumulator_is_copied(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  return %sum : tensor<64x1xf16>
}

// 128 MiB exceed the LX of 32 cores.
// CHECK-LABEL: func.func @what_does_not_fit_lx_is_summed_in_place(
// CHECK:         [[SUM:%.+]] = spyre.loop 2 "A"
// CHECK-NOT:     spyre.copy
// CHECK:         return [[SUM]]
func.func @what_does_not_fit_lx_is_summed_in_place(%x: tensor<4x256x262144xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<1x256x262144xf16> {
  %sum = spyre.reduce sum(%x) dims [0] {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<4x256x262144xf16> -> tensor<1x256x262144xf16>
  return %sum : tensor<1x256x262144xf16>
}

// In an outer loop over output tiles, the accumulator is the window that the outer loop yields.
// CHECK-LABEL: func.func @a_tile_that_does_not_fit_lx_is_summed_in_its_window(
// CHECK:         spyre.loop 2 "B"
// CHECK:           [[START:%.+]] = spyre.copy {{.+}} -> tensor<1x256x262144xf16, [[WINDOW:#.+]]>
// CHECK-NEXT:      [[SUM:%.+]] = spyre.loop 2 "A" {{.+}} carried({{%.+}} = [[START]] : tensor<1x256x262144xf16, [[WINDOW]]>)
// CHECK:             spyre.yield {{%.+}} : tensor<1x256x262144xf16, [[WINDOW]]>
// CHECK-NEXT:      } : tensor<1x256x262144xf16, [[WINDOW]]>
// CHECK-NEXT:      spyre.yield [[SUM]][1] : tensor<1x256x262144xf16, [[WINDOW]]>
func.func @a_tile_that_does_not_fit_lx_is_summed_in_its_window(%x: tensor<4x512x262144xf16> {spyre.dims = ["A", "B", "C"]}) -> tensor<1x512x262144xf16> {
  %sum = spyre.reduce sum(%x) dims [0] {hints = [#spyre.tile_hint<0, B = 2>, #spyre.tile_hint<1, A = 2>]} : tensor<4x512x262144xf16> -> tensor<1x512x262144xf16>
  return %sum : tensor<1x512x262144xf16>
}

// A loop that tiles the sum reads it from HBM, so it reads the copy.
// CHECK-LABEL: func.func @a_loop_behind_reads_the_copy(
// CHECK:         [[SUM:%.+]] = spyre.loop 4 "B"
// CHECK:         [[COPY:%.+]] = spyre.copy [[SUM]]
// CHECK-NEXT:    spyre.loop 4 "A" tiled({{%.+}} = [[COPY]][0]
func.func @a_loop_behind_reads_the_copy(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %neg = spyre.pointwise neg(%sum) {hints = [#spyre.tile_hint<1, A = 4>]} : tensor<64x1xf16>
  return %neg : tensor<64x1xf16>
}

// A tile of one row is summed like others; only for a mean it becomes a product.
// CHECK-LABEL: func.func @sum_of_single_elements(
// CHECK:         spyre.loop 4 "A"
// CHECK:           [[PART:%.+]] = spyre.reduce sum({{%.+}}) dims [0]
// CHECK:           spyre.pointwise add({{%.+}}, [[PART]])
func.func @sum_of_single_elements(%x: tensor<4x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<1x256xf16> {
  %sum = spyre.reduce sum(%x) dims [0] {hints = [#spyre.tile_hint<0, A = 4>]} : tensor<4x256xf16> -> tensor<1x256xf16>
  return %sum : tensor<1x256xf16>
}
