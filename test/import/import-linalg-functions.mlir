// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// Scalar operations that are several device functions, or another one.
// CHECK-LABEL: func.func @powers(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MUL2:%.+]] = spyre.pointwise mul([[X]], [[MUL]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[RECIPROCAL:%.+]] = spyre.pointwise reciprocal([[MUL2]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SQRT:%.+]] = spyre.pointwise sqrt([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[MUL]], [[RECIPROCAL]], [[SQRT]] : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @powers(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %two = arith.constant 2 : i64
  %minus_three = arith.constant -3.0 : f16
  %halves = arith.constant dense<5.0e-01> : tensor<8x64xf16>
  %shape = tensor.empty() : tensor<8x64xf16>
  %y:3 = linalg.generic {indexing_maps = [#same, #same, #same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %halves : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape, %shape, %shape : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  ^bb0(%in: f16, %half: f16, %out: f16, %out1: f16, %out2: f16):
    %square = math.fpowi %in, %two : f16, i64
    %inverse = math.powf %in, %minus_three : f16
    %root = math.powf %in, %half : f16
    linalg.yield %square, %inverse, %root : f16, f16, f16
  } -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>)
  return %y#0, %y#1, %y#2 : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// ln 2 does not fit f16: it is an f32 constant, and the device's own format holds it.
// CHECK-LABEL: func.func @powers_of_two(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.44269502> : tensor<1x1xf32>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<0.693147182> : tensor<1x1xf32>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[NUMBER2]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<1x1xf32> -> tensor<1x1xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[VIEW]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[MUL]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[LOG:%.+]] = spyre.pointwise log([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[NUMBER]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<1x1xf32> -> tensor<1x1xf16>
// CHECK-NEXT:    [[MUL2:%.+]] = spyre.pointwise mul([[LOG]], [[VIEW2]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[EXP]], [[MUL2]] : tensor<8x64xf16>, tensor<8x64xf16>
func.func @powers_of_two(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %0 = math.exp2 %x : tensor<8x64xf16>
  %1 = math.log2 %x : tensor<8x64xf16>
  return %0, %1 : tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @functions_that_are_several(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[EXP]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[NUMBER]], [[X]]) : (tensor<1x1xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[LOG:%.+]] = spyre.pointwise log([[ADD]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[FLOOR:%.+]] = spyre.pointwise floor([[NEG]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NEG2:%.+]] = spyre.pointwise neg([[FLOOR]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[ADD2:%.+]] = spyre.pointwise add([[MUL]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SUB]], [[LOG]], [[NEG2]], [[ADD2]] : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
func.func @functions_that_are_several(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %0 = math.expm1 %x : tensor<8x64xf16>
  %1 = math.log1p %x : tensor<8x64xf16>
  %2 = math.ceil %x : tensor<8x64xf16>
  %3 = math.fma %x, %x, %x : tensor<8x64xf16>
  return %0, %1, %2, %3 : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// TOSA's reciprocal and rsqrt; a division by a power of two is a product.
// CHECK-LABEL: func.func @reciprocals(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<2.500000e-01> : tensor<1x1xf16>
// CHECK-NEXT:    [[RECIPROCAL:%.+]] = spyre.pointwise reciprocal([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[RSQRT:%.+]] = spyre.pointwise rsqrt([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[RECIPROCAL]], [[RSQRT]], [[MUL]] : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
func.func @reciprocals(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %one = arith.constant dense<1.0> : tensor<8x64xf16>
  %four = arith.constant dense<4.0> : tensor<8x64xf16>
  %0 = arith.divf %one, %x : tensor<8x64xf16>
  %1 = math.rsqrt %x : tensor<8x64xf16>
  %2 = arith.divf %x, %four : tensor<8x64xf16>
  return %0, %1, %2 : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// An error function alone is a polynomial (Abramowitz and Stegun, 7.1.26).
// CHECK-LABEL: func.func @error_function(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK:         [[ABS:%.+]] = spyre.pointwise abs([[X]]) : tensor<8x64xf16>
// CHECK:         [[T:%.+]] = spyre.pointwise reciprocal(
// CHECK-COUNT-4: spyre.pointwise add(
// CHECK:         [[POLYNOMIAL:%.+]] = spyre.pointwise mul({{%.+}}, [[T]]) : tensor<8x64xf16>
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp(
// CHECK-NEXT:    [[TAIL:%.+]] = spyre.pointwise mul([[POLYNOMIAL]], [[EXP]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[ERF:%.+]] = spyre.pointwise sub({{%.+}}, [[TAIL]])
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[ERF]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[POSITIVE:%.+]] = spyre.pointwise greaterequal([[X]],
// CHECK-NEXT:    [[SIGNED:%.+]] = spyre.pointwise where3([[POSITIVE]], [[ERF]], [[NEG]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SIGNED]] : tensor<8x64xf16>
func.func @error_function(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %0 = math.erf %x : tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// -----

// A choice; leaky relu.
// CHECK-LABEL: func.func @choices(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<2.500000e-01> : tensor<1x1xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[NUMBER2]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[GREATERTHAN:%.+]] = spyre.pointwise greaterthan([[X]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[WHERE3:%.+]] = spyre.pointwise where3([[GREATERTHAN]], [[X]], [[MUL]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[WHERE3]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @choices(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant 0.0 : f16
  %slope = arith.constant 0.25 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %scaled = arith.mulf %in, %slope : f16
    %c = arith.cmpf ogt, %in, %zero : f16
    %s = arith.select %c, %in, %scaled : f16
    linalg.yield %s : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// Truth values are numbers 0 and 1; a negation compares with 1.
// CHECK-LABEL: func.func @truth_values(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[LESSERTHAN:%.+]] = spyre.pointwise lesserthan([[X]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[EQUAL:%.+]] = spyre.pointwise equal([[X]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[LESSERTHAN]], [[EQUAL]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MAXIMUM:%.+]] = spyre.pointwise maximum([[MUL]], [[LESSERTHAN]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NOTEQUAL:%.+]] = spyre.pointwise notequal([[MAXIMUM]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[NOTEQUAL]] : tensor<8x64xf16>
func.func @truth_values(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %true = arith.constant dense<true> : tensor<8x64xi1>
  %0 = arith.cmpf olt, %x, %y : tensor<8x64xf16>
  %1 = arith.cmpf oeq, %x, %y : tensor<8x64xf16>
  %2 = arith.andi %0, %1 : tensor<8x64xi1>
  %3 = arith.ori %2, %0 : tensor<8x64xi1>
  %4 = arith.xori %3, %true : tensor<8x64xi1>
  %5 = arith.uitofp %4 : tensor<8x64xi1> to tensor<8x64xf16>
  return %5 : tensor<8x64xf16>
}

// -----

// Masks as arguments and results.
// CHECK-LABEL: func.func @truth_values_from_outside(
// CHECK-SAME:    [[MASK:%.+]]: tensor<8x64xi1>, [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xi1>) {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[MASK]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x64xi1> -> tensor<8x64xf16>
// CHECK-NEXT:    [[WHERE3:%.+]] = spyre.pointwise where3([[VIEW]], [[X]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[LESSEREQUAL:%.+]] = spyre.pointwise lesserequal([[WHERE3]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[VIEW]], [[LESSEREQUAL]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[MUL]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x64xf16> -> tensor<8x64xi1>
// CHECK-NEXT:    return [[WHERE3]], [[VIEW2]] : tensor<8x64xf16>, tensor<8x64xi1>
func.func @truth_values_from_outside(%mask: tensor<8x64xi1>, %x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xi1>) {
  %0 = arith.select %mask, %x, %y : tensor<8x64xi1>, tensor<8x64xf16>
  %1 = arith.cmpf ole, %0, %y : tensor<8x64xf16>
  %2 = arith.andi %mask, %1 : tensor<8x64xi1>
  return %0, %2 : tensor<8x64xf16>, tensor<8x64xi1>
}

// -----

// Whether all, and whether any: a minimum and a maximum.
// CHECK-LABEL: func.func @all_and_any(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8xi1>, tensor<8xi1>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[GREATERTHAN:%.+]] = spyre.pointwise greaterthan([[X]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[MIN:%.+]] = spyre.reduce min([[GREATERTHAN]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[GREATERTHAN]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[MIN]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xi1>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[MAX]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xi1>
// CHECK-NEXT:    return [[VIEW]], [[VIEW2]] : tensor<8xi1>, tensor<8xi1>
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @all_and_any(%x: tensor<8x64xf16>) -> (tensor<8xi1>, tensor<8xi1>) {
  %true = arith.constant dense<true> : tensor<8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  %zero = arith.constant dense<0.0> : tensor<8x64xf16>
  %p = arith.cmpf ogt, %x, %zero : tensor<8x64xf16>
  %all = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x64xi1>) outs(%true : tensor<8xi1>) {
  ^bb0(%in: i1, %out: i1):
    %0 = arith.andi %in, %out : i1
    linalg.yield %0 : i1
  } -> tensor<8xi1>
  %any = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x64xi1>) outs(%false : tensor<8xi1>) {
  ^bb0(%in: i1, %out: i1):
    %0 = arith.ori %in, %out : i1
    linalg.yield %0 : i1
  } -> tensor<8xi1>
  return %all, %any : tensor<8xi1>, tensor<8xi1>
}

// -----

// TOSA's maximum that ignores NaN is guarded on both sides: the device's keeps NaN, so the guards stay.
// CHECK-LABEL: func.func @guards_against_nan(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[MAXIMUM:%.+]] = spyre.pointwise maximum([[X]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NO_X:%.+]] = spyre.pointwise notequal([[X]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NO_Y:%.+]] = spyre.pointwise notequal([[Y]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.pointwise where3([[NO_X]], [[Y]], [[MAXIMUM]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SECOND:%.+]] = spyre.pointwise where3([[NO_Y]], [[X]], [[FIRST]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SECOND]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @guards_against_nan(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %z = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %max = arith.maximumf %a, %b : f16
    %a_is_nan = arith.cmpf uno, %a, %a : f16
    %b_is_nan = arith.cmpf uno, %b, %b : f16
    %first = arith.select %a_is_nan, %b, %max : f16
    %second = arith.select %b_is_nan, %a, %first : f16
    linalg.yield %second : f16
  } -> tensor<8x64xf16>
  return %z : tensor<8x64xf16>
}

// -----

// Another value for NaN is kept.
// CHECK-LABEL: func.func @nan_to_num(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[NOTEQUAL:%.+]] = spyre.pointwise notequal([[X]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[WHERE3:%.+]] = spyre.pointwise where3([[NOTEQUAL]], [[NUMBER]], [[X]]) : (tensor<8x64xf16>, tensor<1x1xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[WHERE3]] : tensor<8x64xf16>
func.func @nan_to_num(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x64xf16>
  %is_nan = arith.cmpf uno, %x, %x : tensor<8x64xf16>
  %0 = arith.select %is_nan, %zero, %x : tensor<8x64xi1>, tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// -----

// A reduction that ignores NaN may start from NaN, as the decomposition of linalg.softmax writes it.
// CHECK-LABEL: func.func @maximum_that_starts_from_nan(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[MAX]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    return [[VIEW]] : tensor<8xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @maximum_that_starts_from_nan(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %nan = arith.constant dense<0x7E00> : tensor<8xf16>
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%nan : tensor<8xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.maxnumf %in, %out : f16
    linalg.yield %0 : f16
  } -> tensor<8xf16>
  return %max : tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[X]], [[MAX]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[SUB]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[EXP]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[EXP]], [[SUM]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[REALDIV]] : tensor<8x64xf16>
func.func @softmax(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}
