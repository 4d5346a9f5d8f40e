// RUN: spyre-opt --split-input-file --spyre-expand-functions --mlir-print-local-scope %s | FileCheck %s

// A matmul reads the gelu of a sum, which may be in LX.
// CHECK-LABEL: func.func @gelu_between_ops(
// CHECK-SAME:    [[X:%.+]]: tensor<32x512xf16>, [[Y:%.+]]: tensor<32x512xf16>, [[Z:%.+]]: tensor<512x128xf16>) -> tensor<32x128xf16> {
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[X]], [[Y]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[ADD]], [[ADD]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<-6.958000e-02> : tensor<1x1xf16>
// CHECK-NEXT:    [[MUL2:%.+]] = spyre.pointwise mul([[MUL]], [[NUMBER]]) : (tensor<32x512xf16>, tensor<1x1xf16>) -> tensor<32x512xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<-1.599610e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ADD2:%.+]] = spyre.pointwise add([[MUL2]], [[NUMBER2]]) : (tensor<32x512xf16>, tensor<1x1xf16>) -> tensor<32x512xf16>
// CHECK-NEXT:    [[MUL3:%.+]] = spyre.pointwise mul([[ADD]], [[ADD2]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[MUL3]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[NUMBER3:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ADD3:%.+]] = spyre.pointwise add([[EXP]], [[NUMBER3]]) : (tensor<32x512xf16>, tensor<1x1xf16>) -> tensor<32x512xf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[ADD]], [[ADD3]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[MATMUL:%.+]] = spyre.matmul([[REALDIV]], [[Z]]) : (tensor<32x512xf16>, tensor<512x128xf16>) -> tensor<32x128xf16>
// CHECK-NEXT:    return [[MATMUL]] : tensor<32x128xf16>
func.func @gelu_between_ops(%x: tensor<32x512xf16>, %b: tensor<32x512xf16>, %w: tensor<512x128xf16>) -> tensor<32x128xf16> {
  %0 = spyre.pointwise add(%x, %b) : tensor<32x512xf16>
  %1 = spyre.pointwise gelufwd(%0) : tensor<32x512xf16>
  %2 = spyre.matmul(%1, %w) : (tensor<32x512xf16>, tensor<512x128xf16>) -> tensor<32x128xf16>
  return %2 : tensor<32x128xf16>
}

// -----

// A value in HBM, such as most results of matmuls, is read once, into a copy.
// CHECK-LABEL: func.func @gelu_of_a_product(
// CHECK-SAME:    [[X:%.+]]: tensor<32x64xf16>, [[Y:%.+]]: tensor<64x512xf16>) -> tensor<32x1xf16> {
// CHECK-NEXT:    [[MATMUL:%.+]] = spyre.matmul([[X]], [[Y]]) : (tensor<32x64xf16>, tensor<64x512xf16>) -> tensor<32x512xf16>
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[MATMUL]] : tensor<32x512xf16> -> tensor<32x512xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[COPY]], [[COPY]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<-6.958000e-02> : tensor<1x1xf16>
// CHECK-NEXT:    [[MUL2:%.+]] = spyre.pointwise mul([[MUL]], [[NUMBER]]) : (tensor<32x512xf16>, tensor<1x1xf16>) -> tensor<32x512xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<-1.599610e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[MUL2]], [[NUMBER2]]) : (tensor<32x512xf16>, tensor<1x1xf16>) -> tensor<32x512xf16>
// CHECK-NEXT:    [[MUL3:%.+]] = spyre.pointwise mul([[COPY]], [[ADD]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[MUL3]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[NUMBER3:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ADD2:%.+]] = spyre.pointwise add([[EXP]], [[NUMBER3]]) : (tensor<32x512xf16>, tensor<1x1xf16>) -> tensor<32x512xf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[COPY]], [[ADD2]]) : tensor<32x512xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[REALDIV]]) dims [1] : tensor<32x512xf16> -> tensor<32x1xf16>
// CHECK-NEXT:    return [[SUM]] : tensor<32x1xf16>
func.func @gelu_of_a_product(%x: tensor<32x64xf16>, %w: tensor<64x512xf16>) -> tensor<32x1xf16> {
  %0 = spyre.matmul(%x, %w) : (tensor<32x64xf16>, tensor<64x512xf16>) -> tensor<32x512xf16>
  %1 = spyre.pointwise gelufwd(%0) : tensor<32x512xf16>
  %2 = spyre.reduce sum(%1) dims [1] : tensor<32x512xf16> -> tensor<32x1xf16>
  return %2 : tensor<32x1xf16>
}

// -----

// The result is used through a view, by ops with the same hints.
// CHECK-LABEL: func.func @hints_are_kept(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<64x8xf16>) -> tensor<64x8xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[MAXIMUM:%.+]] = spyre.pointwise maximum([[X]], [[NUMBER]]) {hints = [#spyre.tile_hint<0, A = 2>], work_div = [#spyre.work_hint<1, A = 4>]} : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[MAXIMUM]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[VIEW]], [[Y]]) : tensor<64x8xf16>
// CHECK-NEXT:    return [[ADD]] : tensor<64x8xf16>
func.func @hints_are_kept(%x: tensor<8x64xf16>, %y: tensor<64x8xf16>) -> tensor<64x8xf16> {
  %0 = spyre.pointwise relufwd(%x) {hints = [#spyre.tile_hint<0, A = 2>], work_div = [#spyre.work_hint<1, A = 4>]} : tensor<8x64xf16>
  %1 = spyre.view %0 by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
  %2 = spyre.pointwise add(%1, %y) : tensor<64x8xf16>
  return %2 : tensor<64x8xf16>
}

// -----

// Coefficients are in the device's format: bf16 has too few bits for them.
// CHECK-LABEL: func.func @gelu_in_bf16(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xbf16>) -> tensor<8x1xbf16> {
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]] : tensor<8x64xbf16> -> tensor<8x64xbf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[COPY]], [[COPY]]) : tensor<8x64xbf16>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<-0.0695800781> : tensor<1x1xf32>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[NUMBER]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<1x1xf32> -> tensor<1x1xbf16>
// CHECK-NEXT:    [[MUL2:%.+]] = spyre.pointwise mul([[MUL]], [[VIEW]]) : (tensor<8x64xbf16>, tensor<1x1xbf16>) -> tensor<8x64xbf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<-1.59960938> : tensor<1x1xf32>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[NUMBER2]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<1x1xf32> -> tensor<1x1xbf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[MUL2]], [[VIEW2]]) : (tensor<8x64xbf16>, tensor<1x1xbf16>) -> tensor<8x64xbf16>
// CHECK-NEXT:    [[MUL3:%.+]] = spyre.pointwise mul([[COPY]], [[ADD]]) : tensor<8x64xbf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[MUL3]]) : tensor<8x64xbf16>
// CHECK-NEXT:    [[NUMBER3:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xbf16>
// CHECK-NEXT:    [[ADD2:%.+]] = spyre.pointwise add([[EXP]], [[NUMBER3]]) : (tensor<8x64xbf16>, tensor<1x1xbf16>) -> tensor<8x64xbf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[COPY]], [[ADD2]]) : tensor<8x64xbf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[REALDIV]]) dims [1] : tensor<8x64xbf16> -> tensor<8x1xbf16>
// CHECK-NEXT:    return [[SUM]] : tensor<8x1xbf16>
func.func @gelu_in_bf16(%x: tensor<8x64xbf16>) -> tensor<8x1xbf16> {
  %0 = spyre.pointwise gelufwd(%x) : tensor<8x64xbf16>
  %1 = spyre.reduce sum(%0) dims [1] : tensor<8x64xbf16> -> tensor<8x1xbf16>
  return %1 : tensor<8x1xbf16>
}

// -----

// CHECK-LABEL: func.func @exact_ones(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>, [[Y:%.+]]: tensor<8x64xf32>) -> tensor<8x64xf32> {
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]] : tensor<8x64xf32> -> tensor<8x64xf32>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[COPY]]) : tensor<8x64xf32>
// CHECK-NEXT:    [[MAXIMUM:%.+]] = spyre.pointwise maximum([[COPY]], [[NEG]]) : tensor<8x64xf32>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[NUMBER]], [[MAXIMUM]]) : (tensor<1x1xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    [[MAXIMUM2:%.+]] = spyre.pointwise maximum([[REALDIV]], [[NUMBER2]]) : (tensor<8x64xf32>, tensor<1x1xf32>) -> tensor<8x64xf32>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[MAXIMUM2]], [[Y]]) : tensor<8x64xf32>
// CHECK-NEXT:    return [[MUL]] : tensor<8x64xf32>
func.func @exact_ones(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = spyre.pointwise abs(%x) : tensor<8x64xf32>
  %1 = spyre.pointwise reciprocal(%0) : tensor<8x64xf32>
  %2 = spyre.pointwise relufwd(%1) : tensor<8x64xf32>
  %3 = spyre.pointwise mul(%2, %y) : tensor<8x64xf32>
  return %3 : tensor<8x64xf32>
}

// -----

// A program result is in HBM anyway, also through a view.
// CHECK-LABEL: func.func @results(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<64x8xf16>) {
// CHECK-NEXT:    [[GELUFWD:%.+]] = spyre.pointwise gelufwd([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[RELUFWD:%.+]] = spyre.pointwise relufwd([[GELUFWD]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[RELUFWD]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
// CHECK-NEXT:    return [[GELUFWD]], [[VIEW]] : tensor<8x64xf16>, tensor<64x8xf16>
func.func @results(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<64x8xf16>) {
  %0 = spyre.pointwise gelufwd(%x) : tensor<8x64xf16>
  %1 = spyre.pointwise relufwd(%0) : tensor<8x64xf16>
  %2 = spyre.view %1 by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
  return %0, %2 : tensor<8x64xf16>, tensor<64x8xf16>
}

// -----

// A gather reads from HBM.
// CHECK-LABEL: func.func @table(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<4xi32>) -> tensor<4x64xf16> {
// CHECK-NEXT:    [[GELUFWD:%.+]] = spyre.pointwise gelufwd([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[GATHER:%.+]] = spyre.gather([[GELUFWD]], [[Y]]) dim 0 : (tensor<8x64xf16>, tensor<4xi32>) -> tensor<4x64xf16>
// CHECK-NEXT:    return [[GATHER]] : tensor<4x64xf16>
func.func @table(%x: tensor<8x64xf16>, %i: tensor<4xi32>) -> tensor<4x64xf16> {
  %0 = spyre.pointwise gelufwd(%x) : tensor<8x64xf16>
  %1 = spyre.gather(%0, %i) dim 0 : (tensor<8x64xf16>, tensor<4xi32>) -> tensor<4x64xf16>
  return %1 : tensor<4x64xf16>
}

// -----

// 4 MiB per core do not fit in LX, so every op of the expansion would go through HBM.
// CHECK-LABEL: func.func @too_large(
// CHECK-SAME:    [[X:%.+]]: tensor<8192x8192xf16>) -> tensor<8192x1xf16> {
// CHECK-NEXT:    [[GELUFWD:%.+]] = spyre.pointwise gelufwd([[X]]) : tensor<8192x8192xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[GELUFWD]]) dims [1] : tensor<8192x8192xf16> -> tensor<8192x1xf16>
// CHECK-NEXT:    return [[SUM]] : tensor<8192x1xf16>
func.func @too_large(%x: tensor<8192x8192xf16>) -> tensor<8192x1xf16> {
  %0 = spyre.pointwise gelufwd(%x) : tensor<8192x8192xf16>
  %1 = spyre.reduce sum(%0) dims [1] : tensor<8192x8192xf16> -> tensor<8192x1xf16>
  return %1 : tensor<8192x1xf16>
}

// -----

// In 8 tiles they fit; and an expansion to a single op moves no more bytes than the function.
// CHECK-LABEL: func.func @large_in_tiles(
// CHECK-SAME:    [[X:%.+]]: tensor<8192x8192xf16>, [[Y:%.+]]: tensor<8192x8192xf16>) -> (tensor<8192x1xf16>, tensor<8192x1xf16>) {
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]] {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16> -> tensor<8192x8192xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[COPY]], [[COPY]]) {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<-6.958000e-02> : tensor<1x1xf16>
// CHECK-NEXT:    [[MUL2:%.+]] = spyre.pointwise mul([[MUL]], [[NUMBER]]) {hints = [#spyre.tile_hint<0, A = 8>]} : (tensor<8192x8192xf16>, tensor<1x1xf16>) -> tensor<8192x8192xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<-1.599610e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[MUL2]], [[NUMBER2]]) {hints = [#spyre.tile_hint<0, A = 8>]} : (tensor<8192x8192xf16>, tensor<1x1xf16>) -> tensor<8192x8192xf16>
// CHECK-NEXT:    [[MUL3:%.+]] = spyre.pointwise mul([[COPY]], [[ADD]]) {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[MUL3]]) {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16>
// CHECK-NEXT:    [[NUMBER3:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ADD2:%.+]] = spyre.pointwise add([[EXP]], [[NUMBER3]]) {hints = [#spyre.tile_hint<0, A = 8>]} : (tensor<8192x8192xf16>, tensor<1x1xf16>) -> tensor<8192x8192xf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[COPY]], [[ADD2]]) {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[REALDIV]]) dims [1] {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16> -> tensor<8192x1xf16>
// CHECK-NEXT:    [[NUMBER4:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[MAXIMUM:%.+]] = spyre.pointwise maximum([[Y]], [[NUMBER4]]) : (tensor<8192x8192xf16>, tensor<1x1xf16>) -> tensor<8192x8192xf16>
// CHECK-NEXT:    [[SUM2:%.+]] = spyre.reduce sum([[MAXIMUM]]) dims [1] : tensor<8192x8192xf16> -> tensor<8192x1xf16>
// CHECK-NEXT:    return [[SUM]], [[SUM2]] : tensor<8192x1xf16>, tensor<8192x1xf16>
func.func @large_in_tiles(%x: tensor<8192x8192xf16>, %y: tensor<8192x8192xf16>) -> (tensor<8192x1xf16>, tensor<8192x1xf16>) {
  %0 = spyre.pointwise gelufwd(%x) {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16>
  %1 = spyre.reduce sum(%0) dims [1] {hints = [#spyre.tile_hint<0, A = 8>]} : tensor<8192x8192xf16> -> tensor<8192x1xf16>
  %2 = spyre.pointwise relufwd(%y) : tensor<8192x8192xf16>
  %3 = spyre.reduce sum(%2) dims [1] : tensor<8192x8192xf16> -> tensor<8192x1xf16>
  return %1, %3 : tensor<8192x1xf16>, tensor<8192x1xf16>
}
