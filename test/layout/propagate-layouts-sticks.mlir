// Which dimension runs in the sticks: chosen for the whole function, or op by op.
// RUN: spyre-opt --spyre-propagate-layouts --spyre-insert-restickify --mlir-print-local-scope %s | FileCheck %s
// RUN: spyre-opt --spyre-propagate-layouts=sticks=greedy --spyre-insert-restickify --mlir-print-local-scope %s | FileCheck %s --check-prefix=GREEDY

// An argument without a layout lies as its reader wants it.
// CHECK-LABEL:  func.func @a_transposed_addend(
// CHECK-SAME:     tensor<128x256xf16, #spyre.layout<[4, 128, 64], [64, 256, 1]>>, {{%.+}}: tensor<256x128xf16, #spyre.layout<[4, 128, 64], [8192, 1, 128]>>
// CHECK-NOT:      spyre.restickify
// GREEDY-LABEL: func.func @a_transposed_addend(
// GREEDY:         spyre.restickify
func.func @a_transposed_addend(%x: tensor<128x256xf16>, %y: tensor<256x128xf16>) -> tensor<128x256xf16> {
  %transposed = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %sum = spyre.pointwise add(%x, %transposed) : tensor<128x256xf16>
  return %sum : tensor<128x256xf16>
}

// x W^T with a weight that may lie with N in its sticks.
// CHECK-LABEL:  func.func @a_transposed_weight(
// CHECK-SAME:     tensor<256x128xf16, #spyre.layout<[4, 128, 64], [8192, 1, 128]>>
// CHECK-NOT:      spyre.restickify
// GREEDY-LABEL: func.func @a_transposed_weight(
// GREEDY:         spyre.restickify
func.func @a_transposed_weight(%x: tensor<64x128xf16>, %w: tensor<256x128xf16>) -> tensor<64x256xf16> {
  %transposed = spyre.view %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %product = spyre.matmul(%x, %transposed) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  return %product : tensor<64x256xf16>
}

// M in the sticks of what becomes a left operand: so is the argument that it is computed from.
// CHECK-LABEL:  func.func @a_transposed_left_operand(
// CHECK-SAME:     tensor<128x64xf16, #spyre.layout<[2, 64, 64], [4096, 1, 64]>>
// CHECK-NOT:      spyre.restickify
// GREEDY-LABEL: func.func @a_transposed_left_operand(
// GREEDY:         spyre.restickify
func.func @a_transposed_left_operand(%x: tensor<128x64xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<128x64xf16>
  %transposed = spyre.view %exp by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x64xf16> -> tensor<64x128xf16>
  %product = spyre.matmul(%transposed, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  return %product : tensor<64x256xf16>
}

// The sums of rows stand side by side in the sticks of the difference: the sum runs along the rows in the first place.
// CHECK-LABEL:  func.func @sums_side_by_side(
// CHECK-NEXT:     spyre.reduce sum({{.+}} -> tensor<256x1xf16, #spyre.layout<[4, 1, 64], [64, -1, 1]>>
// CHECK-NOT:      spyre.restickify
// GREEDY-LABEL: func.func @sums_side_by_side(
// GREEDY-NEXT:    spyre.reduce sum({{.+}} -> tensor<256x1xf16, #spyre.layout<[1, 256, 64], [-1, 1, -1]>>
func.func @sums_side_by_side(%x: tensor<256x64xf16>, %y: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %sums = spyre.reduce sum(%x) dims [1] : tensor<256x64xf16> -> tensor<256x1xf16>
  %row = spyre.view %sums by affine_map<(d0, d1) -> (d1, 0)> : tensor<256x1xf16> -> tensor<1x256xf16>
  %difference = spyre.pointwise sub(%y, %row) : (tensor<128x256xf16>, tensor<1x256xf16>) -> tensor<128x256xf16>
  return %difference : tensor<128x256xf16>
}

// Each op alone would keep the sticks of x; but four ops later the product wants the others. One move is made where it is smallest:
// behind the maximum of pairs, not in front of it.
// CHECK-LABEL:  func.func @the_smallest_is_moved(
// CHECK-NEXT:     spyre.pointwise exp
// CHECK-NEXT:     spyre.reduce max
// CHECK:          spyre.restickify {{.+}} -> tensor<1x64x128xf16
// CHECK-NOT:      spyre.restickify
func.func @the_smallest_is_moved(%x: tensor<4x64x128xf16, #spyre.layout<[64, 2, 4, 64], [128, 64, 8192, 1]>>, %y: tensor<64x128xf16>) -> tensor<128x128xf16> {
  %exp = spyre.pointwise exp(%x) : (tensor<4x64x128xf16, #spyre.layout<[64, 2, 4, 64], [128, 64, 8192, 1]>>) -> tensor<4x64x128xf16>
  %max = spyre.reduce max(%exp) dims [0] : tensor<4x64x128xf16> -> tensor<1x64x128xf16>
  %transposed = spyre.view %max by affine_map<(d0, d1) -> (0, d1, d0)> : tensor<1x64x128xf16> -> tensor<128x64xf16>
  %product = spyre.matmul(%transposed, %y) : (tensor<128x64xf16>, tensor<64x128xf16>) -> tensor<128x128xf16>
  return %product : tensor<128x128xf16>
}

// Nothing is in the sticks of a product of one column but one element.
// CHECK-LABEL:  func.func @a_product_of_one_column(
// CHECK:          spyre.matmul({{.+}}) : (tensor<64x128xf16, #spyre.layout<[2, 64, 64], [64, 128, 1]>>, tensor<128x1xf16, #spyre.layout<[1, 128, 64], [-1, 1, -1]>>) -> tensor<64x1xf16, #spyre.layout<[1, 64, 64], [-1, 1, -1]>>
func.func @a_product_of_one_column(%x: tensor<64x128xf16>, %y: tensor<128x1xf16>) -> tensor<64x1xf16> {
  %z = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x1xf16>) -> tensor<64x1xf16>
  return %z : tensor<64x1xf16>
}

// A part that would begin or end inside a stick is written along another dimension.
// CHECK-LABEL:  func.func @half_a_stick(
// CHECK-NEXT:     spyre.empty : tensor<64x64xf16, #spyre.layout<[1, 64, 64], [4096, 1, 64]>>
// CHECK-NOT:      spyre.restickify
func.func @half_a_stick(%x: tensor<64x32xf16>, %y: tensor<64x32xf16>) -> tensor<64x64xf16> {
  %buffer = spyre.empty : tensor<64x64xf16>
  %0 = spyre.insert %x into %buffer at [0, 0] : tensor<64x32xf16> into tensor<64x64xf16>
  %1 = spyre.insert %y into %0 at [0, 32] : tensor<64x32xf16> into tensor<64x64xf16>
  return %1 : tensor<64x64xf16>
}

// Where both are cut, one element is in each stick.
// CHECK-LABEL:  func.func @a_part_inside_sticks_of_both_dims(
// CHECK-NEXT:     spyre.empty : tensor<32x128xf16, #spyre.layout<[128, 1, 32, 64], [1, -1, 128, -1]>>
func.func @a_part_inside_sticks_of_both_dims(%x: tensor<8x16xf16>) -> tensor<32x128xf16> {
  %buffer = spyre.empty : tensor<32x128xf16>
  %0 = spyre.insert %x into %buffer at [8, 48] : tensor<8x16xf16> into tensor<32x128xf16>
  return %0 : tensor<32x128xf16>
}
