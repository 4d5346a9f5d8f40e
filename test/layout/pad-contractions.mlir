// RUN: spyre-opt --spyre-pad-contractions --mlir-print-local-scope %s | FileCheck %s

// CHECK-LABEL: func.func @whole_sticks_need_no_padding(
// CHECK-SAME:    [[X:%.+]]: tensor<8x128xf16>, [[Y:%.+]]: tensor<128x100xf16>)
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[Y]])
// CHECK-NEXT:    return [[PRODUCT]]
func.func @whole_sticks_need_no_padding(%x: tensor<8x128xf16>, %y: tensor<128x100xf16>) -> tensor<8x100xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<8x128xf16>, tensor<128x100xf16>) -> tensor<8x100xf16>
  return %product : tensor<8x100xf16>
}

// A stick of f32 is 32 elements.
// CHECK-LABEL: func.func @the_stick_is_that_of_the_element_type(
// CHECK:         spyre.matmul(
func.func @the_stick_is_that_of_the_element_type(%x: tensor<8x32xf32>, %y: tensor<32x64xf32>) -> tensor<8x64xf32> {
  %product = spyre.matmul(%x, %y) : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  return %product : tensor<8x64xf32>
}

// Only contractions read beyond the end of a dimension: a sum may end inside a stick.
// CHECK-LABEL: func.func @other_reductions_may_end_inside_a_stick(
// CHECK:         spyre.reduce sum(
func.func @other_reductions_may_end_inside_a_stick(%x: tensor<8x100xf16>) -> tensor<8x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<8x100xf16> -> tensor<8x1xf16>
  return %sum : tensor<8x1xf16>
}

// The rows of the right operand beyond K are zero. The left operand is unchanged: the hardware clears the lanes beyond K.
// CHECK-LABEL: func.func @k_that_ends_inside_a_stick(
// CHECK-SAME:    [[X:%.+]]: tensor<8x100xf16>, [[Y:%.+]]: tensor<100x64xf16>)
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<128x64xf16>
// CHECK-NEXT:    [[PART:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d0, d1)>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.insert [[PART]] into [[BUFFER]] at [0, 0] : tensor<100x64xf16> into tensor<128x64xf16>
// CHECK-NEXT:    [[ZERO:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ZEROS:%.+]] = spyre.view [[ZERO]] by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<28x64xf16>
// CHECK-NEXT:    [[WHOLE:%.+]] = spyre.insert [[ZEROS]] into [[ROWS]] at [100, 0] : tensor<28x64xf16> into tensor<128x64xf16>
// CHECK-NEXT:    [[SHOWN:%.+]] = spyre.view [[WHOLE]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<128x64xf16> -> tensor<100x64xf16>
// CHECK-NEXT:    spyre.matmul([[X]], [[SHOWN]])
func.func @k_that_ends_inside_a_stick(%x: tensor<8x100xf16>, %y: tensor<100x64xf16>) -> tensor<8x64xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<8x100xf16>, tensor<100x64xf16>) -> tensor<8x64xf16>
  return %product : tensor<8x64xf16>
}

// CHECK-LABEL: func.func @f32_needs_half_of_it(
// CHECK-NEXT:    spyre.empty : tensor<64x64xf32>
func.func @f32_needs_half_of_it(%x: tensor<8x33xf32>, %y: tensor<33x64xf32>) -> tensor<8x64xf32> {
  %product = spyre.matmul(%x, %y) : (tensor<8x33xf32>, tensor<33x64xf32>) -> tensor<8x64xf32>
  return %product : tensor<8x64xf32>
}

// Batch dimensions are kept.
// CHECK-LABEL: func.func @batches(
// CHECK-NEXT:    spyre.empty : tensor<3x64x64xf16>
// CHECK:         spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<3x64x64xf16> -> tensor<3x33x64xf16>
func.func @batches(%x: tensor<3x8x33xf16>, %y: tensor<3x33x64xf16>) -> tensor<3x8x64xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<3x8x33xf16>, tensor<3x33x64xf16>) -> tensor<3x8x64xf16>
  return %product : tensor<3x8x64xf16>
}

// Four queries share each of two heads: the heads are padded once, and repeated by a view.
// CHECK-LABEL: func.func @shared_heads_are_padded_once(
// CHECK:         [[BUFFER:%.+]] = spyre.empty : tensor<2x64x64xf16>
// CHECK:         spyre.insert {{%.+}} into [[BUFFER]] at [0, 0, 0] : tensor<2x33x64xf16> into
// CHECK:         [[WHOLE:%.+]] = spyre.insert {{%.+}} at [0, 33, 0] : tensor<2x31x64xf16> into
// CHECK-NEXT:    spyre.view [[WHOLE]] by affine_map<(d0, d1, d2) -> (d0 floordiv 4, d1, d2)> : tensor<2x64x64xf16> -> tensor<8x33x64xf16>
func.func @shared_heads_are_padded_once(%x: tensor<8x16x33xf16>, %y: tensor<2x33x64xf16>) -> tensor<8x16x64xf16> {
  %heads = spyre.view %y by affine_map<(d0, d1, d2) -> (d0 floordiv 4, d1, d2)> : tensor<2x33x64xf16> -> tensor<8x33x64xf16>
  %product = spyre.matmul(%x, %heads) : (tensor<8x16x33xf16>, tensor<8x33x64xf16>) -> tensor<8x16x64xf16>
  return %product : tensor<8x16x64xf16>
}

// An operand of two contractions is padded once.
// CHECK-LABEL: func.func @two_read_it(
// CHECK:         [[WHOLE:%.+]] = spyre.insert {{%.+}} into {{%.+}} at [100, 0]
// CHECK-NEXT:    [[SHOWN:%.+]] = spyre.view [[WHOLE]]
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.matmul({{%.+}}, [[SHOWN]])
// CHECK-NEXT:    [[AGAIN:%.+]] = spyre.view [[WHOLE]]
// CHECK-NEXT:    spyre.matmul({{%.+}}, [[AGAIN]])
// CHECK-NOT:     spyre.insert
func.func @two_read_it(%x: tensor<8x100xf16>, %z: tensor<16x100xf16>, %y: tensor<100x64xf16>) -> (tensor<8x64xf16>, tensor<16x64xf16>) {
  %first = spyre.matmul(%x, %y) : (tensor<8x100xf16>, tensor<100x64xf16>) -> tensor<8x64xf16>
  %second = spyre.matmul(%z, %y) : (tensor<16x100xf16>, tensor<100x64xf16>) -> tensor<16x64xf16>
  return %first, %second : tensor<8x64xf16>, tensor<16x64xf16>
}

// A hint scope has its own padded buffer: its operands are defined before it or in it.
// CHECK-LABEL: func.func @one_is_in_a_scope(
// CHECK:         spyre.hint
// CHECK:           spyre.insert {{%.+}} into {{%.+}} at [100, 0]
// CHECK:           spyre.yield
// CHECK:         spyre.insert {{%.+}} into {{%.+}} at [100, 0]
func.func @one_is_in_a_scope(%x: tensor<8x100xf16>, %z: tensor<16x100xf16>, %y: tensor<100x64xf16>) -> (tensor<8x64xf16>, tensor<16x64xf16>) {
  %first = spyre.hint tiles(rows = 2) {
    %product = spyre.matmul(%x, %y) {dims = ["rows", "", ""]} : (tensor<8x100xf16>, tensor<100x64xf16>) -> tensor<8x64xf16>
    spyre.yield %product : tensor<8x64xf16>
  }
  %second = spyre.matmul(%z, %y) : (tensor<16x100xf16>, tensor<100x64xf16>) -> tensor<16x64xf16>
  return %first, %second : tensor<8x64xf16>, tensor<16x64xf16>
}

// Views that no padded buffer has are copied first.
// CHECK-LABEL: func.func @slice_of_rows(
// CHECK-SAME:    [[X:%.+]]: tensor<4x39xf16>, [[Y:%.+]]: tensor<5x43xf16>
// CHECK:         [[SHOWN:%.+]] = spyre.view [[Y]]
// CHECK:         [[COPY:%.+]] = spyre.copy [[SHOWN]] : tensor<39x5xf16>
// CHECK:         [[PART:%.+]] = spyre.view [[COPY]]
// CHECK:         spyre.insert [[PART]] into {{%.+}} at [0, 0]
func.func @slice_of_rows(%x: tensor<4x39xf16>, %y: tensor<5x43xf16>) -> tensor<4x5xf16> {
  %view = spyre.view %y by affine_map<(d0, d1) -> (d1, d0 floordiv 3 + (d0 mod 3) * 13 + 1)> : tensor<5x43xf16> -> tensor<39x5xf16>
  %product = spyre.matmul(%x, %view) : (tensor<4x39xf16>, tensor<39x5xf16>) -> tensor<4x5xf16>
  return %product : tensor<4x5xf16>
}
