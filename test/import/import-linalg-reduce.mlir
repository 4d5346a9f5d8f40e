// RUN: spyre-opt --split-input-file --spyre-import-linalg --mlir-print-local-scope %s | FileCheck %s

// A reduced dimension is kept with size 1; a view drops it if the program does.
// CHECK-LABEL: func.func @rows_are_summed(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[SUM]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    return [[DROPPED]]
func.func @rows_are_summed(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @columns_are_summed(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<64xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [0] : tensor<8x64xf16> -> tensor<1x64xf16>
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[SUM]] by affine_map<(d0) -> (0, d0)> : tensor<1x64xf16> -> tensor<64xf16>
// CHECK-NEXT:    return [[DROPPED]]
func.func @columns_are_summed(%x: tensor<8x64xf16>) -> tensor<64xf16> {
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<64xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %so_far, %in : f16
    linalg.yield %more : f16
  } -> tensor<64xf16>
  return %sum : tensor<64xf16>
}

// -----

// The device reduces along one dimension at a time.
// CHECK-LABEL: func.func @two_dims_are_two_reductions(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[INNER:%.+]] = spyre.reduce sum([[X]]) dims [2] : tensor<4x8x64xf16> -> tensor<4x8x1xf16>
// CHECK-NEXT:    [[OUTER:%.+]] = spyre.reduce sum([[INNER]]) dims [0] : tensor<4x8x1xf16> -> tensor<1x8x1xf16>
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[OUTER]] by affine_map<(d0) -> (0, d0, 0)> : tensor<1x8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    return [[DROPPED]]
func.func @two_dims_are_two_reductions(%x: tensor<4x8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : tensor<4x8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @every_combination_has_its_function(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x64xf16>) -> tensor<1x1x1xf16> {
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [2] : tensor<4x8x64xf16> -> tensor<4x8x1xf16>
// CHECK-NEXT:    [[MAX_VIEW:%.+]] = spyre.view [[MAX]]
// CHECK-NEXT:    [[MIN:%.+]] = spyre.reduce min([[MAX_VIEW]]) dims [1] : tensor<4x8x1xf16> -> tensor<4x1x1xf16>
// CHECK-NEXT:    [[MIN_VIEW:%.+]] = spyre.view [[MIN]]
// CHECK-NEXT:    [[PROD:%.+]] = spyre.reduce prod([[MIN_VIEW]]) dims [0] : tensor<4x1x1xf16> -> tensor<1x1x1xf16>
// CHECK-NEXT:    [[PROD_VIEW:%.+]] = spyre.view [[PROD]]
// CHECK-NEXT:    return [[PROD_VIEW]]
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @every_combination_has_its_function(%x: tensor<4x8x64xf16>) -> tensor<1x1x1xf16> {
  %lowest = arith.constant dense<0xFC00> : tensor<4x8x1xf16>
  %max = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x8x64xf16>) outs(%lowest : tensor<4x8x1xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.maximumf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<4x8x1xf16>
  %highest = arith.constant dense<0x7C00> : tensor<4x1x1xf16>
  %min = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1, d2) -> (d0, 0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%max : tensor<4x8x1xf16>) outs(%highest : tensor<4x1x1xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.minimumf %so_far, %in : f16
    linalg.yield %more : f16
  } -> tensor<4x1x1xf16>
  %one = arith.constant dense<1.0> : tensor<1x1x1xf16>
  %prod = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1, d2) -> (0, d1, d2)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%min : tensor<4x1x1xf16>) outs(%one : tensor<1x1x1xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.mulf %so_far, %in : f16
    linalg.yield %more : f16
  } -> tensor<1x1x1xf16>
  return %prod : tensor<1x1x1xf16>
}

// -----

// A maximum may start from the lowest finite number of f16, a minimum from the highest: some producers write them.
// CHECK-LABEL: func.func @finite_limits_are_neutral(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
func.func @finite_limits_are_neutral(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %lowest = arith.constant dense<-65504.0> : tensor<8xf16>
  %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%lowest : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.maxnumf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %max : tensor<8xf16>
}

// -----

// The device accumulates in its own width: an accumulator in f32 between f16 values is no op.
// CHECK-LABEL: func.func @f32_accumulators_are_the_device_s_own(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x1xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[SAME:%.+]] = spyre.view [[SUM]] by affine_map<(d0, d1) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    return [[SAME]]
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @f32_accumulators_are_the_device_s_own(%x: tensor<8x64xf16>) -> tensor<8x1xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x1xf32>
  %sum = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8x1xf32>) {
  ^bb0(%in: f16, %so_far: f32):
    %wide = arith.extf %in : f16 to f32
    %more = arith.addf %wide, %so_far : f32
    linalg.yield %more : f32
  } -> tensor<8x1xf32>
  %shape = tensor.empty() : tensor<8x1xf16>
  %narrow = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<8x1xf32>) outs(%shape : tensor<8x1xf16>) {
  ^bb0(%in: f32, %out: f16):
    %rounded = arith.truncf %in : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<8x1xf16>
  return %narrow : tensor<8x1xf16>
}

// -----

// The running sum itself may be rounded at every step.
// CHECK-LABEL: func.func @casts_around_the_running_value_are_no_ops(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[SUM]]
// CHECK-NEXT:    return [[DROPPED]]
func.func @casts_around_the_running_value_are_no_ops(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %wide = arith.extf %in : f16 to f32
    %wide_so_far = arith.extf %so_far : f16 to f32
    %more = arith.addf %wide_so_far, %wide : f32
    %rounded = arith.truncf %more : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// Elementwise computations in the body of a reduction become separate elementwise ops.
// CHECK-LABEL: func.func @elements_are_computed_before_they_are_combined(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[SQUARE:%.+]] = spyre.pointwise mul([[X]], [[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[SQUARE]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[SUM]]
// CHECK-NEXT:    return [[DROPPED]]
func.func @elements_are_computed_before_they_are_combined(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %square = arith.mulf %in, %in : f16
    %more = arith.addf %so_far, %square : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// An element that several iterations read is added several times.
// CHECK-LABEL: func.func @broadcast_elements_are_repeated_before_they_are_summed(
// CHECK-SAME:    [[X:%.+]]: tensor<8xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[COLUMN:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0)> : tensor<8xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[MATRIX:%.+]] = spyre.view [[COLUMN]] by affine_map<(d0, d1) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[MATRIX]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
func.func @broadcast_elements_are_repeated_before_they_are_summed(%x: tensor<8xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %shape = tensor.empty() : tensor<64xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %shape : tensor<8xf16>, tensor<64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %unused: f16, %so_far: f16):
    %more = arith.addf %so_far, %in : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @reduced_results_are_transposed_by_a_view(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x64xf16>) -> tensor<64x4xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<4x8x64xf16> -> tensor<4x1x64xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[SUM]] by affine_map<(d0, d1) -> (d1, 0, d0)> : tensor<4x1x64xf16> -> tensor<64x4xf16>
// CHECK-NEXT:    return [[VIEW]]
func.func @reduced_results_are_transposed_by_a_view(%x: tensor<4x8x64xf16>) -> tensor<64x4xf16> {
  %zero = arith.constant dense<0.0> : tensor<64x4xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d0)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<4x8x64xf16>) outs(%zero : tensor<64x4xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %so_far, %in : f16
    linalg.yield %more : f16
  } -> tensor<64x4xf16>
  return %sum : tensor<64x4xf16>
}

// -----

// A mean with the reciprocal of the count as an argument, subtracted from the elements: every view is an identity or adds
// unit dimensions.
// CHECK-LABEL: func.func @a_mean_is_a_sum_and_a_product(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[RECIPROCAL:%.+]]: tensor<f16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[COLUMN:%.+]] = spyre.view [[SUM]]
// CHECK-NEXT:    [[FACTOR:%.+]] = spyre.view [[RECIPROCAL]] by affine_map<(d0, d1) -> ()> : tensor<f16> -> tensor<1x1xf16>
// CHECK-NEXT:    [[MEAN:%.+]] = spyre.pointwise mul([[COLUMN]], [[FACTOR]]) : (tensor<8x1xf16>, tensor<1x1xf16>) -> tensor<8x1xf16>
// CHECK-NEXT:    [[MEAN_VIEW:%.+]] = spyre.view [[MEAN]]
// CHECK-NEXT:    [[CENTERED:%.+]] = spyre.pointwise sub([[X]], [[MEAN_VIEW]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[CENTERED]]
#all = affine_map<(d0, d1) -> (d0, d1)>
#kept_row = affine_map<(d0, d1) -> (d0, 0)>
func.func @a_mean_is_a_sum_and_a_product(%x: tensor<8x64xf16>, %reciprocal: tensor<f16>) -> tensor<8x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x1xf16>
  %sum = linalg.generic {indexing_maps = [#all, #kept_row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8x1xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8x1xf16>
  %column = tensor.empty() : tensor<8x1xf16>
  %mean = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> ()>, #all], iterator_types = ["parallel", "parallel"]} ins(%sum, %reciprocal : tensor<8x1xf16>, tensor<f16>) outs(%column : tensor<8x1xf16>) {
  ^bb0(%in: f16, %factor: f16, %out: f16):
    %product = arith.mulf %in, %factor : f16
    linalg.yield %product : f16
  } -> tensor<8x1xf16>
  %matrix = tensor.empty() : tensor<8x64xf16>
  %centered = linalg.generic {indexing_maps = [#all, #kept_row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<8x64xf16>, tensor<8x1xf16>) outs(%matrix : tensor<8x64xf16>) {
  ^bb0(%in: f16, %in_mean: f16, %out: f16):
    %difference = arith.subf %in, %in_mean : f16
    linalg.yield %difference : f16
  } -> tensor<8x64xf16>
  return %centered : tensor<8x64xf16>
}

// -----

// Only the maximum is an op: the argmax has no uses.
// CHECK-LABEL: func.func @results_that_nobody_reads_are_no_ops(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[MAX]]
// CHECK-NEXT:    return [[DROPPED]]
#row = affine_map<(d0, d1) -> (d0)>
func.func @results_that_nobody_reads_are_no_ops(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %lowest = arith.constant dense<0xFC00> : tensor<8xf16>
  %first = arith.constant dense<0> : tensor<8xi64>
  %max:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%lowest, %first : tensor<8xf16>, tensor<8xi64>) {
  ^bb0(%in: f16, %so_far: f16, %where: i64):
    %column = linalg.index 1 : index
    %here = arith.index_cast %column : index to i64
    %larger = arith.maximumf %in, %so_far : f16
    %is_larger = arith.cmpf ogt, %in, %so_far : f16
    %argmax = arith.select %is_larger, %here, %where : i64
    linalg.yield %larger, %argmax : f16, i64
  } -> (tensor<8xf16>, tensor<8xi64>)
  return %max#0 : tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @finite_limits_of_f32_are_neutral_in_f32(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>) -> tensor<8xf32> {
// CHECK-NEXT:    [[MIN:%.+]] = spyre.reduce min([[X]]) dims [1] : tensor<8x64xf32> -> tensor<8x1xf32>
func.func @finite_limits_of_f32_are_neutral_in_f32(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %highest = arith.constant dense<3.40282347E+38> : tensor<8xf32>
  %min = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%highest : tensor<8xf32>) {
  ^bb0(%in: f32, %so_far: f32):
    %less = arith.minimumf %in, %so_far : f32
    linalg.yield %less : f32
  } -> tensor<8xf32>
  return %min : tensor<8xf32>
}

// -----

// A fill counts as a constant number, also as linalg.fill.
// CHECK-LABEL: func.func @fills_are_known_numbers(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
func.func @fills_are_known_numbers(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %number = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<8xf16>
  %zero = linalg.fill ins(%number : f16) outs(%shape : tensor<8xf16>) -> tensor<8xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// Dimensions that a reshape merged are reduced one by one, without a copy of the merged tensor.
// CHECK-LABEL: func.func @merged_dims_are_reduced_one_by_one(
// CHECK-SAME:    [[X:%.+]]: tensor<4x5x7x3xf16>) -> tensor<20xf16> {
// CHECK-NEXT:    [[INNER:%.+]] = spyre.reduce sum([[X]]) dims [3] : tensor<4x5x7x3xf16> -> tensor<4x5x7x1xf16>
// CHECK-NEXT:    [[OUTER:%.+]] = spyre.reduce sum([[INNER]]) dims [2] : tensor<4x5x7x1xf16> -> tensor<4x5x1x1xf16>
// CHECK-NEXT:    [[MERGED:%.+]] = spyre.view [[OUTER]]
// CHECK-NEXT:    [[DROPPED:%.+]] = spyre.view [[MERGED]]
// CHECK-NEXT:    return [[DROPPED]]
func.func @merged_dims_are_reduced_one_by_one(%x: tensor<4x5x7x3xf16>) -> tensor<20xf16> {
  %merged = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<4x5x7x3xf16> into tensor<20x21xf16>
  %zero = arith.constant dense<0.0> : tensor<20xf16>
  %sum = linalg.reduce { arith.addf } ins(%merged : tensor<20x21xf16>) outs(%zero : tensor<20xf16>) dimensions = [1]
  return %sum : tensor<20xf16>
}
