// RUN: spyre-opt --spyre-layout-gather-tables %s | FileCheck %s

// The indexed dimension is outermost.
// CHECK-DAG: #[[TABLE:layout[0-9]*]] = #spyre.layout<[512, 2, 64], [128, 64, 1]>
// CHECK-DAG: #[[OTHER:layout[0-9]*]] = #spyre.layout<[512, 2, 64], [128, 64, 1], format = SEN169_FP16>
// CHECK-DAG: #[[MIDDLE:layout[0-9]*]] = #spyre.layout<[128, 4, 4, 64], [256, 64, 32768, 1]>
// CHECK-DAG: #[[GIVEN:layout[0-9]*]] = #spyre.layout<[2, 512, 64], [64, 128, 1]>
// CHECK-DAG: #[[STICK_FIRST:layout[0-9]*]] = #spyre.layout<[512, 2, 128, 64], [128, 4194304, 1, 65536]>
// CHECK-DAG: #[[LONG:layout[0-9]*]] = #spyre.layout<[2, 2000000, 64], [64, 100, 1]>
// CHECK-DAG: #[[COLUMNS:layout[0-9]*]] = #spyre.layout<[128, 8, 64], [1, 8192, 128]>

// Nothing is copied, although the argument has another use. The index has no layout yet.
// CHECK-LABEL: func.func @an_argument_gets_the_layout(
// CHECK-SAME:    [[X:%.+]]: tensor<512x128xf16, #[[TABLE]]>, [[INDEX:%.+]]: tensor<16xi32>) -> (tensor<16x128xf16>, tensor<512x128xf16>) {
// CHECK-NEXT:    spyre.gather([[X]], [[INDEX]]) dim 0 : (tensor<512x128xf16, #[[TABLE]]>, tensor<16xi32>) -> tensor<16x128xf16>
// CHECK-NEXT:    spyre.pointwise exp([[X]])
func.func @an_argument_gets_the_layout(%x: tensor<512x128xf16>, %index: tensor<16xi32>) -> (tensor<16x128xf16>, tensor<512x128xf16>) {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  %exp = spyre.pointwise exp(%x) : tensor<512x128xf16>
  return %rows, %exp : tensor<16x128xf16>, tensor<512x128xf16>
}

// CHECK-LABEL: func.func @a_constant_gets_the_layout(
// CHECK-NEXT:    [[X:%.+]] = spyre.constant dense<1.000000e+00> : {{.+}}tensor<512x128xf16, #[[TABLE]]>
// CHECK-NEXT:    spyre.gather([[X]],
func.func @a_constant_gets_the_layout(%index: tensor<16xi32>) -> tensor<16x128xf16> {
  %x = spyre.constant dense<1.0> : tensor<512x128xf16>
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// Numbers that the host's f16 cannot represent are an f32 constant, viewed as f16: the constant itself gets the layout.
// CHECK-LABEL: func.func @a_constant_of_other_numbers_gets_the_layout(
// CHECK-NEXT:    [[X:%.+]] = spyre.constant dense<1.000000e-01> : {{.+}}tensor<512x128xf32, #[[OTHER]]>
// CHECK-NEXT:    [[SHOWN:%.+]] = spyre.view [[X]]
// CHECK-NEXT:    spyre.gather([[SHOWN]],
func.func @a_constant_of_other_numbers_gets_the_layout(%index: tensor<16xi32>) -> tensor<16x128xf16> {
  %table = spyre.constant dense<1.0e-01> : tensor<512x128xf32>
  %shown = spyre.view %table by affine_map<(d0, d1) -> (d0, d1)> : tensor<512x128xf32> -> tensor<512x128xf16>
  %rows = spyre.gather(%shown, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// CHECK-LABEL: func.func @the_indexed_dim_may_be_in_the_middle(
// CHECK-SAME:    tensor<4x128x256xf16, #[[MIDDLE]]>
func.func @the_indexed_dim_may_be_in_the_middle(%x: tensor<4x128x256xf16>, %index: tensor<16xi32>) -> tensor<16x4x256xf16> {
  %rows = spyre.gather(%x, %index) dim 1 : (tensor<4x128x256xf16>, tensor<16xi32>) -> tensor<16x4x256xf16>
  return %rows : tensor<16x4x256xf16>
}

// A value that only gathers use is computed in the layout of a table.
// CHECK-LABEL: func.func @a_result_gets_the_layout(
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp({{%.+}}) : (tensor<512x128xf16>) -> tensor<512x128xf16, #[[TABLE]]>
// CHECK-NEXT:    spyre.gather([[EXP]],
// CHECK-NEXT:    spyre.gather([[EXP]],
func.func @a_result_gets_the_layout(%x: tensor<512x128xf16>, %index: tensor<16xi32>) -> (tensor<16x128xf16>, tensor<16x128xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<512x128xf16>
  %0 = spyre.gather(%exp, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  %1 = spyre.gather(%exp, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %0, %1 : tensor<16x128xf16>, tensor<16x128xf16>
}

// CHECK-LABEL: func.func @a_result_with_other_readers_is_copied(
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp({{%.+}}) : tensor<512x128xf16>
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]] {spyre.for_layout} : tensor<512x128xf16> -> tensor<512x128xf16, #[[TABLE]]>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather([[COPY]],
// CHECK-NEXT:    return [[ROWS]], [[EXP]]
func.func @a_result_with_other_readers_is_copied(%x: tensor<512x128xf16>, %index: tensor<16xi32>) -> (tensor<16x128xf16>, tensor<512x128xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<512x128xf16>
  %rows = spyre.gather(%exp, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows, %exp : tensor<16x128xf16>, tensor<512x128xf16>
}

// The columns of a matmul result are its stick dimension: a table along columns is a copy.
// CHECK-LABEL: func.func @a_product_is_laid_out_by_rows_only(
// CHECK:         [[BY_ROWS:%.+]] = spyre.matmul({{%.+}}, {{%.+}}) : (tensor<512x64xf16>, tensor<64x128xf16>) -> tensor<512x128xf16, #[[TABLE]]>
// CHECK-NEXT:    spyre.gather([[BY_ROWS]],
// CHECK-NEXT:    [[PLAIN:%.+]] = spyre.matmul({{%.+}}, {{%.+}}) : (tensor<512x64xf16>, tensor<64x128xf16>) -> tensor<512x128xf16>
// CHECK-NEXT:    [[BY_COLUMNS:%.+]] = spyre.copy [[PLAIN]] {spyre.for_layout} : tensor<512x128xf16> -> tensor<512x128xf16, #[[COLUMNS]]>
// CHECK-NEXT:    spyre.gather([[BY_COLUMNS]],
func.func @a_product_is_laid_out_by_rows_only(%x: tensor<512x64xf16>, %y: tensor<64x128xf16>, %index: tensor<16xi32>)
    -> (tensor<16x128xf16>, tensor<16x512xf16>) {
  %0 = spyre.matmul(%x, %y) : (tensor<512x64xf16>, tensor<64x128xf16>) -> tensor<512x128xf16>
  %rows = spyre.gather(%0, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  %1 = spyre.matmul(%x, %y) : (tensor<512x64xf16>, tensor<64x128xf16>) -> tensor<512x128xf16>
  %columns = spyre.gather(%1, %index) dim 1 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x512xf16>
  return %rows, %columns : tensor<16x128xf16>, tensor<16x512xf16>
}

// The first gather decides the layout of the argument.
// CHECK-LABEL: func.func @an_argument_has_one_layout(
// CHECK-SAME:    [[X:%.+]]: tensor<512x128xf16, #[[TABLE]]>, [[INDEX:%.+]]: tensor<16xi32>) ->
// CHECK-NEXT:    spyre.gather([[X]], [[INDEX]]) dim 0
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]] {spyre.for_layout} : tensor<512x128xf16, #[[TABLE]]> -> tensor<512x128xf16, #[[COLUMNS]]>
// CHECK-NEXT:    spyre.gather([[COPY]], [[INDEX]]) dim 1
func.func @an_argument_has_one_layout(%x: tensor<512x128xf16>, %index: tensor<16xi32>) -> (tensor<16x128xf16>, tensor<16x512xf16>) {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  %columns = spyre.gather(%x, %index) dim 1 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x512xf16>
  return %rows, %columns : tensor<16x128xf16>, tensor<16x512xf16>
}

// CHECK-LABEL: func.func @another_layout_is_copied(
// CHECK-SAME:    [[X:%.+]]: tensor<512x128xf16, #[[GIVEN]]>,
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]] {spyre.for_layout} : tensor<512x128xf16, #[[GIVEN]]> -> tensor<512x128xf16, #[[TABLE]]>
// CHECK-NEXT:    spyre.gather([[COPY]],
#given = #spyre.layout<[2, 512, 64], [64, 128, 1]>
func.func @another_layout_is_copied(%x: tensor<512x128xf16, #given>, %index: tensor<16xi32>) -> tensor<16x128xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16, #given>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// The copy keeps the stick, here on the first of three dimensions.
// CHECK-LABEL: func.func @the_stick_stays(
// CHECK-NEXT:    spyre.copy {{%.+}} {spyre.for_layout} : tensor<128x512x128xf16, #{{.+}}> -> tensor<128x512x128xf16, #[[STICK_FIRST]]>
#inside = #spyre.layout<[2, 512, 128, 64], [4194304, 128, 1, 65536]>
func.func @the_stick_stays(%x: tensor<128x512x128xf16, #inside>, %index: tensor<16xi32>) -> tensor<16x128x128xf16> {
  %rows = spyre.gather(%x, %index) dim 1 : (tensor<128x512x128xf16, #inside>, tensor<16xi32>) -> tensor<16x128x128xf16>
  return %rows : tensor<16x128x128xf16>
}

// CHECK-LABEL: func.func @a_fitting_layout_stays(
// CHECK-NEXT:    spyre.gather(
#fitting = #spyre.layout<[512, 2, 64], [128, 64, 1]>
func.func @a_fitting_layout_stays(%x: tensor<512x128xf16, #fitting>, %index: tensor<16xi32>) -> tensor<16x128xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16, #fitting>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// CHECK-LABEL: func.func @other_indices_are_copied(
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[VIEW]] {spyre.for_layout} : tensor<512x128xf16> -> tensor<512x128xf16, #[[TABLE]]>
// CHECK-NEXT:    spyre.gather([[COPY]],
func.func @other_indices_are_copied(%x: tensor<1x512x128xf16>, %index: tensor<16xi32>) -> tensor<16x128xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (0, d0, d1)> : tensor<1x512x128xf16> -> tensor<512x128xf16>
  %rows = spyre.gather(%view, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// An index tensor has the layout of the host, so its use as a table is a copy.
// CHECK-LABEL: func.func @indices_of_themselves(
// CHECK-SAME:    [[X:%.+]]: tensor<64x64xi32>) ->
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]]
// CHECK-NEXT:    spyre.gather([[COPY]], [[X]])
func.func @indices_of_themselves(%x: tensor<64x64xi32>) -> tensor<64x64x64xi32> {
  %rows = spyre.gather(%x, %x) dim 0 : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64x64xi32>
  return %rows : tensor<64x64x64xi32>
}

// Slices have the layout of their buffer, so a table that is written in slices is copied.
// CHECK-LABEL: func.func @a_table_written_in_parts(
// CHECK:         [[WHOLE:%.+]] = spyre.insert {{.+}} into tensor<512x128xf16>
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[WHOLE]] {spyre.for_layout} : tensor<512x128xf16> -> tensor<512x128xf16, #[[TABLE]]>
// CHECK-NEXT:    spyre.gather([[COPY]],
func.func @a_table_written_in_parts(%x: tensor<512x128xf16>, %index: tensor<16xi32>) -> tensor<16x128xf16> {
  %buffer = spyre.empty : tensor<512x128xf16>
  %table = spyre.insert %x into %buffer at [0, 0] : tensor<512x128xf16> into tensor<512x128xf16>
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}

// 640 MiB are more than a core can address, and a window of one stick of the columns is not.
// CHECK-LABEL: func.func @a_table_beyond_the_span(
// CHECK-SAME:    [[X:%.+]]: tensor<5242880x64xf16
// CHECK-NOT:     spyre.view
// CHECK:         spyre.gather([[X]],
// CHECK-LABEL: func.func @columns_of_a_table_beyond_the_span(
// CHECK-SAME:    [[X:%.+]]: tensor<2000000x100xf16, #[[LONG]]>
// CHECK:         [[BUFFER:%.+]] = spyre.empty : tensor<16x100xf16>
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.view [[X]] by #{{map[0-9]*}} : tensor<2000000x100xf16, #[[LONG]]> -> tensor<2000000x64xf16>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather([[FIRST]], {{.+}} -> tensor<16x64xf16>
// CHECK-NEXT:    [[HALF:%.+]] = spyre.insert [[ROWS]] into [[BUFFER]] at [0, 0]
// CHECK-NEXT:    [[SECOND:%.+]] = spyre.view [[X]] by #{{map[0-9]*}} : tensor<2000000x100xf16, #[[LONG]]> -> tensor<2000000x36xf16>
// CHECK-NEXT:    [[REST:%.+]] = spyre.gather([[SECOND]], {{.+}} -> tensor<16x36xf16>
// CHECK-NEXT:    spyre.insert [[REST]] into [[HALF]] at [0, 64]
func.func @a_table_beyond_the_span(%x: tensor<5242880x64xf16>, %index: tensor<16xi32>) -> tensor<16x64xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<5242880x64xf16>, tensor<16xi32>) -> tensor<16x64xf16>
  return %rows : tensor<16x64xf16>
}
func.func @columns_of_a_table_beyond_the_span(%x: tensor<2000000x100xf16>, %index: tensor<16xi32>) -> tensor<16x100xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<2000000x100xf16>, tensor<16xi32>) -> tensor<16x100xf16>
  return %rows : tensor<16x100xf16>
}
