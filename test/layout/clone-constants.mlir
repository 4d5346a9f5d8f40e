// RUN: spyre-opt --spyre-clone-constants --mlir-print-local-scope %s | FileCheck %s

// A constant with two uses: as a table of a gather, and as the weights of a matmul.
// CHECK-LABEL: func.func @each_reader_has_its_own(
// CHECK:         [[WEIGHTS:%.+]] = spyre.constant dense<5.000000e-01> : tensor<512x128xf16>
// CHECK-NEXT:    [[TABLE:%.+]] = spyre.constant dense<5.000000e-01> : tensor<512x128xf16>
// CHECK:         spyre.gather([[TABLE]],
// CHECK:         [[TURNED:%.+]] = spyre.view [[WEIGHTS]] by
// CHECK:         spyre.matmul(%{{.+}}, [[TURNED]])
func.func @each_reader_has_its_own(%index: tensor<16xi32>) -> tensor<16x512xf16> {
  %table = spyre.constant dense<5.0e-01> : tensor<512x128xf16>
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  %weights = spyre.view %table by affine_map<(d0, d1) -> (d1, d0)> : tensor<512x128xf16> -> tensor<128x512xf16>
  %product = spyre.matmul(%rows, %weights) : (tensor<16x128xf16>, tensor<128x512xf16>) -> tensor<16x512xf16>
  return %product : tensor<16x512xf16>
}

// All operands of an op share one clone, directly or through views. Clones keep the attribute with the exact numbers.
// CHECK-LABEL: func.func @all_operands_of_an_op_share_one(
// CHECK-COUNT-4: spyre.constant dense<1.000000e-01> : tensor<8x8xf32> {exact = dense<1.000000e-01> : tensor<8x8xf64>}
// CHECK-NOT:     spyre.constant
// CHECK:         return
func.func @all_operands_of_an_op_share_one(%x: tensor<8x8xf16>) -> (tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>, tensor<8x8xf16>) {
  %number = spyre.constant dense<1.0e-01> : tensor<8x8xf32> {exact = dense<1.0e-01> : tensor<8x8xf64>}
  %shown = spyre.view %number by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x8xf32> -> tensor<8x8xf16>
  %turned = spyre.view %number by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x8xf32> -> tensor<8x8xf16>
  %sum = spyre.pointwise add(%shown, %turned) : tensor<8x8xf16>
  %scaled = spyre.pointwise mul(%x, %shown) : tensor<8x8xf16>
  %twice = spyre.pointwise add(%number, %number) : tensor<8x8xf32>
  %square = spyre.pointwise mul(%turned, %turned) : tensor<8x8xf16>
  return %sum, %scaled, %twice, %square : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>, tensor<8x8xf16>
}

// A constant of one element has the same bytes in every layout, and an explicit layout is kept.
// CHECK-LABEL: func.func @what_has_no_choice_stays(
// CHECK-COUNT-2: spyre.constant
// CHECK-NOT:     spyre.constant
// CHECK:         return
func.func @what_has_no_choice_stays(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %one = spyre.constant dense<1.0> : tensor<1x1xf16>
  %all = spyre.constant dense<2.0> : tensor<8x64xf16> -> tensor<8x64xf16, #spyre.layout<[1, 8, 64], [64, 64, 1]>>
  %a = spyre.pointwise add(%x, %one) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
  %b = spyre.pointwise mul(%a, %one) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
  %c = spyre.pointwise add(%a, %all) : (tensor<8x64xf16>, tensor<8x64xf16, #spyre.layout<[1, 8, 64], [64, 64, 1]>>) -> tensor<8x64xf16>
  %d = spyre.pointwise mul(%b, %all) : (tensor<8x64xf16>, tensor<8x64xf16, #spyre.layout<[1, 8, 64], [64, 64, 1]>>) -> tensor<8x64xf16>
  return %c, %d : tensor<8x64xf16>, tensor<8x64xf16>
}

// Matrices of experts side by side, and weights of a convolution that are those of a matmul for each of five rows.
// CHECK-LABEL: func.func @what_a_view_regroups_has_its_dimensions(
// CHECK:         [[SIDE:%.+]] = spyre.constant dense<5.000000e-01> : tensor<1024x64xf16>
// CHECK:         [[TURNED:%.+]] = spyre.view [[SIDE]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<1024x64xf16> -> tensor<64x1024xf16>
// CHECK-NEXT:    spyre.matmul(%{{.+}}, [[TURNED]])
// CHECK:         [[WEIGHTS:%.+]] = spyre.constant dense_resource<weights> : tensor<32x12xf16>
// CHECK:         [[EACH:%.+]] = spyre.view [[WEIGHTS]] by affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<32x12xf16> -> tensor<5x12x32xf16>
// CHECK-NEXT:    spyre.matmul(%{{.+}}, [[EACH]])
func.func @what_a_view_regroups_has_its_dimensions(%x: tensor<16x64xf16>, %y: tensor<5x7x12xf16>) -> (tensor<16x1024xf16>, tensor<5x7x32xf16>) {
  %experts = spyre.constant dense<5.0e-01> : tensor<4x256x64xf16>
  %columns = spyre.view %experts by affine_map<(d0, d1) -> (d1 floordiv 256, d1 mod 256, d0)> : tensor<4x256x64xf16> -> tensor<64x1024xf16>
  %all = spyre.matmul(%x, %columns) : (tensor<16x64xf16>, tensor<64x1024xf16>) -> tensor<16x1024xf16>
  %kernel = spyre.constant dense_resource<weights> : tensor<32x3x2x2xf16>
  %shown = spyre.view %kernel by affine_map<(d0, d1, d2) -> (d2, d1 floordiv 4, (d1 floordiv 2) mod 2, d1 mod 2)> : tensor<32x3x2x2xf16> -> tensor<5x12x32xf16>
  %rows = spyre.matmul(%y, %shown) : (tensor<5x7x12xf16>, tensor<5x12x32xf16>) -> tensor<5x7x32xf16>
  return %all, %rows : tensor<16x1024xf16>, tensor<5x7x32xf16>
}

// A slice of a constant keeps the dimensions of the constant.
// CHECK-LABEL: func.func @a_part_keeps_its_dimensions(
// CHECK:         [[ALL:%.+]] = spyre.constant dense<5.000000e-01> : tensor<128xf16>
// CHECK-NEXT:    spyre.view [[ALL]] by
func.func @a_part_keeps_its_dimensions(%x: tensor<2x32xf16>) -> tensor<2x32xf16> {
  %all = spyre.constant dense<5.0e-01> : tensor<128xf16>
  %part = spyre.view %all by affine_map<(d0, d1) -> (d0 * 32 + d1)> : tensor<128xf16> -> tensor<2x32xf16>
  %sum = spyre.pointwise add(%x, %part) : tensor<2x32xf16>
  return %sum : tensor<2x32xf16>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x02000000003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C"
    }
  }
#-}
