// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg=precision=strict %s | FileCheck %s

// CHECK-LABEL: func.func @programs_without_conversions_are_imported(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[EXP]]
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @programs_without_conversions_are_imported(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    linalg.yield %e : f16
  } -> tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f32_islands_are_kept(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %exp = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    // expected-error @+1 {{'arith.extf' op converts f16 to f32, which --precision strict does not support; give --precision mixed}}
    %wide = arith.extf %in : f16 to f32
    %e = math.exp %wide : f32
    %narrow = arith.truncf %e : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

func.func @f32_sums_of_f16_are_kept(%x: tensor<8x64xf16>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf32>) {
  ^bb0(%in: f16, %so_far: f32):
    // expected-error @+1 {{'arith.extf' op converts f16 to f32, which --precision strict does not support; give --precision mixed}}
    %wide = arith.extf %in : f16 to f32
    %more = arith.addf %so_far, %wide : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @f32_contractions_of_f16_are_kept(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf32>) {
  ^bb0(%a: f16, %b: f16, %so_far: f32):
    // expected-error @+1 {{'arith.extf' op converts f16 to f32, which --precision strict does not support; give --precision mixed}}
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %ab = arith.mulf %wide_a, %wide_b : f32
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

// A program of f32 stays f32 where the device has the functions.
// CHECK-LABEL: func.func @f32_programs(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>) -> tensor<8x64xf32> {
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf32>
// CHECK-NEXT:    return [[EXP]] : tensor<8x64xf32>
func.func @f32_programs(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = math.exp %x : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

func.func @f32_programs_that_the_device_lacks(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{'func.func' op requires 'tanh' in f32 (--precision strict), which the device does not have; give --precision mixed}}
  %y = math.tanh %x : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// Unused conversions are no errors, and are erased.
// CHECK-LABEL: func.func @unused_conversions(
// CHECK-NEXT:    return
func.func @unused_conversions(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = arith.extf %x : tensor<8x64xf16> to tensor<8x64xf32>
  return %x : tensor<8x64xf16>
}
