// RUN: spyre-opt --spyre-propagate-layouts %s | FileCheck %s

// The layouts that the functions below are about. 512x1024: 16 sticks side by side, each with 512 rows of 64 elements.
// CHECK-DAG: #[[MATRIX:layout[0-9]*]] = #spyre.layout<[16, 512, 64], [64, 1024, 1]>
// CHECK-DAG: #[[COLUMN:layout[0-9]*]] = #spyre.layout<[1, 512, 64], [-1, 1, -1]>
// CHECK-DAG: #[[ROW:layout[0-9]*]] = #spyre.layout<[16, 1, 64], [64, -1, 1]>
// CHECK-DAG: #[[VECTOR:layout[0-9]*]] = #spyre.layout<[16, 64], [64, 1]>
// CHECK-DAG: #[[ON_ROWS:layout[0-9]*]] = #spyre.layout<[8, 1024, 64], [65536, 1, 1024]>
// CHECK-DAG: #[[ON_ROWS_COLUMN:layout[0-9]*]] = #spyre.layout<[8, 1, 64], [64, -1, 1]>
// CHECK-DAG: #[[ON_ROWS_ROW:layout[0-9]*]] = #spyre.layout<[1, 1024, 64], [-1, 1, -1]>
// CHECK-DAG: #[[RAGGED:layout[0-9]*]] = #spyre.layout<[2, 8, 64], [64, 100, 1]>
// CHECK-DAG: #[[SCALAR:layout[0-9]*]] = #spyre.layout<[1, 1, 64], [-1, -1, -1]>
// CHECK-DAG: #[[EVERYWHERE:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0)>
// CHECK-DAG: #[[F32:layout[0-9]*]] = #spyre.layout<[2, 8, 32], [32, 64, 1]>
// CHECK-DAG: #[[F32_ROWS:layout[0-9]*]] = #spyre.layout<[8, 128, 32], [32, 256, 1]>
// CHECK-DAG: #[[BATCH:layout[0-9]*]] = #spyre.layout<[8, 2, 4, 64], [128, 64, 1024, 1]>
// CHECK-DAG: #[[BATCH_OUTSIDE:layout[0-9]*]] = #spyre.layout<[4, 2, 8, 64], [1024, 64, 128, 1]>
// CHECK-DAG: #[[BATCH_SUM:layout[0-9]*]] = #spyre.layout<[1, 8, 64], [-1, 1, -1]>
// CHECK-DAG: #[[SQUARE_ON_ROWS:layout[0-9]*]] = #spyre.layout<[2, 128, 64], [8192, 1, 128]>
// CHECK-DAG: #[[WEIGHT:layout[0-9]*]] = #spyre.layout<[2, 1024, 64], [64, 128, 1]>
// CHECK-DAG: #[[PRODUCT:layout[0-9]*]] = #spyre.layout<[2, 512, 64], [64, 128, 1]>

// The function type has the layouts as well.
// CHECK-LABEL: func.func @arguments_and_results_are_row_major(
// CHECK-SAME:    [[X:%.+]]: tensor<512x1024xf16, #[[MATRIX]]>) -> tensor<512x1024xf16, #[[MATRIX]]> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<512x1024xf16, #[[MATRIX]]>
// CHECK-NEXT:    return [[EXP]] : tensor<512x1024xf16, #[[MATRIX]]>
func.func @arguments_and_results_are_row_major(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

// 100 elements take two sticks.
// CHECK-LABEL: func.func @the_last_stick_may_be_partly_empty(
// CHECK:         spyre.pointwise exp({{%.+}}) : tensor<8x100xf16, #[[RAGGED]]>
func.func @the_last_stick_may_be_partly_empty(%x: tensor<8x100xf16>) -> tensor<8x100xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x100xf16>
  return %exp : tensor<8x100xf16>
}

// CHECK-LABEL: func.func @a_stick_holds_32_elements_of_f32(
// CHECK:         spyre.pointwise exp({{%.+}}) : tensor<8x64xf32, #[[F32]]>
func.func @a_stick_holds_32_elements_of_f32(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf32>
  return %exp : tensor<8x64xf32>
}

// The first dimension stands next to the stick.
// CHECK-LABEL: func.func @batches_interleave(
// CHECK:         spyre.pointwise exp({{%.+}}) : tensor<4x8x128xf16, #[[BATCH]]>
func.func @batches_interleave(%x: tensor<4x8x128xf16>) -> tensor<4x8x128xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<4x8x128xf16>
  return %exp : tensor<4x8x128xf16>
}

// CHECK-LABEL: func.func @given_layouts_stay_and_spread(
// CHECK-SAME:    tensor<512x1024xf16, #[[ON_ROWS]]>) -> tensor<512x1024xf16, #[[ON_ROWS]]> {
// CHECK-NEXT:    spyre.pointwise exp({{%.+}}) : tensor<512x1024xf16, #[[ON_ROWS]]>
#on_rows = #spyre.layout<[8, 1024, 64], [65536, 1, 1024]>
func.func @given_layouts_stay_and_spread(%x: tensor<512x1024xf16, #on_rows>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : (tensor<512x1024xf16, #on_rows>) -> tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

// An order of the dimensions that no op would choose is kept as well.
// CHECK-LABEL: func.func @elementwise_ops_keep_the_order_of_the_dims(
// CHECK:         [[SUM:%.+]] = spyre.pointwise add({{%.+}}, {{%.+}}) {{.*}} -> tensor<4x8x128xf16, #[[BATCH_OUTSIDE]]>
// CHECK-NEXT:    spyre.pointwise exp([[SUM]]) : tensor<4x8x128xf16, #[[BATCH_OUTSIDE]]>
#batch_outside = #spyre.layout<[4, 2, 8, 64], [1024, 64, 128, 1]>
func.func @elementwise_ops_keep_the_order_of_the_dims(%row: tensor<1x1x128xf16>, %x: tensor<4x8x128xf16, #batch_outside>) -> tensor<4x8x128xf16> {
  %sum = spyre.pointwise add(%row, %x) : (tensor<1x1x128xf16>, tensor<4x8x128xf16, #batch_outside>) -> tensor<4x8x128xf16>
  %exp = spyre.pointwise exp(%sum) : tensor<4x8x128xf16>
  return %exp : tensor<4x8x128xf16>
}

// A reduction of the stick dimension leaves one element per stick; later ops keep this layout.
// CHECK-LABEL: func.func @reducing_the_sticks_leaves_one_element_a_stick(
// CHECK:         [[SUM:%.+]] = spyre.reduce sum({{%.+}}) dims [1] : tensor<512x1024xf16, #[[MATRIX]]> -> tensor<512x1xf16, #[[COLUMN]]>
// CHECK-NEXT:    spyre.pointwise exp([[SUM]]) : tensor<512x1xf16, #[[COLUMN]]>
func.func @reducing_the_sticks_leaves_one_element_a_stick(%x: tensor<512x1024xf16>) -> tensor<512x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
  %exp = spyre.pointwise exp(%sum) : tensor<512x1xf16>
  return %exp : tensor<512x1xf16>
}

// CHECK-LABEL: func.func @reducing_across_sticks_keeps_them(
// CHECK:         spyre.reduce sum({{%.+}}) dims [0] : tensor<512x1024xf16, #[[MATRIX]]> -> tensor<1x1024xf16, #[[ROW]]>
func.func @reducing_across_sticks_keeps_them(%x: tensor<512x1024xf16>) -> tensor<1x1024xf16> {
  %sum = spyre.reduce sum(%x) dims [0] : tensor<512x1024xf16> -> tensor<1x1024xf16>
  return %sum : tensor<1x1024xf16>
}

// The stick dimension decides, not the position of the dimension: here the rows are in the sticks.
// CHECK-LABEL: func.func @reductions_follow_the_stick(
// CHECK:         spyre.reduce sum({{%.+}}) dims [1] : tensor<512x1024xf16, #[[ON_ROWS]]> -> tensor<512x1xf16, #[[ON_ROWS_COLUMN]]>
// CHECK-NEXT:    spyre.reduce sum({{%.+}}) dims [0] : tensor<512x1024xf16, #[[ON_ROWS]]> -> tensor<1x1024xf16, #[[ON_ROWS_ROW]]>
func.func @reductions_follow_the_stick(%x: tensor<512x1024xf16, #on_rows>) -> (tensor<512x1xf16>, tensor<1x1024xf16>) {
  %column = spyre.reduce sum(%x) dims [1] : tensor<512x1024xf16, #on_rows> -> tensor<512x1xf16>
  %row = spyre.reduce sum(%x) dims [0] : tensor<512x1024xf16, #on_rows> -> tensor<1x1024xf16>
  return %column, %row : tensor<512x1xf16>, tensor<1x1024xf16>
}

// CHECK-LABEL: func.func @several_reduced_dims_may_hold_the_stick(
// CHECK:         spyre.reduce sum({{%.+}}) dims [0, 2] : tensor<4x8x128xf16, #[[BATCH]]> -> tensor<1x8x1xf16, #[[BATCH_SUM]]>
func.func @several_reduced_dims_may_hold_the_stick(%x: tensor<4x8x128xf16>) -> tensor<1x8x1xf16> {
  %sum = spyre.reduce sum(%x) dims [0, 2] : tensor<4x8x128xf16> -> tensor<1x8x1xf16>
  return %sum : tensor<1x8x1xf16>
}

// The result has the layout of the operand that is not broadcast, in either position.
// CHECK-LABEL: func.func @broadcasts_take_the_layout_of_the_full_operand(
// CHECK:         spyre.pointwise sub({{.+}}) : (tensor<512x1xf16, #[[COLUMN]]>, tensor<512x1024xf16, #[[MATRIX]]>) -> tensor<512x1024xf16, #[[MATRIX]]>
func.func @broadcasts_take_the_layout_of_the_full_operand(%column: tensor<512x1xf16>, %x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %difference = spyre.pointwise sub(%column, %x) : (tensor<512x1xf16>, tensor<512x1024xf16>) -> tensor<512x1024xf16>
  return %difference : tensor<512x1024xf16>
}

// No operand has all dimensions of the result, but the row has a stick dimension.
// CHECK-LABEL: func.func @an_outer_sum_keeps_the_stick_of_the_row(
// CHECK:         spyre.pointwise add({{.+}}) : (tensor<512x1xf16, #[[COLUMN]]>, tensor<1x1024xf16>) -> tensor<512x1024xf16, #[[MATRIX]]>
func.func @an_outer_sum_keeps_the_stick_of_the_row(%column: tensor<512x1xf16>, %vector: tensor<1024xf16>) -> tensor<512x1024xf16> {
  %row = spyre.view %vector by affine_map<(d0, d1) -> (d1)> : tensor<1024xf16> -> tensor<1x1024xf16>
  %sum = spyre.pointwise add(%column, %row) : (tensor<512x1xf16>, tensor<1x1024xf16>) -> tensor<512x1024xf16>
  return %sum : tensor<512x1024xf16>
}

// A view has no data, so it has no layout; its users keep the stick dimension.
// CHECK-LABEL: func.func @views_move_no_stick(
// CHECK:         [[VIEW:%.+]] = spyre.view {{%.+}} by {{.+}} : tensor<1024x512xf16, #{{layout[0-9]*}}> -> tensor<512x1024xf16>
// CHECK-NEXT:    spyre.pointwise exp([[VIEW]]) : (tensor<512x1024xf16>) -> tensor<512x1024xf16, #[[ON_ROWS]]>
func.func @views_move_no_stick(%x: tensor<1024x512xf16>) -> tensor<512x1024xf16> {
  %transposed = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<1024x512xf16> -> tensor<512x1024xf16>
  %exp = spyre.pointwise exp(%transposed) : tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

// Operands of equal shapes may have different indices.
// CHECK-LABEL: func.func @a_transposed_square_has_its_sticks_on_rows(
// CHECK:         spyre.pointwise exp({{%.+}}) : (tensor<128x128xf16>) -> tensor<128x128xf16, #[[SQUARE_ON_ROWS]]>
func.func @a_transposed_square_has_its_sticks_on_rows(%x: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %transposed = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x128xf16> -> tensor<128x128xf16>
  %exp = spyre.pointwise exp(%transposed) : tensor<128x128xf16>
  return %exp : tensor<128x128xf16>
}

// CHECK-LABEL: func.func @a_matmul_has_n_in_its_sticks(
// CHECK:         spyre.matmul({{.+}}) : (tensor<512x1024xf16, #[[MATRIX]]>, tensor<1024x128xf16, #[[WEIGHT]]>) -> tensor<512x128xf16, #[[PRODUCT]]>
func.func @a_matmul_has_n_in_its_sticks(%x: tensor<512x1024xf16>, %y: tensor<1024x128xf16>) -> tensor<512x128xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<512x1024xf16>, tensor<1024x128xf16>) -> tensor<512x128xf16>
  return %product : tensor<512x128xf16>
}

// A fill is a constant of one element; only elementwise ops broadcast it, other ops read it in full size.
// CHECK-LABEL: func.func @fills_are_row_major_and_copies_keep_the_layout(
// CHECK:         [[ONE:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16> -> tensor<1x1xf16, #[[SCALAR]]>
// CHECK-NEXT:    [[SHOWN:%.+]] = spyre.view [[ONE]] by #[[EVERYWHERE]] : tensor<1x1xf16, #[[SCALAR]]> -> tensor<512x1024xf16>
// CHECK-NEXT:    [[FILL:%.+]] = spyre.copy [[SHOWN]] : tensor<512x1024xf16> -> tensor<512x1024xf16, #[[MATRIX]]>
// CHECK-NEXT:    spyre.copy [[FILL]] : tensor<512x1024xf16, #[[MATRIX]]> -> tensor<512x1024xf16, #[[MATRIX]]>
// CHECK-NEXT:    spyre.copy {{%.+}} : tensor<512x1024xf16, #[[ON_ROWS]]> -> tensor<512x1024xf16, #[[ON_ROWS]]>
func.func @fills_are_row_major_and_copies_keep_the_layout(%x: tensor<512x1024xf16, #on_rows>) -> (tensor<512x1024xf16>, tensor<512x1024xf16>) {
  %fill = spyre.fill 0.0 : f16 -> tensor<512x1024xf16>
  %copy = spyre.copy %fill : tensor<512x1024xf16> -> tensor<512x1024xf16>
  %same = spyre.copy %x : tensor<512x1024xf16, #on_rows> -> tensor<512x1024xf16>
  return %copy, %same : tensor<512x1024xf16>, tensor<512x1024xf16>
}

// CHECK-LABEL: func.func @elementwise_ops_broadcast_a_fill(
// CHECK:         [[TWO:%.+]] = spyre.constant dense<2.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    spyre.pointwise add({{%.+}}, [[TWO]]) : (tensor<512x1024xf16, #[[MATRIX]]>, tensor<1x1xf16, #[[SCALAR]]>)
// CHECK-NEXT:    return
func.func @elementwise_ops_broadcast_a_fill(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %two = spyre.fill 2.0 : f16 -> tensor<512x1024xf16>
  %sum = spyre.pointwise add(%x, %two) : tensor<512x1024xf16>
  return %sum : tensor<512x1024xf16>
}

// A fill of full size that is used through other indices cannot be tiled, so it is placed before the group.
// CHECK-LABEL: func.func @fills_of_full_size_leave_a_hinted_group(
// CHECK-SAME:    [[X:%.+]]: tensor<512x1024xf16, #[[MATRIX]]>)
// CHECK-NEXT:    spyre.constant
// CHECK-NEXT:    spyre.view
// CHECK-NEXT:    [[ZERO:%.+]] = spyre.copy {{%.+}} : tensor<512x1024xf16> -> tensor<512x1024xf16, #[[MATRIX]]>
// CHECK-NEXT:    spyre.pointwise exp([[X]]) {hints =
// CHECK-NEXT:    spyre.reduce sum([[ZERO]]) dims [0] {hints =
func.func @fills_of_full_size_leave_a_hinted_group(%x: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<1x1024xf16>) {
  %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<512x1024xf16>
  %zero = spyre.fill 0.0 : f16 {hints = [#spyre.tile_hint<0, A = 2>]} -> tensor<512x1024xf16>
  %sum = spyre.reduce sum(%zero) dims [0] {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<512x1024xf16> -> tensor<1x1024xf16>
  return %exp, %sum : tensor<512x1024xf16>, tensor<1x1024xf16>
}

// CHECK-LABEL: func.func @vectors_have_no_rows(
// CHECK:         spyre.pointwise exp({{%.+}}) : tensor<1024xf16, #[[VECTOR]]>
func.func @vectors_have_no_rows(%x: tensor<1024xf16>) -> tensor<1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<1024xf16>
  return %exp : tensor<1024xf16>
}

// CHECK-LABEL: func.func @constants_are_row_major(
// CHECK:         spyre.constant dense<1.000000e+00> : tensor<1x1xf16> -> tensor<1x1xf16, #
func.func @constants_are_row_major(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %one = spyre.constant dense<1.0> : tensor<1x1xf16>
  %sum = spyre.pointwise add(%x, %one) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// The result of a select has the format of the values, not of the condition.
// CHECK-LABEL: func.func @a_choice_has_the_format_of_its_values(
// CHECK:         spyre.pointwise where3({{.+}}) -> tensor<128x256xf32, #[[F32_ROWS]]>
func.func @a_choice_has_the_format_of_its_values(%condition: tensor<128x256xi1>, %x: tensor<128x256xf32>, %y: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %choice = spyre.pointwise where3(%condition, %x, %y) : (tensor<128x256xi1>, tensor<128x256xf32>, tensor<128x256xf32>) -> tensor<128x256xf32>
  return %choice : tensor<128x256xf32>
}
