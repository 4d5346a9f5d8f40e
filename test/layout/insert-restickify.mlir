// RUN: spyre-opt --spyre-propagate-layouts --spyre-insert-restickify %s | FileCheck %s

// Operands that agree on the stick stay as they are.

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

// One row has no rows to be in the sticks.
// CHECK-LABEL: func.func @a_dim_of_size_1_fits_every_stick(
// CHECK-NOT:     spyre.restickify
// CHECK:         spyre.matmul(
func.func @a_dim_of_size_1_fits_every_stick(%x: tensor<1x128xf16>, %y: tensor<128x64xf16>) -> tensor<1x64xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<1x128xf16>, tensor<128x64xf16>) -> tensor<1x64xf16>
  return %product : tensor<1x64xf16>
}

// The index tensor has other dimensions in its sticks, and takes no part.
// CHECK-LABEL: func.func @a_gather_agrees_without_its_index(
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather({{.+}}) dim 0
// CHECK-NEXT:    return [[ROWS]]
#table = #spyre.layout<[128, 4, 64], [256, 64, 1]>
func.func @a_gather_agrees_without_its_index(%x: tensor<128x256xf16, #table>, %index: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #table>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  return %rows : tensor<3x192x256xf16>
}
