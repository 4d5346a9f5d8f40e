// RUN: spyre-opt --spyre-copy-aliased-results --mlir-print-local-scope %s | FileCheck %s

#rows = #spyre.layout<[1, 8, 64], [64, 64, 1]>

// CHECK-LABEL: func.func @results_of_their_own_stay(
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]]
// CHECK-NEXT:    return [[EXP]], [[COPY]]
func.func @results_of_their_own_stay(%x: tensor<8x64xf16, #rows>) -> (tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>) {
  %exp = spyre.pointwise exp(%x) : (tensor<8x64xf16, #rows>) -> tensor<8x64xf16, #rows>
  %copy = spyre.copy %exp : tensor<8x64xf16, #rows> -> tensor<8x64xf16, #rows>
  return %exp, %copy : tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>
}

// CHECK-LABEL: func.func @a_result_returned_again_is_copied(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:    [[SECOND:%.+]] = spyre.copy [[EXP]]
// CHECK-NEXT:    [[THIRD:%.+]] = spyre.copy [[EXP]]
// CHECK-NEXT:    return [[EXP]], [[SECOND]], [[THIRD]]
func.func @a_result_returned_again_is_copied(%x: tensor<8x64xf16, #rows>)
    -> (tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>) {
  %exp = spyre.pointwise exp(%x) : (tensor<8x64xf16, #rows>) -> tensor<8x64xf16, #rows>
  return %exp, %exp, %exp : tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>
}

// CHECK-LABEL: func.func @a_view_of_a_result_is_copied(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:    [[FLAT:%.+]] = spyre.view [[EXP]]
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[FLAT]] : [[TYPE:tensor<512xf16, .+>]] -> [[TYPE]]{{$}}
// CHECK-NEXT:    return [[EXP]], [[COPY]]
func.func @a_view_of_a_result_is_copied(%x: tensor<8x64xf16, #rows>) -> (tensor<8x64xf16, #rows>, tensor<512xf16, #rows>) {
  %exp = spyre.pointwise exp(%x) : (tensor<8x64xf16, #rows>) -> tensor<8x64xf16, #rows>
  %flat = spyre.view %exp by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16, #rows> -> tensor<512xf16, #rows>
  return %exp, %flat : tensor<8x64xf16, #rows>, tensor<512xf16, #rows>
}

// CHECK-LABEL: func.func @arguments_and_constants_are_copied(
// CHECK-SAME:    [[X:%.+]]: tensor
// CHECK:         [[ONE:%.+]] = spyre.constant
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.copy [[X]]
// CHECK-NEXT:    [[SECOND:%.+]] = spyre.copy [[ONE]]
// CHECK-NEXT:    return [[FIRST]], [[SECOND]]
func.func @arguments_and_constants_are_copied(%x: tensor<8x64xf16, #rows>) -> (tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>) {
  %one = spyre.constant dense<1.0> : tensor<8x64xf16, #rows>
  return %x, %one : tensor<8x64xf16, #rows>, tensor<8x64xf16, #rows>
}
