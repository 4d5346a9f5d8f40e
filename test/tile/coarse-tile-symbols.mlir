// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile %s --split-input-file --verify-diagnostics | FileCheck %s

// The tiles have the size that the maximum gives them, and the loop keeps the name.
// CHECK-LABEL: func.func @a_loop_keeps_the_symbol(
// CHECK-SAME:    attributes {{{.*}}spyre.symbols = {T = 8 : i64}} {
// CHECK-NEXT:    [[LOOP:%.+]] = spyre.loop 8 "M" tiled([[X0:%.+]] = {{%.+}}[0] : tensor<512x256xf16, #{{.+}}>) attributes {symbol = "T"} {
// CHECK-NEXT:      {{.+}} = spyre.loop 2 "N" tiled({{%.+}} = [[X0]][1] : tensor<64x256xf16, #{{[a-z0-9]+}}>) {
// CHECK-NEXT:        spyre.pointwise exp({{.+}}) {dims = ["M", "N"]} : tensor<64x128xf16,
func.func @a_loop_keeps_the_symbol(%x: tensor<512x256xf16> {spyre.dims = ["M", "N"]}) -> tensor<512x256xf16> attributes {spyre.symbols = {T = 8}} {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, M = T>, #spyre.tile_hint<1, N = 2>]} : tensor<512x256xf16>
  return %exp : tensor<512x256xf16>
}

// A reduction adds up the tiles that a run does.
// CHECK-LABEL: func.func @what_is_reduced(
// CHECK:         {{.+}} = spyre.loop 4 "N" tiled({{.+}}) carried({{.+}}) attributes {symbol = "T"} {
// CHECK-NEXT:      spyre.reduce sum({{.+}}) dims [1] {{.*}}: tensor<512x64xf16,
func.func @what_is_reduced(%x: tensor<512x256xf16> {spyre.dims = ["M", "N"]}) -> tensor<512x1xf16> attributes {spyre.symbols = {T = 4}} {
  %sum = spyre.reduce sum(%x) dims [1] {hints = [#spyre.tile_hint<0, N = T>]} : tensor<512x256xf16> -> tensor<512x1xf16>
  return %sum : tensor<512x1xf16>
}

// -----

func.func @tiles_without_a_size(%x: tensor<512x256xf16> {spyre.dims = ["M", "N"]}) -> tensor<512x256xf16> attributes {spyre.symbols = {U = 8}} {
  // expected-error @+1 {{tile count 'T' of dimension 'M' has no value; give --bind T=NUMBER, or declare a maximum on the function, 'spyre.symbols = {T = NUMBER}'}}
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, M = T>]} : tensor<512x256xf16>
  return %exp : tensor<512x256xf16>
}

// -----

// The maximum divides, as a number would have to.
func.func @a_maximum_divides(%x: tensor<512x256xf16> {spyre.dims = ["M", "N"]}) -> tensor<512x256xf16> attributes {spyre.symbols = {T = 3}} {
  // expected-error @+1 {{tile count 3 does not divide dimension 'M' of size 512; nearest divisors are 2 and 4}}
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, M = T>]} : tensor<512x256xf16>
  return %exp : tensor<512x256xf16>
}
