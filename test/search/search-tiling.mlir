// RUN: spyre-opt --spyre-set-target="lx-bytes=32768" --spyre-propagate-layouts --spyre-search-tiling %s | FileCheck %s
// RUN: spyre-opt --spyre-set-target="lx-bytes=32768" --spyre-propagate-layouts --spyre-search-tiling="steps=0" %s | FileCheck %s --check-prefix=NONE
// RUN: spyre-opt --spyre-propagate-layouts --spyre-search-tiling %s | FileCheck %s --check-prefix=NONE
// NONE-NOT: axis0

// The values between the ops have 2 MiB, twice the LX of 32 cores; loops over the rows make them resident.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    spyre.tile_search = {{.*}}nests = ["ops 0-4 in [[COUNT:[0-9]+]] tiles of axis0"]
// CHECK:         spyre.reduce max({{%.+}}) dims [1] {dims = ["axis0", ""], hints = [#spyre.tile_hint<0, axis0 = [[COUNT]]>]}
// CHECK-NEXT:    spyre.pointwise sub({{%.+}}, {{%.+}}) {dims = ["axis0", ""], hints = [#spyre.tile_hint<0, axis0 = [[COUNT]]>]}
func.func @softmax(%x: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<2048x512xf16> -> tensor<2048x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<2048x512xf16>, tensor<2048x1xf16>) -> tensor<2048x512xf16>
  %exp = spyre.pointwise exp(%shifted) : tensor<2048x512xf16>
  %sum = spyre.reduce sum(%exp) dims [1] : tensor<2048x512xf16> -> tensor<2048x1xf16>
  %y = spyre.pointwise realdiv(%exp, %sum) : (tensor<2048x512xf16>, tensor<2048x1xf16>) -> tensor<2048x512xf16>
  return %y : tensor<2048x512xf16>
}

// Existing names of dimensions are kept.
// CHECK-LABEL: func.func @named(
// CHECK:         spyre.pointwise exp({{%.+}}) {dims = ["rows", "columns"], hints = [#spyre.tile_hint<0, rows = {{[0-9]+}}>]}
func.func @named(%x: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %exp = spyre.pointwise exp(%x) {dims = ["rows", "columns"]} : tensor<2048x512xf16>
  %tanh = spyre.pointwise tanh(%exp) {dims = ["rows", "columns"]} : tensor<2048x512xf16>
  %neg = spyre.pointwise neg(%tanh) {dims = ["rows", "columns"]} : tensor<2048x512xf16>
  return %neg : tensor<2048x512xf16>
}

// A user hint is kept, and its op gets no other loop.
// CHECK-LABEL: func.func @hinted(
// CHECK:         spyre.pointwise exp({{%.+}}) {dims = ["A", ""], hints = [#spyre.tile_hint<7, A = 2>]}
// CHECK:         spyre.pointwise tanh({{%.+}}) {dims = ["A", ""], hints = [#spyre.tile_hint<7, A = 2>]}
func.func @hinted(%x: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %exp = spyre.pointwise exp(%x) {dims = ["A", ""], hints = [#spyre.tile_hint<7, A = 2>]} : tensor<2048x512xf16>
  %tanh = spyre.pointwise tanh(%exp) {dims = ["A", ""], hints = [#spyre.tile_hint<7, A = 2>]} : tensor<2048x512xf16>
  return %tanh : tensor<2048x512xf16>
}
