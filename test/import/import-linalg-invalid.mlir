// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s
// RUN: not spyre-opt --split-input-file --spyre-import-linalg=precision=double %s 2>&1 | FileCheck %s --check-prefix=PRECISION

// PRECISION: error: 'builtin.module' op unknown precision 'double': expected 'device' or 'strict'

// expected-note @+1 {{the first}}
func.func @first(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// expected-error @+1 {{'func.func' op is a second function with a body: only one is supported yet}}
func.func @second(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  return %shape : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op has an argument of tensor<?x64xf16>: only tensors of static shape are supported}}
func.func @dynamic_argument(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %x_again = tensor.cast %x : tensor<?x64xf16> to tensor<?x64xf16>
  return %x_again : tensor<?x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op has an argument of f16: only tensors of static shape are supported}}
func.func @scalar_argument(%x: f16) -> tensor<8xf16> {
  %shape = tensor.empty() : tensor<8xf16>
  return %shape : tensor<8xf16>
}

// -----

func.func @dynamic_result() -> tensor<?xf16> {
  %size = arith.constant 8 : index
  %shape = tensor.empty(%size) : tensor<?xf16>
  // expected-error @+1 {{'linalg.generic' op has an operand of tensor<?xf16>: only tensors of static shape are supported}}
  %result = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%shape : tensor<?xf16>) {
  ^bb0(%out: f16):
    %one = arith.constant 1.0 : f16
    linalg.yield %one : f16
  } -> tensor<?xf16>
  return %result : tensor<?xf16>
}

// -----

func.func @named_ops(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  // expected-error @+1 {{'linalg.exp' op is a named op: run linalg-generalize-named-ops first}}
  %exp = linalg.exp ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

// Of these linalg has no general form.
func.func @named_ops_without_a_body(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  // expected-error @+1 {{'linalg.softmax' op has no device function yet}}
  %softmax = linalg.softmax dimension(1) ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %softmax : tensor<8x64xf16>
}

// -----

func.func @loops(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %low = arith.constant 0 : index
  %high = arith.constant 4 : index
  %step = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op has no device function yet}}
  %last = scf.for %i = %low to %high step %step iter_args(%so_far = %x) -> tensor<8x64xf16> {
    scf.yield %so_far : tensor<8x64xf16>
  }
  return %last : tensor<8x64xf16>
}

// -----

func.func @branches(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'cf.br' op has no device function yet}}
  cf.br ^end
^end:
  return %x : tensor<8x64xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @unknown_scalar_function(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %result = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'math.erf' op has no device function yet}}
    %erf = math.erf %in : f16
    linalg.yield %erf : f16
  } -> tensor<8x64xf16>
  return %result : tensor<8x64xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @integers(%x: tensor<8x64xi64>) -> tensor<8x64xi64> {
  %shape = tensor.empty() : tensor<8x64xi64>
  %result = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xi64>) outs(%shape : tensor<8x64xi64>) {
  ^bb0(%in: i64, %out: i64):
    // expected-error @+1 {{'arith.addi' op has no device function yet}}
    %double = arith.addi %in, %in : i64
    linalg.yield %double : i64
  } -> tensor<8x64xi64>
  return %result : tensor<8x64xi64>
}

// -----

func.func @returned_number() -> tensor<8x64xf16> {
  %two = arith.constant dense<2.0> : tensor<8x64xf16>
  // expected-error @+1 {{'func.return' op uses the constant 2: constant tensors are not supported yet}}
  return %two : tensor<8x64xf16>
}

// -----

func.func @returned_shape() -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  // expected-error @+1 {{'func.return' op reads a tensor that nothing has written}}
  return %shape : tensor<8x64xf16>
}

// -----

func.func @constant_of_several_numbers() -> tensor<2xf16> {
  %ramp = arith.constant dense<[1.0, 2.0]> : tensor<2xf16>
  // expected-error @+1 {{'func.return' op uses a constant tensor of several numbers: constant tensors are not supported yet}}
  return %ramp : tensor<2xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @returned_island(%x: tensor<8x64xf16>) -> tensor<8x64xf32> {
  %shape = tensor.empty() : tensor<8x64xf32>
  %wide = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf32>) {
  ^bb0(%in: f16, %out: f32):
    %w = arith.extf %in : f16 to f32
    linalg.yield %w : f32
  } -> tensor<8x64xf32>
  // expected-error @+1 {{'func.return' op returns tensor<8x64xf32>, which was computed as tensor<8x64xf16>: this conversion is not supported yet}}
  return %wide : tensor<8x64xf32>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f32_between_f32_and_f16(%x: tensor<8x64xf32>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %narrow = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f32, %out: f16):
    // expected-error @+1 {{'arith.truncf' op converts f32 to f16: not supported yet}}
    %n = arith.truncf %in : f32 to f16
    linalg.yield %n : f16
  } -> tensor<8x64xf16>
  return %narrow : tensor<8x64xf16>
}

// -----

// A rounding to 8 bits between f16 values is no f32 island: it must not vanish.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f8_roundings_are_kept(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %rounded = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'arith.truncf' op converts f16 to f8E4M3FN: not supported yet}}
    %narrow = arith.truncf %in : f16 to f8E4M3FN
    %wide = arith.extf %narrow : f8E4M3FN to f16
    linalg.yield %wide : f16
  } -> tensor<8x64xf16>
  return %rounded : tensor<8x64xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @island_that_ends_in_another_type(%x: tensor<8x64xf16>) -> tensor<8x64xbf16> {
  %shape = tensor.empty() : tensor<8x64xbf16>
  %rounded = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xbf16>) {
  ^bb0(%in: f16, %out: bf16):
    %wide = arith.extf %in : f16 to f32
    // expected-error @+1 {{'arith.truncf' op converts f16 to bf16: not supported yet}}
    %narrow = arith.truncf %wide : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<8x64xbf16>
  return %rounded : tensor<8x64xbf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f64_between_f32_values(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %shape = tensor.empty() : tensor<8x64xf32>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%shape : tensor<8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error @+1 {{'arith.extf' op converts f32 to f64: not supported yet}}
    %wide = arith.extf %in : f32 to f64
    %e = math.exp %wide : f64
    %narrow = arith.truncf %e : f64 to f32
    linalg.yield %narrow : f32
  } -> tensor<8x64xf32>
  return %exp : tensor<8x64xf32>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @integers_between_f16_values(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %whole = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'arith.fptosi' op converts f16 to i32: not supported yet}}
    %integer = arith.fptosi %in : f16 to i32
    %float = arith.sitofp %integer : i32 to f16
    linalg.yield %float : f16
  } -> tensor<8x64xf16>
  return %whole : tensor<8x64xf16>
}

// -----

// A running sum that is rounded to 8 bits at every step.
func.func @roundings_of_a_running_sum(%x: tensor<8x64xf16>) -> tensor<8xf8E4M3FN> {
  %zero = arith.constant dense<0.0> : tensor<8xf8E4M3FN>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf8E4M3FN>) {
  ^bb0(%in: f16, %so_far: f8E4M3FN):
    // expected-error @+1 {{'arith.extf' op converts f8E4M3FN to f16: not supported yet}}
    %wide = arith.extf %so_far : f8E4M3FN to f16
    %more = arith.addf %wide, %in : f16
    %narrow = arith.truncf %more : f16 to f8E4M3FN
    linalg.yield %narrow : f8E4M3FN
  } -> tensor<8xf8E4M3FN>
  return %sum : tensor<8xf8E4M3FN>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f16_beside_f32(%x: tensor<8x64xf16>, %y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %shape = tensor.empty() : tensor<8x64xf32>
  %sum = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x64xf16>, tensor<8x64xf32>) outs(%shape : tensor<8x64xf32>) {
  ^bb0(%a: f16, %b: f32, %out: f32):
    %wide = arith.extf %a : f16 to f32
    // expected-error @+1 {{'arith.addf' op mixes elements of f16 and f32: not supported yet}}
    %s = arith.addf %wide, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %sum : tensor<8x64xf32>
}

// -----

// A mean divides by the number of elements.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @numbers_that_are_not_neutral(%sum: tensor<8x1xf16>) -> tensor<8x1xf16> {
  %count = arith.constant 64.0 : f16
  %shape = tensor.empty() : tensor<8x1xf16>
  %mean = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<8x1xf16>) outs(%shape : tensor<8x1xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'arith.divf' op uses the constant 64: constants are not supported yet}}
    %quotient = arith.divf %in, %count : f16
    linalg.yield %quotient : f16
  } -> tensor<8x1xf16>
  return %mean : tensor<8x1xf16>
}

// -----

// 0 is neutral behind a minus, not before it.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @neutral_numbers_on_the_wrong_side(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %negative = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'arith.subf' op uses the constant 0: constants are not supported yet}}
    %difference = arith.subf %zero, %in : f16
    linalg.yield %difference : f16
  } -> tensor<8x64xf16>
  return %negative : tensor<8x64xf16>
}

// -----

func.func @unwritten_input() -> tensor<8xf16> {
  %garbage = tensor.empty() : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op reads a tensor that nothing has written}}
  %exp = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%garbage : tensor<8xf16>) outs(%garbage : tensor<8xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<8xf16>
  return %exp : tensor<8xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @read_result(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'linalg.generic' op reads the tensor that it writes: not supported yet}}
  %sum = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%y : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %s = arith.addf %in, %out : f16
    linalg.yield %s : f16
  } -> tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----

// A row chosen by an index: a gather.
func.func @gather(%table: tensor<128x64xf16>, %rows: tensor<8xi64>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  // expected-error @+1 {{'linalg.generic' op uses an index or a value of another kind in its body: not supported yet}}
  %chosen = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<8xi64>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%row: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<128x64xf16>
    linalg.yield %element : f16
  } -> tensor<8x64xf16>
  return %chosen : tensor<8x64xf16>
}

// -----

func.func @computed_input_indices(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  // expected-error @+1 {{'linalg.generic' op reads input 0 through computed indices: not supported yet}}
  %reversed = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (7 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<8x64xf16>
  return %reversed : tensor<8x64xf16>
}

// -----

// Which of the 64 columns is the result?
func.func @result_without_a_parallel_dim(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %shape = tensor.empty() : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op writes result 0 through computed indices: not supported yet}}
  %some_column = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<8xf16>
  return %some_column : tensor<8xf16>
}

// -----

func.func @reduction_that_is_a_recurrence(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op result 0 is no sum, product, maximum or minimum of new values: not supported yet}}
  %polynomial = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %scaled = arith.mulf %so_far, %in : f16
    %more = arith.addf %scaled, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %polynomial : tensor<8xf16>
}

// -----

func.func @argmax(%x: tensor<8x64xf16>) -> tensor<8xi64> {
  %lowest = arith.constant dense<0xFC00> : tensor<8xf16>
  %first = arith.constant dense<0> : tensor<8xi64>
  // expected-error @+1 {{'linalg.generic' op result 1 is no sum, product, maximum or minimum of new values: not supported yet}}
  %max:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%lowest, %first : tensor<8xf16>, tensor<8xi64>) {
  ^bb0(%in: f16, %so_far: f16, %where: i64):
    %column = linalg.index 1 : index
    %here = arith.index_cast %column : index to i64
    %larger = arith.maximumf %in, %so_far : f16
    %is_larger = arith.cmpf ogt, %in, %so_far : f16
    %argmax = arith.select %is_larger, %here, %where : i64
    linalg.yield %larger, %argmax : f16, i64
  } -> (tensor<8xf16>, tensor<8xi64>)
  return %max#1 : tensor<8xi64>
}

// -----

func.func @sum_that_starts_from_one(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %one = arith.constant dense<1.0> : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op a sum must start from 0: another start is not supported yet}}
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%one : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// A maximum from 0 on is no maximum of the elements.
func.func @maximum_that_starts_from_zero(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op a maximum must start from -inf: another start is not supported yet}}
  %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.maximumf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %max : tensor<8xf16>
}

// -----

func.func @minimum_that_starts_from_zero(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op a minimum must start from inf: another start is not supported yet}}
  %min = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.minimumf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %min : tensor<8xf16>
}

// -----

func.func @product_that_starts_from_zero(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op a product must start from 1: another start is not supported yet}}
  %product = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.mulf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %product : tensor<8xf16>
}

// -----

func.func @maximum_that_starts_from_an_argument(%x: tensor<8x64xf16>, %start: tensor<8xf16>) -> tensor<8xf16> {
  // expected-error @+1 {{'linalg.generic' op a maximum must start from -inf: another start is not supported yet}}
  %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%start : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.maximumf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %max : tensor<8xf16>
}

// -----

func.func @sum_of_a_number() -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %two = arith.constant dense<2.0> : tensor<8x64xf16>
  // expected-error @+1 {{'linalg.generic' op reduces a constant: not supported yet}}
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%two : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

// -65504 is the lowest finite f16, not the lowest f32: a row of numbers below it has another maximum.
func.func @f32_maximum_from_the_lowest_f16(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %start = arith.constant dense<-65504.0> : tensor<8xf32>
  // expected-error @+1 {{'linalg.generic' op a maximum must start from -inf: another start is not supported yet}}
  %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%in: f32, %so_far: f32):
    %more = arith.maximumf %in, %so_far : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  return %max : tensor<8xf32>
}

// -----

// The casts of factors are looked through, so the factors themselves must agree.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f16_times_f32(%x: tensor<8x64xf16>, %y: tensor<64x128xf32>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf32>
  // expected-error @+1 {{'linalg.generic' op mixes elements of f16 and f32: not supported yet}}
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf32>) outs(%zero : tensor<8x128xf32>) {
  ^bb0(%a: f16, %b: f32, %so_far: f32):
    %wide_a = arith.extf %a : f16 to f32
    %ab = arith.mulf %wide_a, %b : f32
    %more = arith.addf %so_far, %ab : f32
    linalg.yield %more : f32
  } -> tensor<8x128xf32>
  %shape = tensor.empty() : tensor<8x128xf16>
  %rounded = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<8x128xf32>) outs(%shape : tensor<8x128xf16>) {
  ^bb0(%in: f32, %out: f16):
    %narrow = arith.truncf %in : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<8x128xf16>
  return %rounded : tensor<8x128xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @empty_tensor(%x: tensor<0x64xf16>) -> tensor<0x64xf16> {
  %shape = tensor.empty() : tensor<0x64xf16>
  // expected-error @+1 {{'linalg.generic' op has a dimension of size 0: tensor<0x64xf16> is empty, which is not supported}}
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<0x64xf16>) outs(%shape : tensor<0x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<0x64xf16>
  return %exp : tensor<0x64xf16>
}

// -----

func.func @reshaped_empty_tensor(%x: tensor<0x64xf16>) -> tensor<0xf16> {
  // expected-error @+1 {{'tensor.collapse_shape' op has a dimension of size 0: tensor<0xf16> is empty, which is not supported}}
  %collapsed = tensor.collapse_shape %x [[0, 1]] : tensor<0x64xf16> into tensor<0xf16>
  return %collapsed : tensor<0xf16>
}

// -----

// A reshape does not make a number of a constant tensor.
func.func @reshaped_constant_of_several_numbers() -> tensor<1x2xf16> {
  %ramp = arith.constant dense<[1.0, 2.0]> : tensor<2xf16>
  %row = tensor.expand_shape %ramp [[0, 1]] output_shape [1, 2] : tensor<2xf16> into tensor<1x2xf16>
  // expected-error @+1 {{'func.return' op uses a constant tensor of several numbers: constant tensors are not supported yet}}
  return %row : tensor<1x2xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @island_that_a_spyre_op_reads(%x: tensor<8x64xf16>) -> tensor<8x64xf32> {
  %shape = tensor.empty() : tensor<8x64xf32>
  %wide = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf32>) {
  ^bb0(%in: f16, %out: f32):
    %w = arith.extf %in : f16 to f32
    linalg.yield %w : f32
  } -> tensor<8x64xf32>
  // expected-error @+1 {{'spyre.pointwise' op reads tensor<8x64xf32>, which was computed as tensor<8x64xf16>: this conversion is not supported yet}}
  %neg = spyre.pointwise neg(%wide) : tensor<8x64xf32>
  return %neg : tensor<8x64xf32>
}

// -----

// A "reduction" that keeps every element combines each with what it overwrites.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @reduced_dim_of_the_result(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x64xf16>
  // expected-error @+1 {{'linalg.generic' op writes result 0 through computed indices: not supported yet}}
  %sum = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8x64xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %so_far, %in : f16
    linalg.yield %more : f16
  } -> tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}
