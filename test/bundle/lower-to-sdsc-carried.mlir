// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile --spyre-divide-work --spyre-allocate-scratchpad --spyre-form-bundles --spyre-lower-to-sdsc --split-input-file %s | FileCheck %s
// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile --spyre-divide-work --spyre-allocate-scratchpad=planner=none --spyre-form-bundles --spyre-lower-to-sdsc --split-input-file %s | FileCheck %s --check-prefix=HBM

// All that a loop carries is one buffer, which does not move: in LX, or without a planner in the pool.
// CHECK-DAG: #[[X:.+]] = #sdsc.tensor<{{.+}} memory = "hbm", argument = 0, advance = [4096]>
// CHECK-DAG: #[[SUM:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 64], coordinates = {{#[^,]+}}, memory = "lx", offset_bytes = 256>
// CHECK-DAG: #[[PART:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 64], coordinates = {{#[^,]+}}, memory = "lx">
// CHECK-LABEL: sdsc.program @carried
// CHECK:         sdsc.op "identity" {{.+}} outs [#[[SUM]]]
// CHECK-NEXT:    sdsc.loop 4 {
// CHECK-NEXT:      sdsc.op "sum" reduction {{.+}} ins [#[[X]]]
// CHECK-NEXT:      sdsc.op "add" {{.+}} ins [#[[SUM]], #[[PART]]] outs [#[[SUM]]]
// CHECK-NEXT:    }
// CHECK-NEXT:    sdsc.op "neg" {{.+}} ins [#[[SUM]]]
// HBM-LABEL: sdsc.program @carried
// HBM:         sdsc.op "identity" {{.+}} outs [#[[SUM:pool[0-9]*]]]
// HBM-NEXT:    sdsc.loop 4 {
// HBM-NEXT:      sdsc.op "sum" reduction {{.+}} outs [#{{pool[0-9]*}}]
// HBM-NEXT:      sdsc.op "add" {{.+}} ins [#[[SUM]], #{{pool[0-9]*}}] outs [#[[SUM]]]
// HBM-NEXT:    }
// HBM-NEXT:    sdsc.op "neg" {{.+}} ins [#[[SUM]]]
func.func @carried(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %neg = spyre.pointwise neg(%sum) : tensor<64x1xf16>
  return %neg : tensor<64x1xf16>
}

// -----

// The inner loop reads and writes window after window of the buffer that the outer one carries: 64 rows are 4096 elements, and the outer
// loop moves nothing. What reads the whole behind the loops does not move at all.
// CHECK-DAG: #[[WINDOW:.+]] = #sdsc.tensor<{{.+}}device_size = [2, 512, 64], {{.+}}memory = "pool", offset_bytes = [[AT:[0-9]+]], advance = [0, 4096]>
// CHECK-DAG: #[[WHOLE:.+]] = #sdsc.tensor<{{.+}}device_size = [2, 512, 64], {{.+}}memory = "pool", offset_bytes = 16384>
// CHECK-DAG: #[[X:.+]] = #sdsc.tensor<{{.+}}device_size = [4, 512, 64], {{.+}}argument = 0, advance = [32768, 4096]>
// CHECK-DAG: #[[Y:.+]] = #sdsc.tensor<{{.+}}device_size = [2, 256, 64], {{.+}}argument = 1, advance = [4096, 0]>
// CHECK-LABEL: sdsc.program @windows_of_what_is_carried
// CHECK:         sdsc.op "identity" {{.+}} outs [#[[WHOLE]]]
// CHECK-NEXT:    sdsc.loop 4 {
// CHECK-NEXT:      sdsc.loop 8 {
// CHECK-NEXT:        sdsc.op "batchmatmul" {{.+}} ins [#[[X]], #[[Y]]]
// CHECK-NEXT:        sdsc.op "add" {{.+}} ins [#[[WINDOW]], {{#.+}}] outs [#[[WINDOW]]]
// CHECK:         sdsc.op "neg" {{.+}} ins [#[[WHOLE]]]
// HBM-LABEL: sdsc.program @windows_of_what_is_carried
func.func @windows_of_what_is_carried(%x: tensor<512x256xf16> {spyre.dims = ["M", "K"]}, %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]}) -> tensor<512x128xf16> {
  %product = spyre.matmul(%x, %y) {hints = [#spyre.tile_hint<0, K = 4>, #spyre.tile_hint<1, M = 8>]} : (tensor<512x256xf16>, tensor<256x128xf16>) -> tensor<512x128xf16>
  %neg = spyre.pointwise neg(%product) : tensor<512x128xf16>
  return %neg : tensor<512x128xf16>
}

// -----

// A tile of columns of a transposed view is a tile of rows of the buffer: 128 rows of a stick each.
// CHECK-DAG: #[[X:.+]] = #sdsc.tensor<{{.+}}device_size = [2, 256, 64], {{.+}}argument = 0, advance = [8192]>
// CHECK-LABEL: sdsc.program @a_tile_of_a_view
// CHECK:         sdsc.loop 2 {
// CHECK-NEXT:      sdsc.op "exp" {{.+}} ins [#[[X]]]
// HBM-LABEL: sdsc.program @a_tile_of_a_view
func.func @a_tile_of_a_view(%x: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x256xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %exp = spyre.pointwise exp(%view) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<128x256xf16>
  return %exp : tensor<128x256xf16>
}

// -----

// A view that repeats a row for all rows does not move with their tiles.
// CHECK-DAG: #[[ROW:.+]] = #sdsc.tensor<{{.+}}argument = 1>
// CHECK-DAG: #[[X:.+]] = #sdsc.tensor<{{.+}}argument = 0, advance = [8192]>
// CHECK-LABEL: sdsc.program @a_tile_of_repeated_rows
// CHECK:         sdsc.loop 2 {
// CHECK-NEXT:      sdsc.op "add" {{.+}} ins [#[[X]], #[[ROW]]]
// HBM-LABEL: sdsc.program @a_tile_of_repeated_rows
func.func @a_tile_of_repeated_rows(%x: tensor<256x128xf16> {spyre.dims = ["A", "B"]}, %row: tensor<1x128xf16>) -> tensor<256x128xf16> {
  %rows = spyre.view %row by affine_map<(d0, d1) -> (0, d1)> : tensor<1x128xf16> -> tensor<256x128xf16>
  %sum = spyre.pointwise add(%x, %rows) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<256x128xf16>
  return %sum : tensor<256x128xf16>
}

// -----

// Each of two accumulators is a buffer of its own, from its start to its reader.
// CHECK-LABEL: sdsc.program @two_accumulators
// CHECK:         sdsc.op "identity" {{.+}} outs [#[[MAX:lx[0-9]*]]]
// CHECK-NEXT:    sdsc.op "identity" {{.+}} outs [#[[SUM:lx[0-9]*]]]
// CHECK-NEXT:    sdsc.loop 4 {
// CHECK:           sdsc.op "maximum" {{.+}} ins [#[[MAX]], #{{.+}}] outs [#[[MAX]]]
// CHECK:           sdsc.op "add" {{.+}} ins [#[[SUM]], #{{.+}}] outs [#[[SUM]]]
// CHECK:         sdsc.op "exp" {{.+}} ins [#[[MAX]]]
// CHECK-NEXT:    sdsc.op "neg" {{.+}} ins [#[[SUM]]]
// HBM-LABEL: sdsc.program @two_accumulators
// HBM:         sdsc.op "identity" {{.+}} outs [#[[MAX:pool[0-9]*]]]
// HBM-NEXT:    sdsc.op "identity" {{.+}} outs [#[[SUM:pool[0-9]*]]]
// HBM:           sdsc.op "maximum" {{.+}} ins [#[[MAX]], #{{.+}}] outs [#[[MAX]]]
// HBM:           sdsc.op "add" {{.+}} ins [#[[SUM]], #{{.+}}] outs [#[[SUM]]]
func.func @two_accumulators(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> (tensor<64x1xf16>, tensor<64x1xf16>) {
  %max = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<64x256xf16> -> tensor<64x1xf16>
  %exp = spyre.pointwise exp(%max) : tensor<64x1xf16>
  %neg = spyre.pointwise neg(%sum) : tensor<64x1xf16>
  return %exp, %neg : tensor<64x1xf16>, tensor<64x1xf16>
}
