// RUN: spyre-opt --spyre-select-program %s | FileCheck %s

// Outermost dimensions beyond those that a layout holds are one; the caller's shape is an attribute.

// CHECK:      func.func @main([[X:%.+]]: tensor<12x3x2x3x2x70xf16> {spyre.shape = array<i64: 2, 3, 2, 3, 2, 3, 2, 70>}, {{%.+}}: tensor<2x3x2x3x2x70xf16>)
// CHECK-SAME:   -> (tensor<12x3x2x3x2x70xf16> {spyre.shape = array<i64: 2, 3, 2, 3, 2, 3, 2, 70>}, tensor<2x3x2x3x2x70xf16>) {
// CHECK-NEXT:   [[WHOLE:%.+]] = tensor.expand_shape [[X]] {{\[\[}}0, 1, 2], [3], [4], [5], [6], [7]] output_shape [2, 3, 2, 3, 2, 3, 2, 70]
// CHECK-NEXT:   [[EXP:%.+]] = math.exp [[WHOLE]]
// CHECK-NEXT:   [[MERGED:%.+]] = tensor.collapse_shape [[EXP]] {{\[\[}}0, 1, 2], [3], [4], [5], [6], [7]]
// CHECK-NEXT:   return [[MERGED]]
func.func @main(%x: tensor<2x3x2x3x2x3x2x70xf16>, %y: tensor<2x3x2x3x2x70xf16>) -> (tensor<2x3x2x3x2x3x2x70xf16>, tensor<2x3x2x3x2x70xf16>) {
  %z = math.exp %x : tensor<2x3x2x3x2x3x2x70xf16>
  return %z, %y : tensor<2x3x2x3x2x3x2x70xf16>, tensor<2x3x2x3x2x70xf16>
}
