// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg --mlir-print-local-scope %s | FileCheck %s

// f32 values between an f16 value and an f16 value are computed in f16, however many ops they go through.
// CHECK-LABEL: func.func @f32_islands_are_folded(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[NEG]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f32_islands_are_folded(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape_f32 = tensor.empty() : tensor<8x64xf32>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape_f32 : tensor<8x64xf32>) {
  ^bb0(%in: f16, %out: f32):
    // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
    %wide = arith.extf %in : f16 to f32
    %e = math.exp %wide : f32
    linalg.yield %e : f32
  } -> tensor<8x64xf32>
  %shape = tensor.empty() : tensor<8x64xf16>
  %neg = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%exp : tensor<8x64xf32>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f32, %out: f16):
    %n = arith.negf %in : f32
    %narrow = arith.truncf %n : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<8x64xf16>
  return %neg : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @bf16_islands_are_folded(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xbf16>) -> tensor<8x64xbf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xbf16>
// CHECK-NEXT:    return [[EXP]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @bf16_islands_are_folded(%x: tensor<8x64xbf16>) -> tensor<8x64xbf16> {
  %shape = tensor.empty() : tensor<8x64xbf16>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xbf16>) outs(%shape : tensor<8x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
    %wide = arith.extf %in : bf16 to f32
    %e = math.exp %wide : f32
    %narrow = arith.truncf %e : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<8x64xbf16>
  return %exp : tensor<8x64xbf16>
}

// -----

// No f16 value is near: nothing is folded.
// CHECK-LABEL: func.func @f32_programs_stay_f32(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>) -> tensor<8xf32> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf32>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[EXP]]) dims [1] : tensor<8x64xf32> -> tensor<8x1xf32>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[MAX]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf32> -> tensor<8xf32>
// CHECK-NEXT:    return [[VIEW]] : tensor<8xf32>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f32_programs_stay_f32(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %shape = tensor.empty() : tensor<8x64xf32>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%shape : tensor<8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<8x64xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#same, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<8x64xf32>) outs(%lowest : tensor<8xf32>) {
  ^bb0(%in: f32, %so_far: f32):
    %larger = arith.maximumf %in, %so_far : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  return %max : tensor<8xf32>
}

// -----

// One function that the device lacks in f32, and the whole program is computed in its f16 format; arguments and results stay what they are.
// CHECK-LABEL: func.func @f32_programs_with_a_matmul(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>, [[Y:%.+]]: tensor<64x128xf32>) -> tensor<8x128xf32> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x64xf32> -> tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<64x128xf32> -> tensor<64x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[VIEW]], [[VIEW2]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<2.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[PRODUCT]], [[NUMBER]]) : (tensor<8x128xf16>, tensor<1x1xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    [[VIEW3:%.+]] = spyre.view [[MUL]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x128xf16> -> tensor<8x128xf32>
// CHECK-NEXT:    return [[VIEW3]] : tensor<8x128xf32>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f32_programs_with_a_matmul(%x: tensor<8x64xf32>, %y: tensor<64x128xf32>) -> tensor<8x128xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf32>
  // expected-remark @+1 {{f32 values are computed in the device's 16-bit format: the device has no 'batchmatmul' in f32}}
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf32>, tensor<64x128xf32>) outs(%zero : tensor<8x128xf32>) {
  ^bb0(%a: f32, %b: f32, %so_far: f32):
    %ab = arith.mulf %a, %b : f32
    %more = arith.addf %so_far, %ab : f32
    linalg.yield %more : f32
  } -> tensor<8x128xf32>
  %two = arith.constant dense<2.0> : tensor<8x128xf32>
  %twice = arith.mulf %product, %two : tensor<8x128xf32>
  return %twice : tensor<8x128xf32>
}

// -----

// CHECK-LABEL: func.func @f32_programs_with_a_tanh(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>) -> tensor<8x64xf32> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x64xf32> -> tensor<8x64xf16>
// CHECK-NEXT:    [[TANH:%.+]] = spyre.pointwise tanh([[VIEW]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[TANH]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x64xf16> -> tensor<8x64xf32>
// CHECK-NEXT:    return [[VIEW2]] : tensor<8x64xf32>
func.func @f32_programs_with_a_tanh(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // The remark is at the first function that f32 lacks.
  // expected-remark @+1 {{f32 values are computed in the device's 16-bit format: the device has no 'tanh' in f32}}
  %y = math.tanh %x : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// An f64 program is an f32 program.
// CHECK-LABEL: func.func @f64_between_f32_values(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>) -> tensor<8x64xf32> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf32>
// CHECK-NEXT:    return [[EXP]] : tensor<8x64xf32>
func.func @f64_between_f32_values(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %wide = arith.extf %x : tensor<8x64xf32> to tensor<8x64xf64>
  %e = math.exp %wide : tensor<8x64xf64>
  %narrow = arith.truncf %e : tensor<8x64xf64> to tensor<8x64xf32>
  return %narrow : tensor<8x64xf32>
}

// -----

// An f32 value that a program of f16 returns is read as what it is.
// CHECK-LABEL: func.func @returned_islands(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf32>) -> tensor<8x64xf32> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x64xf32> -> tensor<8x64xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[X]], [[VIEW]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[ADD]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<8x64xf16> -> tensor<8x64xf32>
// CHECK-NEXT:    return [[VIEW2]] : tensor<8x64xf32>
func.func @returned_islands(%x: tensor<8x64xf16>, %y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
  %wide = arith.extf %x : tensor<8x64xf16> to tensor<8x64xf32>
  %sum = arith.addf %wide, %y : tensor<8x64xf32>
  return %sum : tensor<8x64xf32>
}

// -----

// bf16 programs: the numbers are bf16, the device's format is the same.
// CHECK-LABEL: func.func @bf16_programs(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xbf16>) -> tensor<8x64xbf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<5.000000e-01> : tensor<1x1xbf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[NUMBER]]) : (tensor<8x64xbf16>, tensor<1x1xbf16>) -> tensor<8x64xbf16>
// CHECK-NEXT:    [[TANH:%.+]] = spyre.pointwise tanh([[MUL]]) : tensor<8x64xbf16>
// CHECK-NEXT:    return [[TANH]] : tensor<8x64xbf16>
func.func @bf16_programs(%x: tensor<8x64xbf16>) -> tensor<8x64xbf16> {
  %half = arith.constant dense<5.0e-01> : tensor<8x64xbf16>
  %0 = arith.mulf %x, %half : tensor<8x64xbf16>
  %1 = math.tanh %0 : tensor<8x64xbf16>
  return %1 : tensor<8x64xbf16>
}

// -----

// The conversion of a number is the number: 1 in f64 is neutral in f32.
// CHECK-LABEL: func.func @converted_numbers_stay_neutral(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>) -> tensor<8x64xf32> {
// CHECK-NEXT:    return [[X]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @converted_numbers_stay_neutral(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %one = arith.constant 1.0 : f64
  %shape = tensor.empty() : tensor<8x64xf32>
  %product = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%shape : tensor<8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %unit = arith.truncf %one : f64 to f32
    %times = arith.mulf %in, %unit : f32
    linalg.yield %times : f32
  } -> tensor<8x64xf32>
  return %product : tensor<8x64xf32>
}

// -----

// How wide the program computes does not matter: f16 to f64 in one step or in two.
// CHECK-LABEL: func.func @f64_islands_are_folded(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[LOG:%.+]] = spyre.pointwise log([[EXP]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[LOG]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f64_islands_are_folded(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %log = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
    %wide = arith.extf %in : f16 to f64
    %e = math.exp %wide : f64
    %less_wide = arith.truncf %e : f64 to f32
    %l = math.log %less_wide : f32
    // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
    %wide_again = arith.extf %l : f32 to f64
    %narrow = arith.truncf %wide_again : f64 to f16
    linalg.yield %narrow : f16
  } -> tensor<8x64xf16>
  return %log : tensor<8x64xf16>
}

// -----

// Of many islands the first are named, and the others counted.
// expected-remark @+1 {{2 more groups of f32 values between f16 values are computed in the device's 16-bit format}}
func.func @many_islands(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
  %0 = arith.extf %x : tensor<4x64xf16> to tensor<4x64xf32>
  %1 = arith.addf %0, %0 : tensor<4x64xf32>
  %2 = arith.truncf %1 : tensor<4x64xf32> to tensor<4x64xf16>
  // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
  %3 = arith.extf %2 : tensor<4x64xf16> to tensor<4x64xf32>
  %4 = arith.mulf %3, %3 : tensor<4x64xf32>
  %5 = arith.truncf %4 : tensor<4x64xf32> to tensor<4x64xf16>
  // expected-remark @+1 {{f32 values between f16 values are computed in the device's 16-bit format}}
  %6 = arith.extf %5 : tensor<4x64xf16> to tensor<4x64xf32>
  %7 = arith.addf %6, %6 : tensor<4x64xf32>
  %8 = arith.truncf %7 : tensor<4x64xf32> to tensor<4x64xf16>
  %9 = arith.extf %8 : tensor<4x64xf16> to tensor<4x64xf32>
  %10 = arith.mulf %9, %9 : tensor<4x64xf32>
  %11 = arith.truncf %10 : tensor<4x64xf32> to tensor<4x64xf16>
  %12 = arith.extf %11 : tensor<4x64xf16> to tensor<4x64xf32>
  %13 = arith.addf %12, %12 : tensor<4x64xf32>
  %14 = arith.truncf %13 : tensor<4x64xf32> to tensor<4x64xf16>
  return %14 : tensor<4x64xf16>
}
