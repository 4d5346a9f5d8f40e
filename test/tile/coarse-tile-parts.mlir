// RUN: spyre-opt --spyre-coarse-tile --verify-diagnostics --mlir-print-local-scope %s | FileCheck %s

#half = #spyre.layout<[1, 32, 64], [64, 64, 1]>
#whole = #spyre.layout<[2, 32, 64], [64, 128, 1]>

// What puts two tensors beside each other stands between the loops of what it reads and of what reads it.
// CHECK-LABEL: func.func @columns(
// CHECK:         [[BUFFER:%.+]] = spyre.empty
// CHECK:         [[EXP:%.+]] = spyre.loop 2 "A" tiled(
// CHECK:           spyre.pointwise exp(
// CHECK:         [[LEFT:%.+]] = spyre.insert [[EXP]] into [[BUFFER]] at [0, 0]
// CHECK:         [[BOTH:%.+]] = spyre.insert {{%.+}} into [[LEFT]] at [0, 64]
// CHECK:         spyre.loop 2 "A" tiled({{.*}} = [[BOTH]][0]
// CHECK:           spyre.pointwise neg(
func.func @columns(%x: tensor<32x64xf16, #half>, %y: tensor<32x64xf16, #half>) -> tensor<32x128xf16, #whole> {
  %buffer = spyre.empty : tensor<32x128xf16, #whole>
  %exp = spyre.pointwise exp(%x) {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<32x64xf16, #half>) -> tensor<32x64xf16, #half>
  // expected-remark @+1 {{'spyre.insert' op writes a part of a larger buffer: it is not tiled, and stands between the loops}}
  %left = spyre.insert %exp into %buffer at [0, 0] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  // expected-remark @+1 {{'spyre.insert' op writes a part of a larger buffer: it is not tiled, and stands between the loops}}
  %both = spyre.insert %y into %left at [0, 64] {dims = ["A", "B"], hints = [#spyre.tile_hint<0, A = 2>]} : tensor<32x64xf16, #half> into tensor<32x128xf16, #whole>
  %neg = spyre.pointwise neg(%both) {dims = ["A", "C"], hints = [#spyre.tile_hint<0, A = 2>]} : (tensor<32x128xf16, #whole>) -> tensor<32x128xf16, #whole>
  return %neg : tensor<32x128xf16, #whole>
}
