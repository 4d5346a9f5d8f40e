// RUN: spyre-opt --spyre-propagate-layouts --mlir-print-local-scope %s | FileCheck %s

// Dropping the reduced dimension of size 1 keeps the buffer.
// CHECK-LABEL: func.func @a_dropped_dimension_of_size_1_is_no_copy(
// CHECK:         [[SUM:%.+]] = spyre.reduce sum({{.+}}) dims [1]
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.view [[SUM]] by {{.+}} -> tensor<64xf16, #spyre.layout<[1, 64, 64], [-1, 1, -1]>>
// CHECK-NEXT:    return [[ROWS]]
func.func @a_dropped_dimension_of_size_1_is_no_copy(%x: tensor<64x256xf16>) -> tensor<64xf16> {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
  %rows = spyre.view %sum by affine_map<(d0) -> (d0, 0)> : tensor<64x1xf16> -> tensor<64xf16>
  return %rows : tensor<64xf16>
}

// CHECK-LABEL: func.func @a_returned_argument_is_copied(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16, #[[ROWS:.+]]>)
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]]
// CHECK-NEXT:    return [[COPY]]
func.func @a_returned_argument_is_copied(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// CHECK-LABEL: func.func @what_is_returned_twice_is_copied_once(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]]
// CHECK-NEXT:    return [[EXP]], [[COPY]]
func.func @what_is_returned_twice_is_copied_once(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  return %exp, %exp : tensor<8x64xf16>, tensor<8x64xf16>
}

// The copy has the stick dimension of its operand: dimension 0 of the result.
// CHECK-LABEL: func.func @a_permuted_result_is_copied(
// CHECK:         [[TRANSPOSED:%.+]] = spyre.view
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[TRANSPOSED]] : {{.+}} -> tensor<64x8xf16, #spyre.layout<[1, 8, 64], [512, 1, 8]>>
// CHECK-NEXT:    return [[COPY]]
func.func @a_permuted_result_is_copied(%x: tensor<8x64xf16>) -> tensor<64x8xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  %transposed = spyre.view %exp by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
  return %transposed : tensor<64x8xf16>
}

// CHECK-LABEL: func.func @a_returned_constant_is_copied(
// CHECK:         [[ONE:%.+]] = spyre.constant
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[ONE]]
// CHECK-NEXT:    return [[COPY]]
func.func @a_returned_constant_is_copied() -> tensor<8x64xf16> {
  %one = spyre.constant dense<1.0> : tensor<8x64xf16>
  return %one : tensor<8x64xf16>
}

// The result has the table's columns in its sticks; the index tensor is row-major, whatever the result is.
// CHECK-LABEL: func.func @a_gather_keeps_the_stick_of_its_table(
// CHECK-NEXT:    spyre.gather({{.+}}tensor<3x192xi64, #spyre.layout<[6, 3, 32], [32, 192, 1]>>) -> tensor<3x192x256xf16, #spyre.layout<[192, 4, 3, 64], [256, 64, 49152, 1]>>
#table = #spyre.layout<[128, 4, 64], [256, 64, 1]>
func.func @a_gather_keeps_the_stick_of_its_table(%x: tensor<128x256xf16, #table>, %index: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16, #table>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  return %rows : tensor<3x192x256xf16>
}

// CHECK-LABEL: func.func @a_gather_keeps_the_stick_wherever_it_is(
// CHECK-NEXT:    spyre.gather({{.+}} -> tensor<16x128x256xf16, #spyre.layout<[256, 2, 16, 64], [1, 16384, 32768, 256]>>
#stick_first = #spyre.layout<[512, 2, 256, 64], [256, 8388608, 1, 131072]>
func.func @a_gather_keeps_the_stick_wherever_it_is(%x: tensor<128x512x256xf16, #stick_first>, %index: tensor<16xi64>) -> tensor<16x128x256xf16> {
  %rows = spyre.gather(%x, %index) dim 1 : (tensor<128x512x256xf16, #stick_first>, tensor<16xi64>) -> tensor<16x128x256xf16>
  return %rows : tensor<16x128x256xf16>
}

// A buffer that is written in slices is returned without a copy, also without a dimension of size 1.
// CHECK-LABEL: func.func @parts_of_a_result(
// CHECK:         [[BUFFER:%.+]] = spyre.empty : tensor<1x128xf16, #[[ROW:.+]]>
// CHECK-NEXT:    [[LEFT:%.+]] = spyre.insert {{%.+}} into [[BUFFER]] at [0, 0] : {{.+}} into tensor<1x128xf16, #[[ROW]]>
// CHECK-NEXT:    [[WHOLE:%.+]] = spyre.insert {{%.+}} into [[LEFT]] at [0, 64] : {{.+}} into tensor<1x128xf16, #[[ROW]]>
// CHECK-NEXT:    [[SHOWN:%.+]] = spyre.view [[WHOLE]]
// CHECK-NEXT:    return [[SHOWN]] :
func.func @parts_of_a_result(%x: tensor<1x64xf16>) -> tensor<128xf16> {
  %buffer = spyre.empty : tensor<1x128xf16>
  %left = spyre.insert %x into %buffer at [0, 0] : tensor<1x64xf16> into tensor<1x128xf16>
  %whole = spyre.insert %x into %left at [0, 64] : tensor<1x64xf16> into tensor<1x128xf16>
  %shown = spyre.view %whole by affine_map<(d0) -> (0, d0)> : tensor<1x128xf16> -> tensor<128xf16>
  return %shown : tensor<128xf16>
}

// CHECK-LABEL: func.func @parts_returned_twice(
// CHECK:         [[WHOLE:%.+]] = spyre.insert
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[WHOLE]]
// CHECK-NEXT:    return [[WHOLE]], [[COPY]]
func.func @parts_returned_twice(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %buffer = spyre.empty : tensor<8x64xf16>
  %whole = spyre.insert %x into %buffer at [0, 0] : tensor<8x64xf16> into tensor<8x64xf16>
  return %whole, %whole : tensor<8x64xf16>, tensor<8x64xf16>
}

// A value that is returned with merged dimensions has no padding between its elements: its sticks are full, or hold one element each.
// CHECK-LABEL: func.func @full_sticks_are_returned_flat(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) : tensor<8x128xf16, #spyre.layout<[2, 8, 64], [64, 128, 1]>>
// CHECK-NEXT:    [[FLAT:%.+]] = spyre.view [[EXP]] by {{.+}} -> tensor<1024xf16, #spyre.layout<[2, 8, 64], [64, 128, 1]>>
// CHECK-NEXT:    return [[FLAT]]
func.func @full_sticks_are_returned_flat(%x: tensor<8x128xf16>) -> tensor<1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x128xf16>
  %flat = spyre.view %exp by affine_map<(d0) -> (d0 floordiv 128, d0 mod 128)> : tensor<8x128xf16> -> tensor<1024xf16>
  return %flat : tensor<1024xf16>
}

// CHECK-LABEL: func.func @ragged_sticks_are_not_returned_flat(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{.+}}) : tensor<8x100xf16, #spyre.layout<[100, 1, 8, 64], [1, -1, 100, -1]>>
// CHECK-NEXT:    [[FLAT:%.+]] = spyre.view [[EXP]] by {{.+}} -> tensor<800xf16, #spyre.layout<[100, 1, 8, 64], [1, -1, 100, -1]>>
// CHECK-NEXT:    return [[FLAT]]
func.func @ragged_sticks_are_not_returned_flat(%x: tensor<8x100xf16>) -> tensor<800xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x100xf16>
  %flat = spyre.view %exp by affine_map<(d0) -> (d0 floordiv 100, d0 mod 100)> : tensor<8x100xf16> -> tensor<800xf16>
  return %flat : tensor<800xf16>
}

// The layout of a buffer that is written in slices suits its slices and its users.
// CHECK-LABEL: func.func @parts(
// CHECK:         [[BUFFER:%.+]] = spyre.empty : tensor<512x128xf16, #spyre.layout<[8, 128, 64], [8192, 1, 128]>>
// CHECK-NEXT:    spyre.insert {{%.+}} into [[BUFFER]] at [0, 64] : {{.+}} into tensor<512x128xf16, #spyre.layout<[8, 128, 64], [8192, 1, 128]>>
#part = #spyre.layout<[8, 64, 64], [4096, 1, 64]>
func.func @parts(%x: tensor<512x64xf16, #part>) -> tensor<512x128xf16> {
  %buffer = spyre.empty : tensor<512x128xf16>
  %0 = spyre.insert %x into %buffer at [0, 64] : tensor<512x64xf16, #part> into tensor<512x128xf16>
  return %0 : tensor<512x128xf16>
}

// If its type has a layout, the slices do not matter.
// CHECK-LABEL: func.func @parts_of_a_given_layout(
// CHECK:         [[BUFFER:%.+]] = spyre.empty : tensor<512x128xf16, #spyre.layout<[2, 512, 64], [64, 128, 1]>>
// CHECK-NEXT:    spyre.insert {{%.+}} into [[BUFFER]] at [0, 64] : {{.+}} into tensor<512x128xf16, #spyre.layout<[2, 512, 64], [64, 128, 1]>>
#whole = #spyre.layout<[2, 512, 64], [64, 128, 1]>
func.func @parts_of_a_given_layout(%x: tensor<512x64xf16, #part>) -> tensor<512x128xf16, #whole> {
  %buffer = spyre.empty : tensor<512x128xf16, #whole>
  %0 = spyre.insert %x into %buffer at [0, 64] : tensor<512x64xf16, #part> into tensor<512x128xf16, #whole>
  return %0 : tensor<512x128xf16, #whole>
}
