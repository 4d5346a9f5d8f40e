// RUN: spyre-opt --split-input-file --spyre-import-linalg --mlir-print-local-scope %s | FileCheck %s

// Every scalar operation of one operand that the device has.
// CHECK-LABEL: func.func @unary_functions(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[ABS:%.+]] = spyre.pointwise abs([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[ABS]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[FLOOR:%.+]] = spyre.pointwise floor([[EXP]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[LOG:%.+]] = spyre.pointwise log([[FLOOR]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[LOG]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[RSQRT:%.+]] = spyre.pointwise rsqrt([[NEG]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SQRT:%.+]] = spyre.pointwise sqrt([[RSQRT]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[TANH:%.+]] = spyre.pointwise tanh([[SQRT]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[TANH]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @unary_functions(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %abs = math.absf %in : f16
    %exp = math.exp %abs : f16
    %floor = math.floor %exp : f16
    %log = math.log %floor : f16
    %neg = arith.negf %log : f16
    %rsqrt = math.rsqrt %neg : f16
    %sqrt = math.sqrt %rsqrt : f16
    %tanh = math.tanh %sqrt : f16
    linalg.yield %tanh : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

// Every scalar operation of two operands; which of them comes first is kept.
// CHECK-LABEL: func.func @binary_functions(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[X]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[Y]], [[ADD]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[SUB]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[DIV:%.+]] = spyre.pointwise realdiv([[X]], [[MUL]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.pointwise maximum([[DIV]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[LARGER:%.+]] = spyre.pointwise greaterequal([[X]], [[MAX]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[CHOSEN:%.+]] = spyre.pointwise where3([[LARGER]], [[X]], [[MAX]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.pointwise equal([[MAX]], [[MAX]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MAXNUM:%.+]] = spyre.pointwise where3([[NUMBER]], [[CHOSEN]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MIN:%.+]] = spyre.pointwise minimum([[MAXNUM]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SMALLER:%.+]] = spyre.pointwise lesserequal([[Y]], [[MIN]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[CHOSEN:%.+]] = spyre.pointwise where3([[SMALLER]], [[Y]], [[MIN]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.pointwise equal([[MIN]], [[MIN]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[MINNUM:%.+]] = spyre.pointwise where3([[NUMBER]], [[CHOSEN]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[MINNUM]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @binary_functions(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %add = arith.addf %a, %b : f16
    %sub = arith.subf %b, %add : f16
    %mul = arith.mulf %sub, %a : f16
    %div = arith.divf %a, %mul : f16
    %max = arith.maximumf %div, %b : f16
    %maxnum = arith.maxnumf %a, %max : f16
    %min = arith.minimumf %maxnum, %b : f16
    %minnum = arith.minnumf %b, %min : f16
    linalg.yield %minnum : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

// An operand of lower rank is viewed with size 1 in the missing dimensions.
// CHECK-LABEL: func.func @lower_rank_operands_are_broadcast(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x64xf16>, [[BIAS:%.+]]: tensor<64xf16>, [[SCALE:%.+]]: tensor<8xf16>) -> tensor<4x8x64xf16> {
// CHECK-NEXT:    [[BIAS_VIEW:%.+]] = spyre.view [[BIAS]] by affine_map<(d0, d1, d2) -> (d2)> : tensor<64xf16> -> tensor<1x1x64xf16>
// CHECK-NEXT:    [[BIASED:%.+]] = spyre.pointwise add([[X]], [[BIAS_VIEW]]) : (tensor<4x8x64xf16>, tensor<1x1x64xf16>) -> tensor<4x8x64xf16>
// CHECK-NEXT:    [[SCALE_VIEW:%.+]] = spyre.view [[SCALE]] by affine_map<(d0, d1, d2) -> (d1)> : tensor<8xf16> -> tensor<1x8x1xf16>
// CHECK-NEXT:    [[SCALED:%.+]] = spyre.pointwise mul([[BIASED]], [[SCALE_VIEW]]) : (tensor<4x8x64xf16>, tensor<1x8x1xf16>) -> tensor<4x8x64xf16>
// CHECK-NEXT:    return [[SCALED]]
#same = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>
#middle = affine_map<(d0, d1, d2) -> (d1)>
func.func @lower_rank_operands_are_broadcast(%x: tensor<4x8x64xf16>, %bias: tensor<64xf16>, %scale: tensor<8xf16>) -> tensor<4x8x64xf16> {
  %shape = tensor.empty() : tensor<4x8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #last, #middle, #same], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %bias, %scale : tensor<4x8x64xf16>, tensor<64xf16>, tensor<8xf16>) outs(%shape : tensor<4x8x64xf16>) {
  ^bb0(%in: f16, %b: f16, %s: f16, %out: f16):
    %biased = arith.addf %in, %b : f16
    %scaled = arith.mulf %biased, %s : f16
    linalg.yield %scaled : f16
  } -> tensor<4x8x64xf16>
  return %result : tensor<4x8x64xf16>
}

// -----

// torch-mlir keeps dimensions of size 1 and reads them at index 0; such a view is the identity.
// CHECK-LABEL: func.func @kept_unit_dims_are_broadcast(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[COLUMN:%.+]]: tensor<8x1xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[COLUMN]] by affine_map<(d0, d1) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[SHIFTED:%.+]] = spyre.pointwise sub([[X]], [[VIEW]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[SHIFTED]]
#same = affine_map<(d0, d1) -> (d0, d1)>
#kept_row = affine_map<(d0, d1) -> (d0, 0)>
func.func @kept_unit_dims_are_broadcast(%x: tensor<8x64xf16>, %column: tensor<8x1xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #kept_row, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %column : tensor<8x64xf16>, tensor<8x1xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %c: f16, %out: f16):
    %difference = arith.subf %in, %c : f16
    linalg.yield %difference : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @transposed_operands_are_views(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<64x8xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[TRANSPOSED:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x8xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add([[X]], [[TRANSPOSED]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SUM]]
#same = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @transposed_operands_are_views(%x: tensor<8x64xf16>, %y: tensor<64x8xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #transposed, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x64xf16>, tensor<64x8xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %sum = arith.addf %a, %b : f16
    linalg.yield %sum : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

// The op runs over the iterators; the view gives its result the order of the written tensor. The cycle of three dimensions
// is not its own inverse.
// CHECK-LABEL: func.func @transposed_results_are_views(
// CHECK-SAME:    [[X:%.+]]: tensor<2x3x4xf16>) -> tensor<3x4x2xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<2x3x4xf16>
// CHECK-NEXT:    [[CYCLED:%.+]] = spyre.view [[EXP]] by affine_map<(d0, d1, d2) -> (d2, d0, d1)> : tensor<2x3x4xf16> -> tensor<3x4x2xf16>
// CHECK-NEXT:    return [[CYCLED]] : tensor<3x4x2xf16>
#same = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#cycled = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
func.func @transposed_results_are_views(%x: tensor<2x3x4xf16>) -> tensor<3x4x2xf16> {
  %shape = tensor.empty() : tensor<3x4x2xf16>
  %result = linalg.generic {indexing_maps = [#same, #cycled], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x3x4xf16>) outs(%shape : tensor<3x4x2xf16>) {
  ^bb0(%in: f16, %out: f16):
    %exp = math.exp %in : f16
    linalg.yield %exp : f16
  } -> tensor<3x4x2xf16>
  return %result : tensor<3x4x2xf16>
}

// -----

// If the result does not depend on a dimension, it is computed once and broadcast by a view.
// CHECK-LABEL: func.func @small_results_are_repeated_by_a_view(
// CHECK-SAME:    [[BIAS:%.+]]: tensor<64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[ROW:%.+]] = spyre.view [[BIAS]] by affine_map<(d0, d1) -> (d1)> : tensor<64xf16> -> tensor<1x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[ROW]]) : tensor<1x64xf16>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.view [[EXP]] by affine_map<(d0, d1) -> (0, d1)> : tensor<1x64xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    return [[ROWS]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @small_results_are_repeated_by_a_view(%bias: tensor<64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#column, #same], iterator_types = ["parallel", "parallel"]} ins(%bias : tensor<64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %exp = math.exp %in : f16
    linalg.yield %exp : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

// x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1, max(x, -inf), min(inf, x) are x, whether the number is a scalar, the element of a
// constant tensor or inside the body.
// CHECK-LABEL: func.func @neutral_numbers_vanish(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[EXP]]
#same = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>
func.func @neutral_numbers_vanish(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %lowest = arith.constant dense<0xFC00> : tensor<8x64xf16>
  %highest = arith.constant dense<0x7C00> : tensor<f16>
  %one = arith.constant 1.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #same, #scalar, #scalar, #same], iterator_types = ["parallel", "parallel"]}
    ins(%x, %lowest, %highest, %one : tensor<8x64xf16>, tensor<8x64xf16>, tensor<f16>, f16) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %low: f16, %high: f16, %unit: f16, %out: f16):
    %zero = arith.constant 0.0 : f16
    %plus = arith.addf %in, %zero : f16
    %plus_left = arith.addf %zero, %plus : f16
    %minus = arith.subf %plus_left, %zero : f16
    %times = arith.mulf %minus, %one : f16
    %times_left = arith.mulf %unit, %times : f16
    %over = arith.divf %times_left, %unit : f16
    %max = arith.maximumf %over, %low : f16
    %min = arith.minimumf %high, %max : f16
    %exp = math.exp %min : f16
    linalg.yield %exp : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

// An elementwise op may read what it overwrites if that is a known number.
// CHECK-LABEL: func.func @overwritten_numbers_are_known(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    return [[X]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @overwritten_numbers_are_known(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zeros = arith.constant dense<0.0> : tensor<8x64xf16>
  %sum = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%zeros : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %plus = arith.addf %in, %out : f16
    linalg.yield %plus : f16
  } -> tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @each_result_is_what_stands_in_its_place(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add([[X]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.pointwise mul([[X]], [[Y]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[PRODUCT]], [[SUM]] : tensor<8x64xf16>, tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @each_result_is_what_stands_in_its_place(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %shape = tensor.empty() : tensor<8x64xf16>
  %both:2 = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape, %shape : tensor<8x64xf16>, tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out0: f16, %out1: f16):
    %product = arith.mulf %a, %b : f16
    %sum = arith.addf %a, %b : f16
    linalg.yield %sum, %product : f16, f16
  } -> (tensor<8x64xf16>, tensor<8x64xf16>)
  return %both#1, %both#0 : tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// A scalar that is used twice is computed once. n doublings are n ops.
// CHECK-LABEL: func.func @shared_scalars_are_computed_once(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[TWO:%.+]] = spyre.pointwise add([[X]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[FOUR:%.+]] = spyre.pointwise add([[TWO]], [[TWO]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[EIGHT:%.+]] = spyre.pointwise add([[FOUR]], [[FOUR]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[EIGHT]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @shared_scalars_are_computed_once(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %two = arith.addf %in, %in : f16
    %four = arith.addf %two, %two : f16
    %eight = arith.addf %four, %four : f16
    linalg.yield %eight : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

// Two results share what they have in common, and one view of an input.
// CHECK-LABEL: func.func @results_share_scalars(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[BIAS:%.+]]: tensor<64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[ROW:%.+]] = spyre.view [[BIAS]] by affine_map<(d0, d1) -> (d1)> : tensor<64xf16> -> tensor<1x64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add([[X]], [[ROW]]) : (tensor<8x64xf16>, tensor<1x64xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.pointwise mul([[SUM]], [[ROW]]) : (tensor<8x64xf16>, tensor<1x64xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[SUM]], [[PRODUCT]]
#same = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>
func.func @results_share_scalars(%x: tensor<8x64xf16>, %bias: tensor<64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %shape = tensor.empty() : tensor<8x64xf16>
  %both:2 = linalg.generic {indexing_maps = [#same, #last, #same, #same], iterator_types = ["parallel", "parallel"]}
    ins(%x, %bias : tensor<8x64xf16>, tensor<64xf16>) outs(%shape, %shape : tensor<8x64xf16>, tensor<8x64xf16>) {
  ^bb0(%in: f16, %b: f16, %out0: f16, %out1: f16):
    %sum = arith.addf %in, %b : f16
    %product = arith.mulf %sum, %b : f16
    linalg.yield %sum, %product : f16, f16
  } -> (tensor<8x64xf16>, tensor<8x64xf16>)
  return %both#0, %both#1 : tensor<8x64xf16>, tensor<8x64xf16>
}
