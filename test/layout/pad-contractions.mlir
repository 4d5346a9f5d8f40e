// RUN: spyre-opt --spyre-pad-contractions %s | FileCheck %s

// CHECK-LABEL: func.func @whole_sticks_need_no_padding(
// CHECK-SAME:    [[X:%.+]]: tensor<8x128xf16, #{{.+}}>, [[Y:%.+]]: tensor<128x100xf16, #{{.+}}>)
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

// Only contractions read past the end of a dimension: a sum may end inside a stick.
// CHECK-LABEL: func.func @other_reductions_may_end_inside_a_stick(
// CHECK:         spyre.reduce sum(
func.func @other_reductions_may_end_inside_a_stick(%x: tensor<8x100xf16>) -> tensor<8x1xf16> {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<8x100xf16> -> tensor<8x1xf16>
  return %sum : tensor<8x1xf16>
}
