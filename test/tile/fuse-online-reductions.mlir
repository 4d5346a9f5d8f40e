// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile --spyre-fuse-online-reductions --mlir-print-local-scope %s | FileCheck %s
// RUN: spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile --spyre-fuse-online-reductions --verify-diagnostics %s

// One loop has the running maximum of a row, and corrects the sum and the product when it grows. Its initial value is the lowest finite
// number, because -inf - -inf is NaN.
// CHECK-LABEL: func.func @attention(
// CHECK:         [[LOWEST:%.+]] = spyre.constant {{.*}}exact = dense<-1.7976931348623157E+308>
// CHECK:         [[REPEATED:%.+]] = spyre.view {{.*}} affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<64x1xf16>
// CHECK-NEXT:    [[START:%.+]] = spyre.copy [[REPEATED]]
// CHECK:         [[ALL:%.+]]:3 = spyre.loop 4 "T" {{.*}} carried([[MAX:%.+]] = [[START]] : {{.+}}, [[SUM:%.+]] = {{.+}}, [[ACC:%.+]] = {{.+}}) attributes {spyre.corrects} {
// CHECK-NEXT:      [[S:%.+]] = spyre.matmul(
// CHECK-NEXT:      [[PART_MAX:%.+]] = spyre.reduce max([[S]])
// CHECK-NEXT:      [[NEW:%.+]] = spyre.pointwise maximum([[MAX]], [[PART_MAX]])
// CHECK-NEXT:      [[D:%.+]] = spyre.pointwise sub([[S]], [[NEW]])
// CHECK-NEXT:      [[E:%.+]] = spyre.pointwise exp([[D]])
// CHECK-NEXT:      [[PART_SUM:%.+]] = spyre.reduce sum([[E]])
// CHECK-NEXT:      [[GROWN:%.+]] = spyre.pointwise sub([[MAX]], [[NEW]])
// CHECK-NEXT:      [[FACTOR:%.+]] = spyre.pointwise exp([[GROWN]])
// CHECK-NEXT:      [[SUM_THEN:%.+]] = spyre.pointwise mul([[SUM]], [[FACTOR]])
// CHECK-NEXT:      [[SUM_NOW:%.+]] = spyre.pointwise add([[SUM_THEN]], [[PART_SUM]])
// CHECK-NEXT:      [[PART:%.+]] = spyre.matmul([[E]],
// CHECK-NEXT:      [[ACC_THEN:%.+]] = spyre.pointwise mul([[ACC]], [[FACTOR]])
// CHECK-NEXT:      [[ACC_NOW:%.+]] = spyre.pointwise add([[ACC_THEN]], [[PART]])
// CHECK-NEXT:      spyre.yield [[NEW]], [[SUM_NOW]], [[ACC_NOW]]
// CHECK-NEXT:    }
// CHECK-NOT:     spyre.loop
// CHECK:         spyre.pointwise realdiv([[ALL]]#2, [[ALL]]#1)
func.func @attention(%q: tensor<64x64xf16>, %k: tensor<64x512xf16> {spyre.dims = ["D", "T"]}, %v: tensor<512x64xf16>) -> tensor<64x64xf16> {
  %s = spyre.matmul(%q, %k) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x64xf16>, tensor<64x512xf16>) -> tensor<64x512xf16>
  %m = spyre.reduce max(%s) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%s, %m) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  %e = spyre.pointwise exp(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %l = spyre.reduce sum(%e) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %a = spyre.matmul(%e, %v) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<512x64xf16>) -> tensor<64x64xf16>
  %y = spyre.pointwise realdiv(%a, %l) : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

// Functions of the maximum between the loops are computed in the loop, for the new and the old maximum. Scores with other uses are written.
// CHECK-LABEL: func.func @bounded(
// CHECK:         [[ALL:%.+]]:3 = spyre.loop 4 "T" {{.*}} carried([[MAX:%.+]] = {{.+}}, [[SUM:%.+]] = {{.+}}) attributes {spyre.corrects} {
// CHECK:           [[NEW:%.+]] = spyre.pointwise maximum([[MAX]],
// CHECK-NEXT:      [[BOUND:%.+]] = spyre.pointwise maximum([[NEW]], %arg1)
// CHECK:           [[OLD_BOUND:%.+]] = spyre.pointwise maximum([[MAX]], %arg1)
// CHECK-NEXT:      spyre.pointwise sub([[OLD_BOUND]], [[BOUND]])
// CHECK:           spyre.yield {{%.+}}[1], [[NEW]],
// CHECK:         [[L:%.+]] = spyre.copy [[ALL]]#2
// CHECK-NEXT:    return [[L]], [[ALL]]#0
func.func @bounded(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}, %low: tensor<1x1xf16>) -> (tensor<64x1xf16>, tensor<64x512xf16>) {
  %s = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %m = spyre.reduce max(%s) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %b = spyre.pointwise maximum(%m, %low) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x1xf16>, tensor<1x1xf16>) -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%s, %b) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  %e = spyre.pointwise exp(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %l = spyre.reduce sum(%e) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  return %l, %s : tensor<64x1xf16>, tensor<64x512xf16>
}

// The sine of a shifted value does not determine the sine with another shift.
// CHECK-LABEL: func.func @not_separable(
// CHECK:         spyre.loop 4 "T"
// CHECK:         spyre.loop 4 "T"
func.func @not_separable(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> tensor<64x1xf16> {
  %m = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%x, %m) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  // expected-remark @+1 {{second loop over 'T': the op needs the complete result of the first one}}
  %e = spyre.pointwise tanh(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %l = spyre.reduce sum(%e) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  return %l : tensor<64x1xf16>
}

// A maximum of differences is shifted by the increase of the first maximum.
// CHECK-LABEL: func.func @shifted_maximum(
// CHECK:         spyre.loop 4 "T" {{.*}} carried([[MAX:%.+]] = {{.+}}, [[PEAK:%.+]] = {{.+}}) attributes {spyre.corrects} {
// CHECK:           [[NEW:%.+]] = spyre.pointwise maximum([[MAX]],
// CHECK:           [[GROWN:%.+]] = spyre.pointwise sub([[MAX]], [[NEW]])
// CHECK-NEXT:      [[THEN:%.+]] = spyre.pointwise add([[PEAK]], [[GROWN]])
// CHECK-NEXT:      spyre.pointwise maximum([[THEN]],
func.func @shifted_maximum(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}, %z: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> tensor<64x1xf16> {
  %m = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%z, %m) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  %p = spyre.reduce max(%d) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  return %p : tensor<64x1xf16>
}

// The exponentials are a result, so each needs the final maximum.
// CHECK-LABEL: func.func @tiles_that_wait(
// CHECK:         spyre.loop 4 "T"
// CHECK:         spyre.loop 4 "T"
func.func @tiles_that_wait(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> tensor<64x512xf16> {
  %m = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  // expected-remark @+1 {{second loop over 'T': the op needs the complete result of the first one}}
  %d = spyre.pointwise sub(%x, %m) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  return %d : tensor<64x512xf16>
}

// If the only use of a maximum is its bound by a number, that number is its initial value.
// CHECK-LABEL: func.func @bounded_by_number(
// CHECK:         [[NUMBER:%.+]] = spyre.constant dense<-4.000000e+00>
// CHECK:         [[REPEATED:%.+]] = spyre.view {{.*}} affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16{{.*}}> -> tensor<64x1xf16>
// CHECK-NEXT:    [[START:%.+]] = spyre.copy [[REPEATED]]
// CHECK:         [[ALL:%.+]]:2 = spyre.loop 4 "T" {{.*}} carried([[MAX:%.+]] = [[START]] : {{.+}}, [[SUM:%.+]] = {{.+}}) attributes {spyre.corrects} {
// CHECK:           [[NEW:%.+]] = spyre.pointwise maximum([[MAX]],
// CHECK-NEXT:      spyre.pointwise sub({{%.+}}, [[NEW]])
// CHECK-NOT:       spyre.pointwise maximum
// CHECK:           spyre.yield
func.func @bounded_by_number(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> tensor<64x1xf16> {
  %low = spyre.constant dense<-4.0> : tensor<1x1xf16> -> tensor<1x1xf16>
  %m = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %b = spyre.pointwise maximum(%m, %low) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x1xf16>, tensor<1x1xf16>) -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%x, %b) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  %e = spyre.pointwise exp(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %l = spyre.reduce sum(%e) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  return %l : tensor<64x1xf16>
}

// A maximum with uses after the loop is bounded for the corrections only.
// CHECK-LABEL: func.func @maximum_is_read(
// CHECK:         spyre.loop 4 "T"
// CHECK:           [[NEW:%.+]] = spyre.pointwise maximum([[MAX:%.+]], {{%.+}})
// CHECK-NEXT:      [[BOUND:%.+]] = spyre.pointwise maximum([[NEW]], [[LOWEST:%.+]]) :
// CHECK:           [[OLD:%.+]] = spyre.pointwise maximum([[MAX]], [[LOWEST]])
// CHECK-NEXT:      spyre.pointwise sub([[OLD]], [[BOUND]])
func.func @maximum_is_read(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> (tensor<64x1xf16>, tensor<64x1xf16>) {
  %m = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%x, %m) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  %e = spyre.pointwise exp(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %l = spyre.reduce sum(%e) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  return %l, %m : tensor<64x1xf16>, tensor<64x1xf16>
}

// Of two bounds the larger one is the initial value of the running maximum.
// CHECK-LABEL: func.func @bounded_twice(
// CHECK-NOT:     dense<-8.000000e+00>
// CHECK:         spyre.constant dense<-4.000000e+00>
// CHECK-NOT:     dense<-8.000000e+00>
// CHECK:         spyre.loop 4 "T"
func.func @bounded_twice(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> tensor<64x1xf16> {
  %low = spyre.constant dense<-4.0> : tensor<1x1xf16> -> tensor<1x1xf16>
  %lower = spyre.constant dense<-8.0> : tensor<1x1xf16> -> tensor<1x1xf16>
  %m = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %b = spyre.pointwise maximum(%m, %low) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x1xf16>, tensor<1x1xf16>) -> tensor<64x1xf16>
  %c = spyre.pointwise maximum(%b, %lower) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x1xf16>, tensor<1x1xf16>) -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%x, %c) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  %e = spyre.pointwise exp(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %l = spyre.reduce sum(%e) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  return %l : tensor<64x1xf16>
}

// Only a maximum with a constant is folded into the initial value of the running maximum; other functions are computed in every iteration.
// CHECK-LABEL: func.func @shifted(
// CHECK:         [[SHIFT:%.+]] = spyre.constant dense<2.000000e+00>
// CHECK:         spyre.loop 4 "T"
// CHECK:           [[NEW:%.+]] = spyre.pointwise maximum(
// CHECK-NEXT:      spyre.pointwise add([[NEW]], [[SHIFT]])
// CHECK:           spyre.yield
func.func @shifted(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> tensor<64x1xf16> {
  %two = spyre.constant dense<2.0> : tensor<1x1xf16> -> tensor<1x1xf16>
  %m = spyre.reduce max(%x) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %b = spyre.pointwise add(%m, %two) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x1xf16>, tensor<1x1xf16>) -> tensor<64x1xf16>
  %d = spyre.pointwise sub(%x, %b) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<64x512xf16>, tensor<64x1xf16>) -> tensor<64x512xf16>
  %e = spyre.pointwise exp(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %l = spyre.reduce sum(%e) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  return %l : tensor<64x1xf16>
}

// The second loop reads the transposed tiles of the first one.
// CHECK-LABEL: func.func @turned(
// CHECK:         spyre.loop 4 "T" {{.*}} carried([[MAX:%.+]] = {{.+}}, [[SUM:%.+]] = {{.+}}) attributes {spyre.corrects} {
// CHECK:           [[TILE:%.+]] = spyre.pointwise neg(
// CHECK:           [[TURNED:%.+]] = spyre.view [[TILE]] by affine_map<(d0, d1) -> (d1, d0)>
// CHECK-NEXT:      spyre.pointwise sub([[TURNED]],
// CHECK:           spyre.yield
// CHECK-NOT:     spyre.loop
func.func @turned(%x: tensor<64x512xf16> {spyre.dims = ["S", "T"]}) -> tensor<1x64xf16> {
  %s = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16>
  %m = spyre.reduce max(%s) dims [1] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<64x512xf16> -> tensor<64x1xf16>
  %t = spyre.view %s by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x512xf16> -> tensor<512x64xf16>
  %n = spyre.view %m by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x1xf16> -> tensor<1x64xf16>
  %d = spyre.pointwise sub(%t, %n) {hints = [#spyre.tile_hint<0, T = 4>]} : (tensor<512x64xf16>, tensor<1x64xf16>) -> tensor<512x64xf16>
  %e = spyre.pointwise exp(%d) {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<512x64xf16>
  %l = spyre.reduce sum(%e) dims [0] {hints = [#spyre.tile_hint<0, T = 4>]} : tensor<512x64xf16> -> tensor<1x64xf16>
  return %l : tensor<1x64xf16>
}
