// RUN: spyre-opt --spyre-import-linalg %s | FileCheck %s
// RUN: spyre-opt --spyre-import-linalg --canonicalize --cse %s | FileCheck %s --check-prefix=CLEAN

// The softmax that torch-mlir writes is five functions of the device: the f32 values between f16 values, the argmax that
// nobody reads and the numbers that reductions start from are no ops. Views say how reductions are read; most of them cancel.

#matrix = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#kept_row = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    [[X:%.+]]: tensor<512x1024xf16>) -> tensor<512x1024xf16>
// CHECK-NOT:     {{linalg|arith|math|f32|i64}}
// CHECK:         spyre.reduce max([[X]]) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
// CHECK:         spyre.pointwise sub([[X]],
// CHECK:         spyre.pointwise exp(
// CHECK:         spyre.reduce sum(
// CHECK:         [[PROBABILITIES:%.+]] = spyre.pointwise realdiv(
// CHECK-NOT:     {{linalg|arith|math|f32|i64}}
// CHECK:         return [[PROBABILITIES]] : tensor<512x1024xf16>

// CLEAN-LABEL: func.func @softmax(
// CLEAN-SAME:    [[X:%.+]]: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
// CLEAN-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
// CLEAN-NEXT:    [[SHIFTED:%.+]] = spyre.pointwise sub([[X]], [[MAX]]) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
// CLEAN-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[SHIFTED]]) : tensor<512x1024xf16>
// CLEAN-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[EXP]]) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
// CLEAN-NEXT:    [[PROBABILITIES:%.+]] = spyre.pointwise realdiv([[EXP]], [[SUM]]) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
// CLEAN-NEXT:    return [[PROBABILITIES]] : tensor<512x1024xf16>
func.func @softmax(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %first_index = arith.constant 0 : i64
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.000000e+00 : f32
  %matrix_f32 = tensor.empty() : tensor<512x1024xf32>
  %x_f32 = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<512x1024xf16>) outs(%matrix_f32 : tensor<512x1024xf32>) {
  ^bb0(%in: f16, %out: f32):
    %wide = arith.extf %in : f16 to f32
    linalg.yield %wide : f32
  } -> tensor<512x1024xf32>
  %rows_i64 = tensor.empty() : tensor<512xi64>
  %first_indices = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%first_index : i64) outs(%rows_i64 : tensor<512xi64>) {
  ^bb0(%in: i64, %out: i64):
    linalg.yield %in : i64
  } -> tensor<512xi64>
  %rows_f32 = tensor.empty() : tensor<512xf32>
  %lowest_rows = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%lowest : f32) outs(%rows_f32 : tensor<512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<512xf32>
  %max:2 = linalg.generic {indexing_maps = [#matrix, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x_f32 : tensor<512x1024xf32>) outs(%lowest_rows, %first_indices : tensor<512xf32>, tensor<512xi64>) {
  ^bb0(%in: f32, %so_far: f32, %where: i64):
    %column = linalg.index 1 : index
    %here = arith.index_cast %column : index to i64
    %larger = arith.maximumf %in, %so_far : f32
    %is_larger = arith.cmpf ogt, %in, %so_far : f32
    %argmax = arith.select %is_larger, %here, %where : i64
    linalg.yield %larger, %argmax : f32, i64
  } -> (tensor<512xf32>, tensor<512xi64>)
  %max_column = tensor.expand_shape %max#0 [[0, 1]] output_shape [512, 1] : tensor<512xf32> into tensor<512x1xf32>
  %shifted = linalg.generic {indexing_maps = [#matrix, #kept_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x_f32, %max_column : tensor<512x1024xf32>, tensor<512x1xf32>) outs(%matrix_f32 : tensor<512x1024xf32>) {
  ^bb0(%in: f32, %in_max: f32, %out: f32):
    %difference = arith.subf %in, %in_max : f32
    linalg.yield %difference : f32
  } -> tensor<512x1024xf32>
  %exp = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]} ins(%shifted : tensor<512x1024xf32>) outs(%matrix_f32 : tensor<512x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<512x1024xf32>
  %column_f32 = tensor.empty() : tensor<512x1xf32>
  %zero_column = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, #matrix], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%column_f32 : tensor<512x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<512x1xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #kept_row], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<512x1024xf32>) outs(%zero_column : tensor<512x1xf32>) {
  ^bb0(%in: f32, %so_far: f32):
    %more = arith.addf %in, %so_far : f32
    linalg.yield %more : f32
  } -> tensor<512x1xf32>
  %quotient = linalg.generic {indexing_maps = [#matrix, #kept_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<512x1024xf32>, tensor<512x1xf32>) outs(%matrix_f32 : tensor<512x1024xf32>) {
  ^bb0(%in: f32, %in_sum: f32, %out: f32):
    %q = arith.divf %in, %in_sum : f32
    linalg.yield %q : f32
  } -> tensor<512x1024xf32>
  %matrix_f16 = tensor.empty() : tensor<512x1024xf16>
  %softmax = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]} ins(%quotient : tensor<512x1024xf32>) outs(%matrix_f16 : tensor<512x1024xf16>) {
  ^bb0(%in: f32, %out: f16):
    %narrow = arith.truncf %in : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<512x1024xf16>
  return %softmax : tensor<512x1024xf16>
}
