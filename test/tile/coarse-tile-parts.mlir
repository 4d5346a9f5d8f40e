// RUN: spyre-opt --spyre-coarse-tile --verify-diagnostics --mlir-print-local-scope %s | FileCheck %s

#half = #spyre.layout<[1, 32, 64], [64, 64, 1]>
#whole = #spyre.layout<[2, 32, 64], [64, 128, 1]>

// A concatenation, with its buffer, is inside the loops along the dimensions that both tensors have completely.
// CHECK-LABEL: func.func @columns(
// CHECK:         spyre.loop 2 "A" tiled([[X:%.+]] = %arg0[0] : {{.*}}, [[Y:%.+]] = %arg1[0] : {{.*}}) {
// CHECK:           [[EXP:%.+]] = spyre.pointwise exp([[X]])
// CHECK:           [[BUFFER:%.+]] = spyre.empty : tensor<16x128xf16, #spyre.layout<[2, 16, 64], [64, 128, 1]>>
// CHECK:           [[LEFT:%.+]] = spyre.insert [[EXP]] into [[BUFFER]] at [0, 0]
// CHECK:           [[BOTH:%.+]] = spyre.insert [[Y]] into [[LEFT]] at [0, 64]
// CHECK:           spyre.pointwise neg([[BOTH]])
// CHECK-NOT:     spyre.loop
func.func @columns(%x: tensor<32x64xf16, #half>, %y: tensor<32x64xf16, #half>) -> tensor<32x128xf16, #whole> {
  %buffer = spyre.empty : tensor<32x128xf16, #whole>
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<32x64xf16, #half>) -> tensor<32x64xf16, #half>
  %left = spyre.insert %exp into %buffer at [0, 0] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  %both = spyre.insert %y into %left at [0, 64] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  %neg = spyre.pointwise neg(%both) {dims = ["A", "C"], hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<32x128xf16, #whole>) -> tensor<32x128xf16, #whole>
  return %neg : tensor<32x128xf16, #whole>
}

// A concatenation that the loop yields is copied to the result.
// CHECK-LABEL: func.func @given(
// CHECK:         spyre.loop 2 "A"
// CHECK:           [[BOTH:%.+]] = spyre.insert %{{.+}} into %{{.+}} at [0, 64]
// CHECK:           [[COPY:%.+]] = spyre.copy [[BOTH]] {{.*}}concatenated from parts{{.*}} of = [32, 128]>>
// CHECK:           spyre.yield [[COPY]][0]
func.func @given(%x: tensor<32x64xf16, #half>, %y: tensor<32x64xf16, #half>) -> tensor<32x128xf16, #whole> {
  %buffer = spyre.empty : tensor<32x128xf16, #whole>
  %left = spyre.insert %x into %buffer at [0, 0] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  %both = spyre.insert %y into %left at [0, 64] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  return %both : tensor<32x128xf16, #whole>
}

// A concatenation is not tiled along the concatenated dimension.
// CHECK-LABEL: func.func @beside(
// CHECK:         spyre.empty
// CHECK:         spyre.insert
// CHECK:         [[BOTH:%.+]] = spyre.insert
// CHECK:         spyre.loop 2 "B" tiled(%{{.+}} = [[BOTH]][1]
func.func @beside(%x: tensor<32x64xf16, #half>, %y: tensor<32x64xf16, #half>) -> tensor<32x128xf16, #whole> {
  %buffer = spyre.empty : tensor<32x128xf16, #whole>
  %left = spyre.insert %x into %buffer at [0, 0] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  // expected-remark @+1 {{not tiled along 'B': the op joins slices along dimension 1, and runs outside of that loop}}
  %both = spyre.insert %y into %left at [0, 64] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  %neg = spyre.pointwise neg(%both) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, B = 2>]} : (tensor<32x128xf16, #whole>) -> tensor<32x128xf16, #whole>
  return %neg : tensor<32x128xf16, #whole>
}

// If a value is computed between the inserts, the inserts are between the loops.
// CHECK-LABEL: func.func @one_by_one(
// CHECK:         [[BUFFER:%.+]] = spyre.empty
// CHECK:         [[LEFT:%.+]] = spyre.insert %arg0 into [[BUFFER]] at [0, 0]
// CHECK:         [[EXP:%.+]] = spyre.loop 2 "A" tiled(
// CHECK:           spyre.pointwise exp(
// CHECK:         [[BOTH:%.+]] = spyre.insert [[EXP]] into [[LEFT]] at [0, 64]
// CHECK:         spyre.loop 2 "A" tiled({{.*}} = [[BOTH]][0]
func.func @one_by_one(%x: tensor<32x64xf16, #half>, %y: tensor<32x64xf16, #half>) -> tensor<32x128xf16, #whole> {
  %buffer = spyre.empty : tensor<32x128xf16, #whole>
  // expected-remark @+1 {{not tiled: the op writes a slice of a larger buffer, and runs between the loops}}
  %left = spyre.insert %x into %buffer at [0, 0] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  %exp = spyre.pointwise exp(%y) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<32x64xf16, #half>) -> tensor<32x64xf16, #half>
  // expected-remark @+1 {{not tiled: the op writes a slice of a larger buffer, and runs between the loops}}
  %both = spyre.insert %exp into %left at [0, 64] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  %neg = spyre.pointwise neg(%both) {dims = ["A", "C"], hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<32x128xf16, #whole>) -> tensor<32x128xf16, #whole>
  return %neg : tensor<32x128xf16, #whole>
}
