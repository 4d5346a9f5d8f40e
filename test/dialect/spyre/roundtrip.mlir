// RUN: spyre-opt %s --verify-roundtrip | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --emit-bytecode | spyre-opt | FileCheck %s

// CHECK-DAG: [[ROWS:#layout[0-9]*]] = #spyre.layout<[16, 512, 64], [64, 1024, 1]>
// CHECK-DAG: [[SPARSE:#layout[0-9]*]] = #spyre.layout<[1, 512, 64], [-1, 1, -1]>
// CHECK-DAG: [[BUFFER:#layout[0-9]*]] = #spyre.layout<[64, 1024, 64], [64, 4096, 1]>
// CHECK-DAG: [[WINDOW:#layout[0-9]*]] = #spyre.layout<[64, 1024, 64], [64, 4096, 1], of = [1024, 4096]>
// CHECK-DAG: [[FORMAT:#layout[0-9]*]] = #spyre.layout<[4, 4, 32], [32, 128, 1], format = IEEE_FP32>
// CHECK-DAG: [[BOTH:#layout[0-9]*]] = #spyre.layout<[2, 4, 32], [32, 64, 1], format = SENUINT32, of = [8, 64]>
// CHECK-DAG: [[COLUMNS:#layout[0-9]*]] = #spyre.layout<[8, 1024, 64], [65536, 1, 1024]>
// CHECK-DAG: [[TRANSPOSE:#map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: [[FLATTEN:#map[0-9]*]] = affine_map<(d0) -> (d0 floordiv 256, d0 mod 256)>

#rows = #spyre.layout<[16, 512, 64], [64, 1024, 1]>
#columns = #spyre.layout<[8, 1024, 64], [65536, 1, 1024]>
#sparse = #spyre.layout<[1, 512, 64], [-1, 1, -1]>
#buffer = #spyre.layout<[64, 1024, 64], [64, 4096, 1]>
#window = #spyre.layout<[64, 1024, 64], [64, 4096, 1], of = [1024, 4096]>

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @layouts
// CHECK-SAME: tensor<512x1024xf16, [[ROWS]]> {spyre.dims = ["A", "B"]}
// CHECK-SAME: tensor<512x1024xf16, [[WINDOW]]>
// CHECK-SAME: tensor<4x128xf16, [[FORMAT]]>
// CHECK-SAME: tensor<4x64xi64, [[BOTH]]>
func.func @layouts(%rows: tensor<512x1024xf16, #rows> {spyre.dims = ["A", "B"]}, %window: tensor<512x1024xf16, #window>,
                   %format: tensor<4x128xf16, #spyre.layout<[4, 4, 32], [32, 128, 1], format = IEEE_FP32>>,
                   %both: tensor<4x64xi64, #spyre.layout<[2, 4, 32], [32, 64, 1], format = SENUINT32, of = [8, 64]>>) {
  return
}

// CHECK-LABEL: func.func @decisions
// CHECK: spyre.reduce max(%{{.+}}) dims [1]
// CHECK-SAME: dims = ["A", "B*C"]
// CHECK-SAME: hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, "B C" = 4>]
// CHECK-SAME: min_work = #spyre.work<[2, 1]>
// CHECK-SAME: place = #spyre.place<lx, 128>
// CHECK-SAME: work = #spyre.work<[8, 4], order = [1, 0]>
// CHECK-SAME: work_div = [#spyre.work_hint<2, A = 32>, #spyre.work_hint<3, "B C" = 1>]
// CHECK-SAME: : tensor<512x1024xf16, [[ROWS]]> -> tensor<512x1xf16, [[SPARSE]]>
func.func @decisions(%x: tensor<512x1024xf16, #rows>) -> tensor<512x1xf16, #sparse> {
  %max = spyre.reduce max(%x) dims [1] {
    dims = ["A", "B*C"], hints = [#spyre.tile_hint<0, A = 2>, #spyre.tile_hint<1, "B C" = 4>],
    work_div = [#spyre.work_hint<2, A = 32>, #spyre.work_hint<3, "B C" = 1>],
    min_work = #spyre.work<[2, 1]>, work = #spyre.work<[8, 4], order = [1, 0]>, place = #spyre.place<lx, 128>}
    : tensor<512x1024xf16, #rows> -> tensor<512x1xf16, #sparse>
  return %max : tensor<512x1xf16, #sparse>
}

// CHECK-LABEL: func.func @places
// CHECK: spyre.copy {{.+}} {place = #spyre.place<hbm, "it is a \22result\22 of the program">, spyre.bundle = 3 : i64}
// CHECK: spyre.copy {{.+}} {place = #spyre.place<pool, 256, "it does not fit">}
// CHECK: spyre.copy {{.+}} {place = #spyre.place<hbm>}
func.func @places(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %a = spyre.copy %x {place = #spyre.place<hbm, "it is a \22result\22 of the program">, spyre.bundle = 3}
    : tensor<4x64xf16> -> tensor<4x64xf16>
  %b = spyre.copy %a {place = #spyre.place<pool, 256, "it does not fit">} : tensor<4x64xf16> -> tensor<4x64xf16>
  %c = spyre.copy %b {place = #spyre.place<hbm>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return %c : tensor<4x64xf16>
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @pointwise
// CHECK-SAME: [[X:%[^:]+]]: tensor<512x1024xf16>, [[MAX:%[^:]+]]: tensor<512x1xf16>, [[CONDITION:%[^:]+]]: tensor<512x1024xi1>
// CHECK: [[SUM:%.+]] = spyre.pointwise add([[X]], [[X]]) : tensor<512x1024xf16>
// CHECK: [[SHIFTED:%.+]] = spyre.pointwise sub([[SUM]], [[MAX]]) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
// CHECK: spyre.pointwise where3([[CONDITION]], [[SHIFTED]], [[X]]) {place = #spyre.place<lx, 0>} : (tensor<512x1024xi1>, tensor<512x1024xf16>, tensor<512x1024xf16>) -> tensor<512x1024xf16>
// CHECK: spyre.pointwise exp([[MAX]]) : (tensor<512x1xf16>) -> tensor<512x1024xf16>
func.func @pointwise(%x: tensor<512x1024xf16>, %max: tensor<512x1xf16>, %condition: tensor<512x1024xi1>) {
  %sum = spyre.pointwise add(%x, %x) : tensor<512x1024xf16>
  %shifted = spyre.pointwise sub(%sum, %max) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
  %chosen = spyre.pointwise where3(%condition, %shifted, %x) {place = #spyre.place<lx, 0>}
    : (tensor<512x1024xi1>, tensor<512x1024xf16>, tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %broadcast = spyre.pointwise exp(%max) : (tensor<512x1xf16>) -> tensor<512x1024xf16>
  return
}

// CHECK-LABEL: func.func @reduce
// CHECK: spyre.reduce sum(%{{.+}}) dims [0, 2] : tensor<2x512x1024xf16> -> tensor<1x512x1xf16>
func.func @reduce(%x: tensor<2x512x1024xf16>) {
  %sum = spyre.reduce sum(%x) dims [0, 2] : tensor<2x512x1024xf16> -> tensor<1x512x1xf16>
  return
}

// CHECK-LABEL: func.func @matmul
// CHECK: spyre.matmul(%{{.+}}, %{{.+}}) : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<128x512xf16>
// CHECK: spyre.matmul(%{{.+}}, %{{.+}}) {work = #spyre.work<[4, 1, 8, 1]>} : (tensor<4x128x256xf16>, tensor<4x256x512xf16>) -> tensor<4x128x512xf16>
func.func @matmul(%a: tensor<128x256xf16>, %b: tensor<256x512xf16>, %c: tensor<4x128x256xf16>, %d: tensor<4x256x512xf16>) {
  %plain = spyre.matmul(%a, %b) : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<128x512xf16>
  %batched = spyre.matmul(%c, %d) {work = #spyre.work<[4, 1, 8, 1]>}
    : (tensor<4x128x256xf16>, tensor<4x256x512xf16>) -> tensor<4x128x512xf16>
  return
}

// CHECK-LABEL: func.func @gather
// CHECK-SAME: [[TABLE:%[^:]+]]: tensor<128x256xf16>, [[MATRIX:%[^:]+]]: tensor<3x192xi64>, [[LIST:%[^:]+]]: tensor<16xi32>
// CHECK: spyre.gather([[TABLE]], [[MATRIX]]) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
// CHECK: spyre.gather([[TABLE]], [[LIST]]) dim 1 {work = #spyre.work<[1, 1]>} : (tensor<128x256xf16>, tensor<16xi32>) -> tensor<16x128xf16>
func.func @gather(%table: tensor<128x256xf16>, %matrix: tensor<3x192xi64>, %list: tensor<16xi32>) {
  %rows = spyre.gather(%table, %matrix) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  %columns = spyre.gather(%table, %list) dim 1 {work = #spyre.work<[1, 1]>} : (tensor<128x256xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return
}

//===----------------------------------------------------------------------===//
// Data movement and constants
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @restickify
// CHECK: spyre.restickify %{{.+}} : tensor<512x1024xf16, [[ROWS]]> -> tensor<512x1024xf16, [[COLUMNS]]>
func.func @restickify(%x: tensor<512x1024xf16, #rows>) {
  %t = spyre.restickify %x : tensor<512x1024xf16, #rows> -> tensor<512x1024xf16, #columns>
  return
}

// CHECK-LABEL: func.func @fill
// CHECK: spyre.fill 0.000000e+00 : f16 -> tensor<128x512xf16>
// CHECK: spyre.fill 7 : i32 {place = #spyre.place<lx, 0>} -> tensor<128x512xi32>
// CHECK: spyre.fill 0xFC00 : f16 -> tensor<1xf16>
func.func @fill() {
  %zero = spyre.fill 0.0 : f16 -> tensor<128x512xf16>
  %seven = spyre.fill 7 : i32 {place = #spyre.place<lx, 0>} -> tensor<128x512xi32>
  %least = spyre.fill 0xFC00 : f16 -> tensor<1xf16>
  return
}

// CHECK-LABEL: func.func @parts
// CHECK: [[EMPTY:%.+]] = spyre.empty {place = #spyre.place<pool, 128, "it is written in parts">} : tensor<512x1024xf16, [[ROWS]]>
// CHECK: [[PART:%.+]] = spyre.insert %{{.+}} into [[EMPTY]] at [0, 0] : tensor<512x64xf16> into tensor<512x1024xf16, [[ROWS]]>
// CHECK: spyre.insert %{{.+}} into [[PART]] at [0, 64] {dims = ["A", "B"], work = #spyre.work<[32, 1]>} : tensor<512x960xf16> into tensor<512x1024xf16, [[ROWS]]>
// CHECK: spyre.empty : tensor<f16>{{$}}
func.func @parts(%x: tensor<512x64xf16>, %y: tensor<512x960xf16>) -> tensor<512x1024xf16, #rows> {
  %buffer = spyre.empty {place = #spyre.place<pool, 128, "it is written in parts">} : tensor<512x1024xf16, #rows>
  %part = spyre.insert %x into %buffer at [0, 0] : tensor<512x64xf16> into tensor<512x1024xf16, #rows>
  %whole = spyre.insert %y into %part at [0, 64] {dims = ["A", "B"], work = #spyre.work<[32, 1]>} : tensor<512x960xf16> into tensor<512x1024xf16, #rows>
  %scalar = spyre.empty : tensor<f16>
  return %whole : tensor<512x1024xf16, #rows>
}

// A layout follows an arrow.
// CHECK-LABEL: func.func @constant
// CHECK: spyre.constant dense<5.000000e-01> : tensor<1x1xf16>{{$}}
// CHECK: spyre.constant dense<{{.*}}> : tensor<512x1024xf16> -> tensor<512x1024xf16, [[ROWS]]>
// CHECK: spyre.constant dense_resource<weight> : tensor<2xf16>{{$}}
func.func @constant() {
  %half = spyre.constant dense<0.5> : tensor<1x1xf16>
  %ones = spyre.constant dense<1.0> : tensor<512x1024xf16> -> tensor<512x1024xf16, #rows>
  %weight = spyre.constant dense_resource<weight> : tensor<2xf16>
  return
}

// CHECK-LABEL: func.func @view
// CHECK: spyre.view %{{.+}} by [[TRANSPOSE]] : tensor<512x256xf16> -> tensor<256x512xf16>
// CHECK: spyre.view %{{.+}} by [[FLATTEN]] : tensor<512x256xf16> -> tensor<131072xf16>
func.func @view(%x: tensor<512x256xf16>) {
  %transposed = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<512x256xf16> -> tensor<256x512xf16>
  %flat = spyre.view %x by affine_map<(d0) -> (d0 floordiv 256, d0 mod 256)> : tensor<512x256xf16> -> tensor<131072xf16>
  return
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @hint
// CHECK: spyre.hint tiles(A = 2, "B 2" = 4) {
// CHECK-NEXT: [[INNER:%.+]] = spyre.hint tiles(C = 2) {
// CHECK-NEXT: [[SUM:%.+]] = spyre.pointwise add
// CHECK-NEXT: spyre.yield [[SUM]] : tensor<1024x4096xf16>
// CHECK-NEXT: }
// CHECK-NEXT: spyre.yield [[INNER]] : tensor<1024x4096xf16>
// CHECK-NEXT: }
// CHECK: spyre.hint tiles(A = 1) work_div("B 2" = 4, C = 2) {
// CHECK-NEXT: spyre.yield{{$}}
// CHECK: spyre.hint work_div(A = 1) {
// CHECK-NEXT: spyre.yield{{$}}
// The spelling of torch-spyre for tiles.
// CHECK: spyre.hint tiles(A = 2, "B 2" = 4) {
// CHECK-NEXT: spyre.yield{{$}}
// CHECK: spyre.hint tiles(C = 8) work_div(A = 1) {
// CHECK-NEXT: spyre.yield{{$}}
// A count may be a name.
// CHECK: spyre.hint tiles(A = T, B = 4, C = tiles_of_C) {
// CHECK-NEXT: spyre.yield{{$}}
func.func @hint(%a: tensor<1024x4096xf16>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %outer = spyre.hint tiles(A = 2, "B 2" = 4) {
    %inner = spyre.hint tiles(C = 2) {
      %sum = spyre.pointwise add(%a, %b) : tensor<1024x4096xf16>
      spyre.yield %sum : tensor<1024x4096xf16>
    }
    spyre.yield %inner : tensor<1024x4096xf16>
  }
  spyre.hint tiles(A = 1) work_div("B 2" = 4, C = 2) {
    spyre.yield
  }
  spyre.hint work_div(A = 1) {
    spyre.yield
  }
  spyre.hint slices(A = 2, "B 2" = 4) {
    spyre.yield
  }
  spyre.hint num_tiles_per_dim(C = 8) work_div(A = 1) {
    spyre.yield
  }
  spyre.hint tiles(A = T, B = 4, C = "tiles_of_C") {
    spyre.yield
  }
  return %outer : tensor<1024x4096xf16>
}

// CHECK-LABEL: func.func @loop
// CHECK: spyre.loop 2 "A" tiled([[ROWS_TILE:%.+]] = %{{.+}}[0] : tensor<1024x4096xf16>) {
// CHECK: [[SUM:%.+]] = spyre.pointwise add([[ROWS_TILE]], %{{.+}}) : tensor<512x4096xf16>
// CHECK: spyre.yield [[SUM]][0], [[SUM]][1] : tensor<512x4096xf16>, tensor<512x4096xf16>
// CHECK: } : tensor<1024x4096xf16>, tensor<512x8192xf16>
func.func @loop(%x: tensor<1024x4096xf16>, %invariant: tensor<512x4096xf16>) {
  %results:2 = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<1024x4096xf16>) {
    %sum = spyre.pointwise add(%tile, %invariant) : tensor<512x4096xf16>
    spyre.yield %sum[0], %sum[1] : tensor<512x4096xf16>, tensor<512x4096xf16>
  } : tensor<1024x4096xf16>, tensor<512x8192xf16>
  return
}

// A trip count that is fixed at launch has a name, whose maximum is an attribute of the function.
// CHECK-LABEL: func.func @counts_at_launch
// CHECK-SAME: attributes {spyre.symbols = {T = 8 : i64}} {
// CHECK: spyre.copy {{.+}} {hints = [#spyre.tile_hint<0, A = T>, #spyre.tile_hint<1, "B C" = 2>]}
// CHECK: spyre.loop 8 "A" tiled({{.+}}) attributes {symbol = "T"} {
func.func @counts_at_launch(%x: tensor<64x64xf16>) attributes {spyre.symbols = {T = 8}} {
  %copy = spyre.copy %x {hints = [#spyre.tile_hint<0, A = T>, #spyre.tile_hint<1, "B C" = 2>]} : tensor<64x64xf16> -> tensor<64x64xf16>
  %loop = spyre.loop 8 "A" tiled(%tile = %copy[0] : tensor<64x64xf16>) attributes {symbol = "T"} {
    spyre.yield %tile[0] : tensor<8x64xf16>
  } : tensor<64x64xf16>
  return
}

// Carried values follow tiled values, and are yielded without a dimension.
// CHECK-LABEL: func.func @carried_values
// CHECK: spyre.loop 4 "B" tiled([[TILE:%.+]] = %{{.+}}[1] : tensor<1024x4096xf16>) carried([[BEFORE:%.+]] = %{{.+}} : tensor<1024x1xf16>) {
// CHECK: [[AFTER:%.+]] = spyre.pointwise add([[BEFORE]], %{{.+}}) : tensor<1024x1xf16>
// CHECK: spyre.yield [[TILE]][1], [[AFTER]] : tensor<1024x1024xf16>, tensor<1024x1xf16>
// CHECK: spyre.loop 2 "C" carried(%{{.+}} = %{{.+}}#1 : tensor<1024x1xf16>) {
func.func @carried_values(%x: tensor<1024x4096xf16>, %column: tensor<1024x1xf16>) {
  %begin = spyre.pointwise exp(%column) : tensor<1024x1xf16>
  %results:2 = spyre.loop 4 "B" tiled(%tile = %x[1] : tensor<1024x4096xf16>) carried(%before = %begin : tensor<1024x1xf16>) {
    %part = spyre.reduce sum(%tile) dims [1] : tensor<1024x1024xf16> -> tensor<1024x1xf16>
    %after = spyre.pointwise add(%before, %part) : tensor<1024x1xf16>
    spyre.yield %tile[1], %after : tensor<1024x1024xf16>, tensor<1024x1xf16>
  } : tensor<1024x4096xf16>, tensor<1024x1xf16>
  %doubled = spyre.loop 2 "C" carried(%before = %results#1 : tensor<1024x1xf16>) {
    %after = spyre.pointwise add(%before, %before) : tensor<1024x1xf16>
    spyre.yield %after : tensor<1024x1xf16>
  } : tensor<1024x1xf16>
  return
}

// The tile of a buffer with a layout is a window of it, also in an inner loop.
// CHECK-LABEL: func.func @nested_loops
// CHECK: spyre.loop 2 "A" tiled([[OUTER:%.+]] = %{{.+}}[0] : tensor<1024x4096xf16, [[BUFFER]]>) attributes {spyre.bundle = 1 : i64} {
// CHECK: spyre.loop 4 "B" tiled([[INNER:%.+]] = [[OUTER]][1] : tensor<512x4096xf16, [[WINDOW]]>) {
// CHECK: spyre.pointwise exp([[INNER]]) : tensor<512x1024xf16, [[WINDOW]]>
// CHECK: spyre.yield %{{.+}}[1] : tensor<512x1024xf16, [[WINDOW]]>
// CHECK: } : tensor<512x4096xf16, [[WINDOW]]>
// CHECK: } : tensor<1024x4096xf16, [[BUFFER]]>
func.func @nested_loops(%x: tensor<1024x4096xf16, #buffer>) -> tensor<1024x4096xf16, #buffer> {
  %rows = spyre.loop 2 "A" tiled(%outer = %x[0] : tensor<1024x4096xf16, #buffer>) attributes {spyre.bundle = 1} {
    %columns = spyre.loop 4 "B" tiled(%inner = %outer[1] : tensor<512x4096xf16, #window>) {
      %e = spyre.pointwise exp(%inner) : tensor<512x1024xf16, #window>
      spyre.yield %e[1] : tensor<512x1024xf16, #window>
    } : tensor<512x4096xf16, #window>
    spyre.yield %columns[0] : tensor<512x4096xf16, #window>
  } : tensor<1024x4096xf16, #buffer>
  return %rows : tensor<1024x4096xf16, #buffer>
}

// A kernel has arguments for its inputs, and symbolic numbers.
// CHECK-LABEL: func.func @a_kernel
// CHECK: %{{.+}}:2 = spyre.kernel "norm"([[IN:%.+]] = %{{.+}} : tensor<512x1024xf16>, [[WEIGHT:%.+]] = %{{.+}} : tensor<1x1024xf16>)
// CHECK-SAME: knobs([#spyre.knob<T = 8 in [1, 8, 16]>, #spyre.knob<U = 4 in pow2 2 to 64, where "T * U <= 64 && (U - 1) % 3 == 0">, #spyre.knob<V = 3 in 1 to 8>]) {
// CHECK: spyre.hint tiles(rows = T) {
// CHECK: spyre.pointwise mul([[IN]], [[WEIGHT]])
// CHECK: spyre.yield %{{.+}}, [[IN]] : tensor<512x1024xf16>, tensor<512x1024xf16>
// CHECK: } {input_dims = {{\[\[}}"rows", ""], []]}
func.func @a_kernel(%x: tensor<512x1024xf16>, %weight: tensor<1x1024xf16>) -> tensor<512x1024xf16> {
  %y, %same = spyre.kernel "norm"(%in = %x : tensor<512x1024xf16>, %w = %weight : tensor<1x1024xf16>)
      knobs([#spyre.knob<T = 8 in [1, 8, 16]>, #spyre.knob<U = 4 in pow2 2 to 64, where "T * U <= 64 && (U - 1) % 3 == 0">, #spyre.knob<V = 3 in 1 to 8>]) {
    %scope = spyre.hint tiles(rows = T) {
      %z = spyre.pointwise mul(%in, %w) : (tensor<512x1024xf16>, tensor<1x1024xf16>) -> tensor<512x1024xf16>
      spyre.yield %z : tensor<512x1024xf16>
    }
    spyre.yield %scope, %in : tensor<512x1024xf16>, tensor<512x1024xf16>
  } {input_dims = [["rows", ""], []]}
  return %y : tensor<512x1024xf16>
}
