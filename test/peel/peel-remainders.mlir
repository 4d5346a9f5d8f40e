// RUN: spyre-opt --spyre-peel-remainders --split-input-file --mlir-print-local-scope %s | FileCheck %s
// RUN: spyre-opt --spyre-peel-remainders=compile=kernels=separate --split-input-file --mlir-print-local-scope %s | FileCheck %s --check-prefix=COMPARED

// Rows of a large value that no tile count divides: each slice reads its rows of the argument, results of an op go to the next op of the
// slice, and the final result is concatenated.
// CHECK-LABEL: func @rows
// CHECK-SAME:    spyre.peeled = "16381 = 16320 + 61 for ops 0-2"
// CHECK:         %[[X:.+]] = spyre.view %arg0 by affine_map<(d0, d1) -> (d0, d1)> : {{.+}} -> tensor<16320x2048xf16>
// CHECK-NEXT:    %[[MAX:.+]] = spyre.reduce max(%[[X]]) dims [1]
// CHECK:         %[[D:.+]] = spyre.pointwise sub(%{{.+}}, %[[MAX]])
// CHECK-NEXT:    %[[E:.+]] = spyre.pointwise exp(%[[D]]) : tensor<16320x2048xf16>
// CHECK-NEXT:    spyre.view %arg0 by affine_map<(d0, d1) -> (d0 + 16320, d1)> : {{.+}} -> tensor<61x2048xf16>
// CHECK:         %[[REST:.+]] = spyre.pointwise exp(%{{.+}}) : tensor<61x2048xf16>
// CHECK-NEXT:    %[[EMPTY:.+]] = spyre.empty
// CHECK-NEXT:    %[[FIRST:.+]] = spyre.insert %[[E]] into %[[EMPTY]] at [0, 0]
// CHECK-NEXT:    %[[BOTH:.+]] = spyre.insert %[[REST]] into %[[FIRST]] at [16320, 0]
// CHECK-NEXT:    return %[[BOTH]]

// Compared with the unpeeled program, peeling is faster.
// COMPARED-LABEL: func @rows
// COMPARED-SAME:    spyre.peeled = "16381 = {{[0-9]+}} + {{[0-9]+}} for ops 0-2; {{.+}} us (unpeeled: {{.+}} us)"
func.func @rows(%x: tensor<16381x2048xf16>) -> tensor<16381x2048xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<16381x2048xf16> -> tensor<16381x1xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<16381x2048xf16>, tensor<16381x1xf16>) -> tensor<16381x2048xf16>
  %e = spyre.pointwise exp(%d) : tensor<16381x2048xf16>
  return %e : tensor<16381x2048xf16>
}

// -----

// A reduction over the rows needs both slices, which are concatenated before it. The following ops are peeled again, and both slices use
// its result.
// CHECK-LABEL: func @both_in_between
// CHECK:         spyre.pointwise abs(%{{.+}}) : tensor<16320x2048xf16>
// CHECK:         spyre.pointwise abs(%{{.+}}) : tensor<61x2048xf16>
// CHECK:         spyre.insert
// CHECK-NEXT:    %[[BOTH:.+]] = spyre.insert
// CHECK-NEXT:    %[[SUM:.+]] = spyre.reduce sum(%[[BOTH]]) dims [0]
// CHECK-NEXT:    spyre.pointwise add(%{{.+}}, %[[SUM]]) : (tensor<16320x2048xf16>, tensor<1x2048xf16>)
// CHECK-NEXT:    spyre.pointwise add(%{{.+}}, %[[SUM]]) : (tensor<61x2048xf16>, tensor<1x2048xf16>)
// COMPARED-LABEL: func @both_in_between
func.func @both_in_between(%x: tensor<16381x2048xf16>) -> tensor<16381x2048xf16> {
  %a = spyre.pointwise abs(%x) : tensor<16381x2048xf16>
  %sum = spyre.reduce sum(%a) dims [0] : tensor<16381x2048xf16> -> tensor<1x2048xf16>
  %b = spyre.pointwise add(%a, %sum) : (tensor<16381x2048xf16>, tensor<1x2048xf16>) -> tensor<16381x2048xf16>
  return %b : tensor<16381x2048xf16>
}

// -----

// Views between the ops become views of slices; both slices of the queries use the keys of all rows.
// CHECK-LABEL: func @attention
// CHECK:         %[[Q:.+]] = spyre.pointwise neg(%{{.+}}) : tensor<4032x64xf16>
// CHECK:         spyre.insert
// CHECK:         %[[KEYS:.+]] = spyre.view %{{.+}} by affine_map<(d0, d1) -> (d1, d0)> : tensor<4093x64xf16> -> tensor<64x4093xf16>
// CHECK-NEXT:    spyre.matmul(%[[Q]], %[[KEYS]]) : (tensor<4032x64xf16>, tensor<64x4093xf16>) -> tensor<4032x4093xf16>
// CHECK:         spyre.matmul(%{{.+}}, %[[KEYS]]) : (tensor<61x64xf16>, tensor<64x4093xf16>) -> tensor<61x4093xf16>
// COMPARED-LABEL: func @attention
func.func @attention(%x: tensor<4093x64xf16>) -> tensor<4093x4093xf16> {
  %q = spyre.pointwise neg(%x) : tensor<4093x64xf16>
  %keys = spyre.view %q by affine_map<(d0, d1) -> (d1, d0)> : tensor<4093x64xf16> -> tensor<64x4093xf16>
  %s = spyre.matmul(%q, %keys) : (tensor<4093x64xf16>, tensor<64x4093xf16>) -> tensor<4093x4093xf16>
  %e = spyre.pointwise exp(%s) : tensor<4093x4093xf16>
  return %e : tensor<4093x4093xf16>
}

// -----

// A size that divides into sticks and over the cores is not peeled.
// CHECK-LABEL: func @divides
// CHECK-NOT:     spyre.insert
// COMPARED-LABEL: func @divides
func.func @divides(%x: tensor<16384x2048xf16>) -> tensor<16384x2048xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<16384x2048xf16> -> tensor<16384x1xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<16384x2048xf16>, tensor<16384x1xf16>) -> tensor<16384x2048xf16>
  return %d : tensor<16384x2048xf16>
}

// -----

// Values below 256 KiB are not peeled.
// CHECK-LABEL: func @fits
// CHECK-NOT:     spyre.insert
// COMPARED-LABEL: func @fits
func.func @fits(%x: tensor<1021x64xf16>) -> tensor<1021x64xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<1021x64xf16> -> tensor<1021x1xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<1021x64xf16>, tensor<1021x1xf16>) -> tensor<1021x64xf16>
  return %d : tensor<1021x64xf16>
}

// -----

// Programs with tile hints are not peeled.
// CHECK-LABEL: func @hinted
// CHECK-NOT:     spyre.insert
// COMPARED-LABEL: func @hinted
func.func @hinted(%x: tensor<16381x2048xf16>) -> tensor<16381x2048xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<16381x2048xf16> -> tensor<16381x1xf16>
  %d = spyre.pointwise sub(%x, %max) {hints = [#spyre.tile_hint<0, B = 2>]} : (tensor<16381x2048xf16>, tensor<16381x1xf16>) -> tensor<16381x2048xf16>
  return %d : tensor<16381x2048xf16>
}

// -----

// Programs with named dimensions are not peeled.
// CHECK-LABEL: func @named
// CHECK-NOT:     spyre.insert
// COMPARED-LABEL: func @named
func.func @named(%x: tensor<16381x2048xf16> {spyre.dims = ["S", "T"]}) -> tensor<16381x2048xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<16381x2048xf16> -> tensor<16381x1xf16>
  %d = spyre.pointwise sub(%x, %max) : (tensor<16381x2048xf16>, tensor<16381x1xf16>) -> tensor<16381x2048xf16>
  return %d : tensor<16381x2048xf16>
}

// -----

// A single elementwise op is not peeled, because peeling would cost more time.
// COMPARED-LABEL: func @pays_nothing
// COMPARED-NOT:     spyre.insert
// CHECK-LABEL: func @pays_nothing
func.func @pays_nothing(%x: tensor<16381x2048xf16>) -> tensor<16381x2048xf16> {
  %d = spyre.pointwise neg(%x) : tensor<16381x2048xf16>
  return %d : tensor<16381x2048xf16>
}
