// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s
// RUN: not spyre-opt --split-input-file --spyre-import-linalg=precision=double %s 2>&1 | FileCheck %s --check-prefix=PRECISION

// PRECISION: error{{.*}}'builtin.module' op option 'precision': expected 'device', 'mixed' or 'strict', found 'double'

// expected-note @+1 {{the first}}
func.func @first(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// expected-error @+1 {{'func.func' op expected one function with a body after inlining, found a second one; inline or remove it}}
func.func @second(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  return %shape : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op expected arguments of static shape, found tensor<?x64xf16>; give every dimension a size}}
func.func @dynamic_argument(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %x_again = tensor.cast %x : tensor<?x64xf16> to tensor<?x64xf16>
  return %x_again : tensor<?x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op expected arguments of static shape, found f16; give every dimension a size}}
func.func @scalar_argument(%x: f16) -> tensor<8xf16> {
  %shape = tensor.empty() : tensor<8xf16>
  return %shape : tensor<8xf16>
}

// -----

func.func @dynamic_result() -> tensor<?xf16> {
  %size = arith.constant 8 : index
  // expected-error @+1 {{'tensor.empty' op expected results of static shape, found tensor<?xf16>; give every dimension a size}}
  %shape = tensor.empty(%size) : tensor<?xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%shape : tensor<?xf16>) {
  ^bb0(%out: f16):
    %one = arith.constant 1.0 : f16
    linalg.yield %one : f16
  } -> tensor<?xf16>
  return %result : tensor<?xf16>
}

// -----

func.func @branches(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'cf.br' op is not supported: the device has no such function}}
  cf.br ^end
^end:
  return %x : tensor<8x64xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @bits_of_two(%x: tensor<8x64xi64>, %y: tensor<8x64xi64>) -> tensor<8x64xi64> {
  %shape = tensor.empty() : tensor<8x64xi64>
  %result = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x64xi64>, tensor<8x64xi64>) outs(%shape : tensor<8x64xi64>) {
  ^bb0(%in: i64, %other: i64, %out: i64):
    // expected-error @+1 {{'arith.xori' op of runtime integers is not supported; compute them outside of the program, or from constants}}
    %both = arith.xori %in, %other : i64
    linalg.yield %both : i64
  } -> tensor<8x64xi64>
  return %result : tensor<8x64xi64>
}

// -----

func.func @returned_shape() -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  // expected-error @+1 {{'func.return' op reads a tensor that no op has written; fill it first}}
  return %shape : tensor<8x64xf16>
}

// -----

// A rounding to 8 bits between f16 values must be kept, unlike f32 between f16 values.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f8_roundings_are_kept(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %rounded = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'arith.truncf' op converts f16 to f8E4M3FN, which is not supported; convert the values before the export}}
    %narrow = arith.truncf %in : f16 to f8E4M3FN
    %wide = arith.extf %narrow : f8E4M3FN to f16
    linalg.yield %wide : f16
  } -> tensor<8x64xf16>
  return %rounded : tensor<8x64xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @integers_between_f16_values(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %whole = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'arith.fptoui' op of runtime values from f16 to i32 is not supported; convert the values before the export}}
    %integer = arith.fptoui %in : f16 to i32
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
    %wide = arith.extf %so_far : f8E4M3FN to f16
    %more = arith.addf %wide, %in : f16
    // expected-error @+1 {{'arith.truncf' op converts f16 to f8E4M3FN, which is not supported; convert the values before the export}}
    %narrow = arith.truncf %more : f16 to f8E4M3FN
    linalg.yield %narrow : f8E4M3FN
  } -> tensor<8xf8E4M3FN>
  return %sum : tensor<8xf8E4M3FN>
}

// -----

func.func @unwritten_input() -> tensor<8xf16> {
  %garbage = tensor.empty() : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op reads a tensor that no op has written; fill it first}}
  %exp = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%garbage : tensor<8xf16>) outs(%garbage : tensor<8xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<8xf16>
  return %exp : tensor<8xf16>
}

// -----

func.func @computed_input_indices(%x: tensor<3098x1100xf16>) -> tensor<1999x1100xf16> {
  %shape = tensor.empty() : tensor<1999x1100xf16>
  // expected-error @+1 {{'linalg.generic' op reads input 0 backwards, which is not supported; reverse the tensor outside of the program}}
  %reversed = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (1998 - d0 + d1, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3098x1100xf16>) outs(%shape : tensor<1999x1100xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<1999x1100xf16>
  return %reversed : tensor<1999x1100xf16>
}

// -----

// Which of the 64 columns is the result?
func.func @result_without_a_parallel_dim(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %shape = tensor.empty() : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op expected plain dimensions in the map of result 0, found computed indices; write the result in order}}
  %some_column = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<8xf16>
  return %some_column : tensor<8xf16>
}

// -----

func.func @reduction_that_is_a_recurrence(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op expected a sum, product, maximum or minimum in the body, found another reduction in result 0; write the reduction as one of them}}
  %polynomial = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %scaled = arith.mulf %so_far, %in : f16
    %more = arith.addf %scaled, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %polynomial : tensor<8xf16>
}

// -----

func.func @no_argmax(%x: tensor<8x64xf16>) -> tensor<8xi64> {
  %lowest = arith.constant dense<0xFC00> : tensor<8xf16>
  %first = arith.constant dense<0> : tensor<8xi64>
  // expected-error @+1 {{'linalg.generic' op expected a sum, product, maximum or minimum in the body, found another reduction in result 1; write the reduction as one of them}}
  %max:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%lowest, %first : tensor<8xf16>, tensor<8xi64>) {
  ^bb0(%in: f16, %so_far: f16, %where: i64):
    %column = linalg.index 1 : index
    %here = arith.index_cast %column : index to i64
    %larger = arith.maximumf %in, %so_far : f16
    %is_larger = arith.cmpf one, %in, %so_far : f16
    %argmax = arith.select %is_larger, %here, %where : i64
    linalg.yield %larger, %argmax : f16, i64
  } -> (tensor<8xf16>, tensor<8xi64>)
  return %max#1 : tensor<8xi64>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @empty_tensor(%x: tensor<0x64xf16>) -> tensor<0x64xf16> {
  %shape = tensor.empty() : tensor<0x64xf16>
  // expected-error @+1 {{'linalg.generic' op expected at least one element in each dimension, found tensor<0x64xf16>; remove the empty tensor}}
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<0x64xf16>) outs(%shape : tensor<0x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<0x64xf16>
  return %exp : tensor<0x64xf16>
}

// -----

func.func @reshaped_empty_tensor(%x: tensor<0x64xf16>) -> tensor<0xf16> {
  // expected-error @+1 {{'tensor.collapse_shape' op expected at least one element in each dimension, found tensor<0xf16>; remove the empty tensor}}
  %collapsed = tensor.collapse_shape %x [[0, 1]] : tensor<0x64xf16> into tensor<0xf16>
  return %collapsed : tensor<0xf16>
}

// -----

// A "reduction" that keeps every element combines each with what it overwrites.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @reduced_dim_of_the_result(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x64xf16>
  // expected-error @+1 {{'linalg.generic' op expected plain dimensions in the map of result 0, found computed indices; write the result in order}}
  %sum = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8x64xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %so_far, %in : f16
    linalg.yield %more : f16
  } -> tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----

func.func @wide_convolution(%x: tensor<2000xf16>, %k: tensor<1025xf16>) -> tensor<976xf16> {
  %zero = arith.constant dense<0.0> : tensor<976xf16>
  // expected-error @+1 {{'linalg.generic' op reads input 0 in overlapping windows of more than 1024 parts; use smaller windows}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %k : tensor<2000xf16>, tensor<1025xf16>) outs(%zero : tensor<976xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %0, %out : f16
    linalg.yield %1 : f16
  } -> tensor<976xf16>
  return %y : tensor<976xf16>
}

// -----

func.func @large_kernel(%x: tensor<1x64x80x80xf16>, %k: tensor<64x33x33xf16>) -> tensor<1x64x48x48xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x64x48x48xf16>
  // expected-error @+1 {{'linalg.generic' op expected windows of at most 1024 points, found [33, 33]; use smaller windows}}
  %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x64x80x80xf16>, tensor<64x33x33xf16>) outs(%zero : tensor<1x64x48x48xf16>) -> tensor<1x64x48x48xf16>
  return %y : tensor<1x64x48x48xf16>
}

// -----

func.func @wide_unfolding(%x: tensor<3000xf16>) -> tensor<1100x1101xf16> {
  %shape = tensor.empty() : tensor<1100x1101xf16>
  // expected-error @+1 {{'linalg.generic' op reads input 0 in overlapping windows of more than 1024 parts; use smaller windows}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3000xf16>) outs(%shape : tensor<1100x1101xf16>) {
  ^bb0(%a: f16, %out: f16):
    linalg.yield %a : f16
  } -> tensor<1100x1101xf16>
  return %y : tensor<1100x1101xf16>
}

// -----

// expected-error @+1 {{'func.func' op expected elements of a device format, found complex<f32>; convert them before the export}}
func.func @complex_argument(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %y = tensor.cast %x : tensor<8xcomplex<f32>> to tensor<8xcomplex<f32>>
  return %y : tensor<8xcomplex<f32>>
}

// -----

func.func @constant_of_another_format() -> tensor<2xf8E4M3FNUZ> {
  // expected-error @+1 {{'arith.constant' op expected elements of a device format, found f8E4M3FNUZ; convert them before the export}}
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf8E4M3FNUZ>
  return %c : tensor<2xf8E4M3FNUZ>
}

// -----

func.func @vectors() -> vector<4xf16> {
  // expected-error @+1 {{'arith.constant' op expected a number, a signless integer of at most 64 bits, or a tensor, found vector<4xf16>}}
  %c = arith.constant dense<1.0> : vector<4xf16>
  return %c : vector<4xf16>
}

// -----

func.func @unknown_scalar_function(%x: tensor<8x64xi64>) -> tensor<8x64xi64> {
  // expected-error @+1 {{'math.ctpop' op has no device function yet}}
  %y = math.ctpop %x : tensor<8x64xi64>
  return %y : tensor<8x64xi64>
}

// -----

func.func @power_of_a_negative_constant(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %base = arith.constant dense<-2.0> : tensor<8x64xf16>
  // expected-error @+1 {{'math.powf' op requires a positive constant base of a runtime exponent, found another; use a positive base}}
  %y = math.powf %base, %x : tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @nan_of_either(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xi1> {
  // expected-error @+1 {{'arith.cmpf' op tests two values for NaN, which is not supported; test each value}}
  %z = arith.cmpf uno, %x, %y : tensor<8x64xf16>
  return %z : tensor<8x64xi1>
}

// -----

// The two tensors have 2^25 elements.
func.func @too_much_at_compile_time() -> tensor<8192x4096xi32> {
  %shape = tensor.empty() : tensor<8192x4096xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<8192x4096xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    // expected-error @+1 {{'arith.addi' op expected at most 16777216 elements that are computed at compile time, found 33554432; give them as an argument, or compute over a smaller shape}}
    %k = arith.addi %i, %j : index
    %l = arith.index_cast %k : index to i32
    linalg.yield %l : i32
  } -> tensor<8192x4096xi32>
  return %y : tensor<8192x4096xi32>
}

// -----

func.func @roundings_of_factors(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    // expected-error @+1 {{'arith.truncf' op converts f16 to f8E4M3FN, which is not supported; convert the values before the export}}
    %narrow = arith.truncf %a : f16 to f8E4M3FN
    %wide = arith.extf %narrow : f8E4M3FN to f16
    %0 = arith.mulf %wide, %b : f16
    %1 = arith.addf %out, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x128xf16>
  return %z : tensor<8x128xf16>
}

// -----

func.func @reduction_onto_garbage(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %garbage = tensor.empty() : tensor<8xf16>
  // expected-error @+1 {{'linalg.generic' op reduces onto a tensor that no op has written; fill it first}}
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%garbage : tensor<8xf16>) {
  ^bb0(%in: f16, %so_far: f16):
    %more = arith.addf %in, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %sum : tensor<8xf16>
}

// -----

func.func @sum_with_garbage(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %garbage = tensor.empty() : tensor<8x64xf16>
  // expected-error @+1 {{'arith.addf' op reads a tensor that no op has written; fill it first}}
  %sum = arith.addf %x, %garbage : tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----

func.func @square_of_a_sum_of_integers(%x: tensor<8x5000xi32>) -> tensor<8xi32> {
  %zero = arith.constant dense<0> : tensor<8xi32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x5000xi32>) outs(%zero : tensor<8xi32>) {
  ^bb0(%in: i32, %so_far: i32):
    %more = arith.addi %in, %so_far : i32
    linalg.yield %more : i32
  } -> tensor<8xi32>
  // expected-error @+1 {{'func.func' op computes integers beyond 16777216, the largest that the device computes exactly; bound arguments with 'spyre.range'}}
  %square = arith.muli %sum, %sum : tensor<8xi32>
  return %square : tensor<8xi32>
}

// -----

func.func @bits_of_integers(%x: tensor<8x64xi32>) -> tensor<8xi32> {
  %ones = arith.constant dense<-1> : tensor<8xi32>
  // expected-error @+1 {{'linalg.generic' op of the bits of runtime integers is not supported; use arithmetic on integers}}
  %all = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xi32>) outs(%ones : tensor<8xi32>) {
  ^bb0(%in: i32, %so_far: i32):
    %more = arith.andi %in, %so_far : i32
    linalg.yield %more : i32
  } -> tensor<8xi32>
  return %all : tensor<8xi32>
}

// -----

// The wider integers are known, and the device has none.
func.func @returned_integers() -> tensor<2xi64> {
  %c = arith.constant dense<[1, 8589934593]> : tensor<2xi64>
  // expected-error @+1 {{'func.return' op expected integer results of at most 32 bits, found wider values; return smaller integers}}
  return %c : tensor<2xi64>
}

// -----

func.func @one_element(%x: tensor<8x64xf16>, %at: tensor<index>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %row = tensor.extract %at[] : tensor<index>
  // expected-error @+1 {{'tensor.extract' op of a single element at a runtime index is not supported; gather whole rows instead}}
  %element = tensor.extract %x[%row, %c0] : tensor<8x64xf16>
  %splat = tensor.splat %element : tensor<8x64xf16>
  return %splat : tensor<8x64xf16>
}

// -----

func.func @elements_at_run_time(%x: tensor<f16>) -> tensor<2xf16> {
  %one = arith.constant 1.0 : f16
  %element = tensor.extract %x[] : tensor<f16>
  // expected-error @+1 {{'tensor.from_elements' op of runtime scalars is not supported; compute the tensor with ops on tensors}}
  %both = tensor.from_elements %one, %element : tensor<2xf16>
  return %both : tensor<2xf16>
}

// -----

func.func @slice_at_an_index(%x: tensor<8x64xf16>, %at: tensor<index>) -> tensor<2x64xf16> {
  %offset = tensor.extract %at[] : tensor<index>
  // expected-error @+1 {{'tensor.extract_slice' op indexes a table with integers that may be out of bounds; bound the argument with 'spyre.range'}}
  %slice = tensor.extract_slice %x[%offset, 0] [2, 64] [1, 1] : tensor<8x64xf16> to tensor<2x64xf16>
  return %slice : tensor<2x64xf16>
}

// -----

func.func @insert_every_other_row(%x: tensor<1025x64xf16>, %whole: tensor<2050x64xf16>) -> tensor<2050x64xf16> {
  // expected-error @+1 {{'tensor.insert_slice' op with strides [2, 1] needs more than 1024 slices; use smaller tensors or unit strides}}
  %y = tensor.insert_slice %x into %whole[0, 0] [1025, 64] [2, 1] : tensor<1025x64xf16> into tensor<2050x64xf16>
  return %y : tensor<2050x64xf16>
}

// -----

func.func @padding_at_run_time(%x: tensor<6x64xf16>, %at: tensor<f16>) -> tensor<8x64xf16> {
  %number = tensor.extract %at[] : tensor<f16>
  // expected-error @+1 {{'tensor.pad' op requires a constant padding value, found a runtime value; make it a constant}}
  %y = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %number : f16
  } : tensor<6x64xf16> to tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @padding_by_index(%x: tensor<6x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'tensor.pad' op uses a value of type f16 from 'arith.uitofp', which is not supported}}
  %y = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    %k = arith.index_cast %i : index to i32
    %number = arith.uitofp %k : i32 to f16
    tensor.yield %number : f16
  } : tensor<6x64xf16> to tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @padding_of_a_run_time_size(%x: tensor<6x64xf16>, %at: tensor<index>) -> tensor<8x64xf16> {
  %zero = arith.constant 0.0 : f16
  %size = tensor.extract %at[] : tensor<index>
  // expected-error @+1 {{'tensor.pad' op requires constant padding sizes, found a runtime value; make them constants}}
  %y = tensor.pad %x low[%size, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<6x64xf16> to tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @a_size_chosen_at_run_time(%x: tensor<8x64xf16>, %at: tensor<index>) -> tensor<8x64xf16> {
  %dim = tensor.extract %at[] : tensor<index>
  // expected-error @+1 {{'tensor.dim' op requires a constant dimension number, found a runtime value; make it a constant}}
  %size = tensor.dim %x, %dim : tensor<8x64xf16>
  return %x : tensor<8x64xf16>
}

// -----

func.func @tensor_op_without_a_form(%x: tensor<8x64xf16>) -> tensor<8x64xi16> {
  // expected-error @+1 {{'tensor.bitcast' op has no device function yet}}
  %y = tensor.bitcast %x : tensor<8x64xf16> to tensor<8x64xi16>
  return %y : tensor<8x64xi16>
}

// -----

func.func @index_past_the_end(%table: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %one = arith.constant 1 : index
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<8x64xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %one : index
    // expected-error @+1 {{'tensor.extract' op expected indices from 0 to 7 of dimension 0, found indices 1 to 8; give indices within the table}}
    %element = tensor.extract %table[%k, %j] : tensor<8x64xf16>
    linalg.yield %element : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

#same = affine_map<(d0) -> (d0)>
func.func @computed_index(%table: tensor<8xf16>, %rows: tensor<8xi64>, %other: tensor<8xi64>) -> tensor<8xf16> {
  %shape = tensor.empty() : tensor<8xf16>
  %y = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%rows, %other : tensor<8xi64>, tensor<8xi64>) outs(%shape : tensor<8xf16>) {
  ^bb0(%row: i64, %more: i64, %out: f16):
    %nine = arith.constant 9 : i64
    %sum = arith.addi %row, %more : i64
    %twice = arith.addi %sum, %nine : i64
    %i = arith.index_cast %twice : i64 to index
    // expected-error @+1 {{'tensor.extract' op indexes a table with integers that may be out of bounds; bound the argument with 'spyre.range'}}
    %element = tensor.extract %table[%i] : tensor<8xf16>
    linalg.yield %element : f16
  } -> tensor<8xf16>
  return %y : tensor<8xf16>
}

// -----

#same = affine_map<(d0) -> (d0)>
func.func @two_indices_of_a_large_table(%table: tensor<8x16777216xf16>, %rows: tensor<8xi64>) -> tensor<8xf16> {
  %shape = tensor.empty() : tensor<8xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%rows : tensor<8xi64>) outs(%shape : tensor<8xf16>) {
  ^bb0(%row: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    // expected-error @+1 {{'tensor.extract' op takes 2 runtime indices, which select from too many rows; use a smaller table or one index}}
    %element = tensor.extract %table[%i, %i] : tensor<8x16777216xf16>
    linalg.yield %element : f16
  } -> tensor<8xf16>
  return %y : tensor<8xf16>
}

// -----

// An error about a value with several uses is reported once.
func.func @the_first_cause(%x: tensor<8xi64>, %y: tensor<8xi64>) -> tensor<8xi64> {
  // expected-error @+1 {{'arith.shrui' op of runtime integers is not supported; compute them outside of the program, or from constants}}
  %square = arith.shrui %x, %y : tensor<8xi64>
  %twice = arith.addi %square, %square : tensor<8xi64>
  return %twice : tensor<8xi64>
}

// -----

func.func @a_known_zero(%x: tensor<8xi64>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %zero = arith.constant dense<0> : tensor<8xi64>
  %sum = arith.addi %x, %y : tensor<8xi64>
  // expected-error @+1 {{'arith.divsi' op requires a positive integer divisor, found 0}}
  %z = arith.divsi %sum, %zero : tensor<8xi64>
  return %z : tensor<8xi64>
}

// -----

func.func @without_a_sign(%x: tensor<8xi64> {spyre.range = array<i64: -8, 8>}, %y: tensor<8xi64>) -> tensor<8xi64> {
  // expected-error @+1 {{'func.func' op requires nonnegative integers for unsigned arithmetic, found integers that may be negative; bound arguments with 'spyre.range'}}
  %sum = arith.addi %x, %y : tensor<8xi64>
  %z = arith.divui %sum, %y : tensor<8xi64>
  return %z : tensor<8xi64>
}

// -----

// expected-error @+1 {{'func.func' op expected runtime integers of i8, i32 or i64, found tensor<8x64xi16>; convert them before the export}}
func.func @short_integers(%x: tensor<8x64xi16>) -> tensor<8x64xf16> {
  %y = arith.sitofp %x : tensor<8x64xi16> to tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @windows_of_many_points(%x: tensor<3999xf16>) -> tensor<2000x2000xf16> {
  %e = tensor.empty() : tensor<2000x2000xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2000x2000xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = arith.addi %i, %j : index
    // expected-error @+1 {{'tensor.extract' op reads in overlapping windows of more than 1024 parts; use smaller windows}}
    %v = tensor.extract %x[%at] : tensor<3999xf16>
    linalg.yield %v : f16
  } -> tensor<2000x2000xf16>
  return %y : tensor<2000x2000xf16>
}

// -----

func.func @largest_of_some_integers(%x: tensor<9x70xi32>, %start: tensor<9xi32>) -> tensor<9xi32> {
  %c5 = arith.constant 5 : i32
  // expected-error @+1 {{'linalg.generic' op expected a sum, product, maximum or minimum in the body, found another reduction in result 0; write the reduction as one of them}}
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<9x70xi32>) outs(%start : tensor<9xi32>) {
  ^bb0(%v: i32, %running: i32):
    %is_in = arith.cmpi ne, %v, %c5 : i32
    %larger = arith.maxsi %v, %running : i32
    %next = arith.select %is_in, %larger, %running : i32
    linalg.yield %next : i32
  } -> tensor<9xi32>
  return %y : tensor<9xi32>
}

// -----

func.func @rounds_to_8_bits(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'arith.truncf' op converts f16 to f8E4M3FN, which is not supported; convert the values before the export}}
  %y = arith.truncf %x : tensor<8x64xf16> to tensor<8x64xf8E4M3FN>
  %z = arith.extf %y : tensor<8x64xf8E4M3FN> to tensor<8x64xf16>
  return %z : tensor<8x64xf16>
}

// -----

func.func @returns_numbers_of_8_bits(%x: tensor<8x64xf8E5M2>) -> tensor<8x64xf8E5M2> {
  %e = tensor.empty() : tensor<8x64xf8E5M2>
  %y = linalg.copy ins(%x : tensor<8x64xf8E5M2>) outs(%e : tensor<8x64xf8E5M2>) -> tensor<8x64xf8E5M2>
  // expected-error @+1 {{'func.return' op returns tensor<8x64xf8E5M2>, found a value computed as tensor<8x64xf32>; export the program in f32 or f16}}
  return %y : tensor<8x64xf8E5M2>
}

// -----

// expected-error @+1 {{'func.func' op expected elements of a device format, found f8E4M3FNUZ; convert them before the export}}
func.func @another_format_of_8_bits(%x: tensor<8x64xf8E4M3FNUZ>) -> tensor<8x64xf16> {
  %y = arith.extf %x : tensor<8x64xf8E4M3FNUZ> to tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @rounds_what_is_known_to_8_bits(%x: tensor<2xf16>) -> tensor<2xf16> {
  %c = arith.constant dense<[1.03, 2.1]> : tensor<2xf16>
  // expected-error @+1 {{'arith.truncf' op converts f16 to f8E4M3FN, which is not supported; convert the values before the export}}
  %y = arith.truncf %c : tensor<2xf16> to tensor<2xf8E4M3FN>
  %z = arith.extf %y : tensor<2xf8E4M3FN> to tensor<2xf16>
  %s = arith.addf %x, %z : tensor<2xf16>
  return %s : tensor<2xf16>
}

// -----

// The payload of the first maximum is not the minimum of the payloads, so it cannot be computed as an argmax.
func.func @payload(%x: tensor<3x65xf32>, %payload: tensor<3x65xi32>) -> tensor<3xi32> {
  %lowest = arith.constant dense<0xFF800000> : tensor<3xf32>
  %zeros = arith.constant dense<0> : tensor<3xi32>
  // expected-error @+1 {{'linalg.generic' op expected the position of the maximum or minimum, found another value that is selected along with it}}
  %max:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %payload : tensor<3x65xf32>, tensor<3x65xi32>) outs(%lowest, %zeros : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%new: f32, %number: i32, %old: f32, %found: i32):
    %larger = arith.cmpf ogt, %new, %old : f32
    %value = arith.maximumf %new, %old : f32
    %at = arith.select %larger, %number, %found : i32
    linalg.yield %value, %at : f32, i32
  } -> (tensor<3xf32>, tensor<3xi32>)
  return %max#1 : tensor<3xi32>
}

// -----

// Offsets that are constants, as operands: MLIR's verifier sees attributes only.

func.func @slice_behind_the_end(%x: tensor<64x64xf16>) -> tensor<4x64xf16> {
  %c100 = arith.constant 100 : index
  // expected-error @+1 {{'tensor.extract_slice' op expected a slice within the 64 elements of dimension 0, found elements 100 to 103; give an offset from 0 to 60}}
  %y = tensor.extract_slice %x[%c100, 0] [4, 64] [1, 1] : tensor<64x64xf16> to tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

// -----

func.func @slice_in_front_of_the_beginning(%x: tensor<64x64xf16>) -> tensor<64xf16> {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %before = arith.subi %c0, %c1 : index
  // expected-error @+1 {{'tensor.extract_slice' op expected a slice within the 64 elements of dimension 1, found elements -1 to -1; give an offset from 0 to 63}}
  %y = tensor.extract_slice %x[0, %before] [64, 1] [1, 1] : tensor<64x64xf16> to tensor<64xf16>
  return %y : tensor<64xf16>
}

// -----

func.func @slice_that_steps_beyond(%x: tensor<64x64xf16>) -> tensor<33x64xf16> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tensor.extract_slice' op expected a slice within the 64 elements of dimension 0, found elements 0 to 64; give a smaller size or stride}}
  %y = tensor.extract_slice %x[%c0, 0] [33, 64] [2, 1] : tensor<64x64xf16> to tensor<33x64xf16>
  return %y : tensor<33x64xf16>
}

// -----

func.func @insert_beyond(%x: tensor<2x64xf16>, %into: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c7 = arith.constant 7 : index
  // expected-error @+1 {{'tensor.insert_slice' op expected a slice within the 8 elements of dimension 0, found elements 7 to 8; give an offset from 0 to 6}}
  %y = tensor.insert_slice %x into %into[%c7, 0] [2, 64] [1, 1] : tensor<2x64xf16> into tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @insert_of_a_constant_beyond(%into: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c8 = arith.constant 8 : index
  %row = arith.constant dense<1.0> : tensor<1x64xf16>
  // expected-error @+1 {{'tensor.insert_slice' op expected a slice within the 8 elements of dimension 0, found elements 8 to 8; give an offset from 0 to 7}}
  %y = tensor.insert_slice %row into %into[%c8, 0] [1, 64] [1, 1] : tensor<1x64xf16> into tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

func.func @slice_of_a_constant_beyond(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c5 = arith.constant 5 : index
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf16>
  // expected-error @+1 {{'tensor.extract_slice' op expected a slice within the 8 elements of dimension 0, found elements 5 to 8; give an offset from 0 to 4}}
  %part = tensor.extract_slice %table[%c5] [4] [1] : tensor<8xf16> to tensor<4xf16>
  %y = arith.addf %x, %part : tensor<4xf16>
  return %y : tensor<4xf16>
}

// -----

func.func @element_beyond(%x: tensor<8x64xf16>) -> tensor<f16> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{'tensor.extract' op expected an index from 0 to 7 for dimension 0, found 8; give an index within it}}
  %element = tensor.extract %x[%c8, %c0] : tensor<8x64xf16>
  %y = tensor.from_elements %element : tensor<f16>
  return %y : tensor<f16>
}
