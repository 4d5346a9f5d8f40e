// RUN: spyre-opt --spyre-propagate-layouts --spyre-insert-restickify %s | FileCheck %s

// Operands with the same stick dimension are unchanged; others are restickified.

// CHECK-LABEL: func.func @columns_and_rows_agree_with_the_matrix(
// CHECK-NOT:     spyre.restickify
// CHECK:         [[MAX:%.+]] = spyre.reduce max([[X:%.+]]) dims [1]
// CHECK-NEXT:    [[SHIFTED:%.+]] = spyre.pointwise sub([[X]], [[MAX]])
// CHECK-NEXT:    [[ROW:%.+]] = spyre.view
// CHECK-NEXT:    [[SCALED:%.+]] = spyre.pointwise mul([[SHIFTED]], [[ROW]])
// CHECK-NEXT:    return [[SCALED]]
func.func @columns_and_rows_agree_with_the_matrix(%x: tensor<8x128xf16>, %scale: tensor<128xf16>) -> tensor<8x128xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<8x128xf16> -> tensor<8x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<8x128xf16>, tensor<8x1xf16>) -> tensor<8x128xf16>
  %row = spyre.view %scale by affine_map<(d0, d1) -> (d1)> : tensor<128xf16> -> tensor<1x128xf16>
  %scaled = spyre.pointwise mul(%shifted, %row) : (tensor<8x128xf16>, tensor<1x128xf16>) -> tensor<8x128xf16>
  return %scaled : tensor<8x128xf16>
}

// K in the sticks of the left operand, N in those of the right one and of the result.
// CHECK-LABEL: func.func @a_row_major_matmul_needs_nothing(
// CHECK-NOT:     spyre.restickify
// CHECK:         spyre.matmul(
func.func @a_row_major_matmul_needs_nothing(%x: tensor<8x128xf16>, %y: tensor<128x256xf16>) -> tensor<8x256xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<8x128xf16>, tensor<128x256xf16>) -> tensor<8x256xf16>
  return %product : tensor<8x256xf16>
}

// With a single row, rows cannot be the stick dimension.
// CHECK-LABEL: func.func @a_dim_of_size_1_fits_every_stick(
// CHECK-NOT:     spyre.restickify
// CHECK:         spyre.matmul(
func.func @a_dim_of_size_1_fits_every_stick(%x: tensor<1x128xf16>, %y: tensor<128x64xf16>) -> tensor<1x64xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<1x128xf16>, tensor<128x64xf16>) -> tensor<1x64xf16>
  return %product : tensor<1x64xf16>
}

// The index tensor has another stick dimension, which is not compared.
// CHECK-LABEL: func.func @a_gather_agrees_without_its_index(
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather({{.+}}) dim 0
// CHECK-NEXT:    return [[ROWS]]
#table = #spyre.layout<[128, 4, 64], [256, 64, 1]>
func.func @a_gather_agrees_without_its_index(%x: tensor<128x256xf16, #table>, %index: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #table>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  return %rows : tensor<3x192x256xf16>
}

// An operand with a fixed layout is restickified.
// CHECK-LABEL: func.func @a_fixed_transposed_addend(
// CHECK-SAME:    [[X:%.+]]: tensor<128x256xf16, {{.+}}>, [[Y:%.+]]: tensor<256x128xf16, #[[Y_ROWS:.+]]>) ->
// CHECK:         [[MOVED:%.+]] = spyre.restickify [[Y]] : tensor<256x128xf16, #[[Y_ROWS]]> -> tensor<256x128xf16, #[[Y_ON_ROWS:.+]]>
// CHECK-NEXT:    [[SEEN:%.+]] = spyre.view [[MOVED]] by {{.+}} -> tensor<128x256xf16>
// CHECK-NEXT:    spyre.pointwise add([[X]], [[SEEN]])
#x_rows = #spyre.layout<[4, 128, 64], [64, 256, 1]>
#y_rows = #spyre.layout<[2, 256, 64], [64, 128, 1]>
func.func @a_fixed_transposed_addend(%x: tensor<128x256xf16, #x_rows>, %y: tensor<256x128xf16, #y_rows>) -> tensor<128x256xf16, #x_rows> {
  %transposed = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16, #y_rows> -> tensor<128x256xf16>
  %sum = spyre.pointwise add(%x, %transposed) : (tensor<128x256xf16, #x_rows>, tensor<128x256xf16>) -> tensor<128x256xf16, #x_rows>
  return %sum : tensor<128x256xf16, #x_rows>
}

// Users share one restickify, also users through different views.
// CHECK-LABEL: func.func @readers_share_a_move(
// CHECK-SAME:    [[W:%[a-z0-9]+]]: tensor<256x128xf16
// CHECK:         [[MOVED:%.+]] = spyre.restickify [[W]]
// CHECK-NOT:     spyre.restickify
// CHECK:         [[SEEN:%.+]] = spyre.view [[MOVED]]
// CHECK:         spyre.matmul({{%.+}}, [[SEEN]])
// CHECK-NOT:     spyre.restickify
// CHECK:         [[SEEN_2:%.+]] = spyre.view [[MOVED]]
// CHECK:         spyre.matmul({{%.+}}, [[SEEN_2]])
// CHECK-NOT:     spyre.restickify
// CHECK:         return
func.func @readers_share_a_move(%x: tensor<64x128xf16>, %z: tensor<32x128xf16>, %w: tensor<256x128xf16, #y_rows>) -> (tensor<64x256xf16>, tensor<32x256xf16>) {
  %transposed = spyre.view %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16, #y_rows> -> tensor<128x256xf16>
  %0 = spyre.matmul(%x, %transposed) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  %1 = spyre.matmul(%z, %transposed) : (tensor<32x128xf16>, tensor<128x256xf16>) -> tensor<32x256xf16>
  return %0, %1 : tensor<64x256xf16>, tensor<32x256xf16>
}

// A weight that is the right operand of two matmuls, once transposed, is restickified once, whatever its layout.
// CHECK-LABEL: func.func @a_weight_used_in_two_ways(
// CHECK:         spyre.restickify
// CHECK-NOT:     spyre.restickify
// CHECK:         return
func.func @a_weight_used_in_two_ways(%x: tensor<64x128xf16>, %w: tensor<256x128xf16>) -> tensor<64x128xf16> {
  %transposed = spyre.view %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %0 = spyre.matmul(%x, %transposed) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  %1 = spyre.matmul(%0, %w) : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
  return %1 : tensor<64x128xf16>
}

// A copy keeps the stick dimension of its operand, so the layout of its result may require a restickify before it.
// CHECK-LABEL: func.func @a_copy_into_a_given_layout(
// CHECK-NEXT:    spyre.restickify
// CHECK-NEXT:    spyre.view
// CHECK-NEXT:    spyre.copy
#on_rows = #spyre.layout<[2, 256, 64], [16384, 1, 256]>
func.func @a_copy_into_a_given_layout(%x: tensor<128x256xf16, #on_rows>) -> tensor<128x256xf16, #x_rows> {
  %copy = spyre.copy %x : tensor<128x256xf16, #on_rows> -> tensor<128x256xf16, #x_rows>
  return %copy : tensor<128x256xf16, #x_rows>
}

// The slice is restickified to the stick dimension of a buffer with a given layout.
// CHECK-LABEL: func.func @a_part_with_its_stick_elsewhere(
// CHECK:         [[MOVED:%.+]] = spyre.restickify {{%.+}} : tensor<128x64xf16
// CHECK-NEXT:    [[PART:%.+]] = spyre.view [[MOVED]]
// CHECK-NEXT:    spyre.insert [[PART]] into
#part = #spyre.layout<[2, 64, 64], [4096, 1, 64]>
#whole = #spyre.layout<[2, 128, 64], [64, 128, 1]>
func.func @a_part_with_its_stick_elsewhere(%x: tensor<128x64xf16, #part>) -> tensor<128x128xf16, #whole> {
  %buffer = spyre.empty : tensor<128x128xf16, #whole>
  %0 = spyre.insert %x into %buffer at [0, 64] : tensor<128x64xf16, #part> into tensor<128x128xf16, #whole>
  return %0 : tensor<128x128xf16, #whole>
}

// A stick holds two heads of 32. The device cannot gather elements of several sticks into one: positions become the stick dimension first,
// then the heads.
// CHECK-LABEL: func.func @narrow_heads_take_two_moves(
// CHECK-SAME:    [[QK:%.+]]: tensor<2x8x64xf16, {{.+}}>, [[V:%.+]]: tensor<64x64xf16, {{.+}}>)
// CHECK:         [[TURNED:%.+]] = spyre.restickify [[V]] : tensor<64x64xf16, {{.+}} -> tensor<64x64xf16
// CHECK-NEXT:    [[HEADS:%.+]] = spyre.view [[TURNED]] by {{.+}} -> tensor<64x2x32xf16>
// CHECK-NEXT:    [[BACK:%.+]] = spyre.restickify [[HEADS]] : tensor<64x2x32xf16> -> tensor<64x2x32xf16
// CHECK-NEXT:    [[SEEN:%.+]] = spyre.view [[BACK]] by {{.+}} -> tensor<2x64x32xf16>
// CHECK-NEXT:    spyre.matmul([[QK]], [[SEEN]])
#v_rows = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @narrow_heads_take_two_moves(%qk: tensor<2x8x64xf16>, %v: tensor<64x64xf16, #v_rows>) -> tensor<2x8x32xf16> {
  %heads = spyre.view %v by affine_map<(d0, d1, d2) -> (d1, d0 * 32 + d2)> : tensor<64x64xf16, #v_rows> -> tensor<2x64x32xf16>
  %out = spyre.matmul(%qk, %heads) : (tensor<2x8x64xf16>, tensor<2x64x32xf16>) -> tensor<2x8x32xf16>
  return %out : tensor<2x8x32xf16>
}

// If elements keep their sticks, the relayout is a copy: the heads become columns while positions are the stick dimension.
// CHECK-LABEL: func.func @narrow_heads_become_columns(
// CHECK:         [[TURNED:%.+]] = spyre.restickify {{%.+}} : tensor<2x64x32xf16
// CHECK-NEXT:    [[COLUMNS:%.+]] = spyre.view [[TURNED]] by {{.+}} -> tensor<64x64xf16>
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[COLUMNS]] {spyre.for_layout} : tensor<64x64xf16> -> tensor<64x64xf16
// CHECK-NEXT:    [[BACK:%.+]] = spyre.restickify [[COPY]]
// CHECK-NEXT:    [[SEEN:%.+]] = spyre.view [[BACK]]
// CHECK-NEXT:    spyre.matmul([[SEEN]],
#heads = #spyre.layout<[64, 1, 2, 64], [32, 64, 2048, 1]>
func.func @narrow_heads_become_columns(%x: tensor<2x64x32xf16, #heads>, %w: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %columns = spyre.view %x by affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)> : tensor<2x64x32xf16, #heads> -> tensor<64x64xf16>
  %out = spyre.matmul(%columns, %w) : (tensor<64x64xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
  return %out : tensor<64x128xf16>
}

// A constant gets the layout that its users require; an argument is restickified.
// CHECK-LABEL: func.func @a_constant_is_not_moved(
// CHECK:         [[MOVED:%.+]] = spyre.constant dense<5.000000e-01> : tensor<512x128xf16> -> tensor<512x128xf16, #[[COLUMNS:layout[0-9]*]]>
// CHECK-NOT:     spyre.restickify
// CHECK:         [[TURNED:%.+]] = spyre.view [[MOVED]] by
// CHECK:         spyre.matmul(%{{.+}}, [[TURNED]])
func.func @a_constant_is_not_moved(%x: tensor<8x128xf16>) -> (tensor<8x512xf16>, tensor<512x128xf16>) {
  %weights = spyre.constant dense<5.0e-01> : tensor<512x128xf16> -> tensor<512x128xf16, #spyre.layout<[2, 512, 64], [64, 128, 1]>>
  %exp = spyre.pointwise exp(%weights) : (tensor<512x128xf16, #spyre.layout<[2, 512, 64], [64, 128, 1]>>) -> tensor<512x128xf16>
  %turned = spyre.view %weights by affine_map<(d0, d1) -> (d1, d0)> : tensor<512x128xf16, #spyre.layout<[2, 512, 64], [64, 128, 1]>> -> tensor<128x512xf16>
  %product = spyre.matmul(%x, %turned) : (tensor<8x128xf16>, tensor<128x512xf16>) -> tensor<8x512xf16>
  return %product, %exp : tensor<8x512xf16>, tensor<512x128xf16>
}
