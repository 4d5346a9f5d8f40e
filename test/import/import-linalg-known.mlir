// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// Constants are folded.
// CHECK-LABEL: func.func @causal_mask(
// CHECK-SAME:    [[X:%.+]]: tensor<3x3xf16>) -> tensor<3x3xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<{{\[\[}}0.000000e+00, 0xFC00, 0xFC00], [0.000000e+00, 0.000000e+00, 0xFC00], [0.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<3x3xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[X]], [[NUMBER]]) : tensor<3x3xf16>
// CHECK-NEXT:    return [[ADD]] : tensor<3x3xf16>

// A causal mask as JAX writes it: iota against iota, then a choice between two numbers.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @causal_mask(%x: tensor<3x3xf16>) -> tensor<3x3xf16> {
  %lowest = arith.constant 0xFC00 : f16
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<3x3xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x3xf16>) outs(%shape : tensor<3x3xf16>) {
  ^bb0(%in: f16, %out: f16):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %r = arith.index_cast %row : index to i32
    %c = arith.index_cast %column : index to i32
    %seen = arith.cmpi sge, %r, %c : i32
    %bias = arith.select %seen, %zero, %lowest : f16
    %s = arith.addf %in, %bias : f16
    linalg.yield %s : f16
  } -> tensor<3x3xf16>
  return %y : tensor<3x3xf16>
}

// -----

// A causal mask as torch-mlir writes it: Booleans over several generics, with i64 positions.
// CHECK-LABEL: func.func @causal_mask_over_several_generics(
// CHECK-SAME:    [[X:%.+]]: tensor<2x2xf16>) -> tensor<2x2xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00]]> : tensor<2x2xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<-6.550400e+04> : tensor<1x1xf16>
// CHECK-NEXT:    [[WHERE3:%.+]] = spyre.pointwise where3([[NUMBER]], [[X]], [[NUMBER2]]) : (tensor<2x2xf16>, tensor<2x2xf16>, tensor<1x1xf16>) -> tensor<2x2xf16>
// CHECK-NEXT:    return [[WHERE3]] : tensor<2x2xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#line = affine_map<(d0) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @causal_mask_over_several_generics(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %positions_shape = tensor.empty() : tensor<2xi64>
  %positions = linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%positions_shape : tensor<2xi64>) {
  ^bb0(%out: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    linalg.yield %1 : i64
  } -> tensor<2xi64>
  %mask_shape = tensor.empty() : tensor<2x2xi1>
  %mask = linalg.generic {indexing_maps = [#column, #row, #same], iterator_types = ["parallel", "parallel"]} ins(%positions, %positions : tensor<2xi64>, tensor<2xi64>) outs(%mask_shape : tensor<2x2xi1>) {
  ^bb0(%c: i64, %r: i64, %out: i1):
    %0 = arith.cmpi sle, %c, %r : i64
    linalg.yield %0 : i1
  } -> tensor<2x2xi1>
  %lowest = arith.constant -6.550400e+04 : f16
  %shape = tensor.empty() : tensor<2x2xf16>
  %y = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%mask, %x : tensor<2x2xi1>, tensor<2x2xf16>) outs(%shape : tensor<2x2xf16>) {
  ^bb0(%m: i1, %in: f16, %out: f16):
    %0 = arith.select %m, %in, %lowest : f16
    linalg.yield %0 : f16
  } -> tensor<2x2xf16>
  return %y : tensor<2x2xf16>
}

// -----

// Rotary embeddings of constant positions: functions that the device lacks are folded.
// CHECK-LABEL: func.func @functions_that_the_device_lacks(
// CHECK-SAME:    ) -> tensor<2xf32> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    return [[NUMBER]] : tensor<2xf32>
#line = affine_map<(d0) -> (d0)>
func.func @functions_that_the_device_lacks() -> tensor<2xf32> {
  %half_pi = arith.constant 1.57079637 : f32
  %shape = tensor.empty() : tensor<2xf32>
  %y = linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%shape : tensor<2xf32>) {
  ^bb0(%out: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.sitofp %1 : i64 to f32
    %3 = arith.mulf %2, %half_pi : f32
    %4 = math.sin %3 : f32
    linalg.yield %4 : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// Constants of several numbers, transposed and reshaped.
// CHECK-LABEL: func.func @tables(
// CHECK-SAME:    [[X:%.+]]: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<6xf16>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00]> : tensor<6xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00], [2.000000e+00, 4.000000e+00, 6.000000e+00]]> : tensor<2x3xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[NUMBER2]]) : tensor<2x3xf16>
// CHECK-NEXT:    return [[MUL]], [[NUMBER]] : tensor<2x3xf16>, tensor<6xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
func.func @tables(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<6xf16>) {
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf16>
  %shape = tensor.empty() : tensor<2x3xf16>
  %y = linalg.generic {indexing_maps = [#same, #transposed, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %table : tensor<2x3xf16>, tensor<3x2xf16>) outs(%shape : tensor<2x3xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %0 = arith.mulf %a, %b : f16
    linalg.yield %0 : f16
  } -> tensor<2x3xf16>
  %flat = tensor.collapse_shape %table [[0, 1]] : tensor<3x2xf16> into tensor<6xf16>
  return %y, %flat : tensor<2x3xf16>, tensor<6xf16>
}

// -----

// Returned numbers are constants of the result's shape, in whatever way they are written.
// CHECK-LABEL: func.func @returned_numbers(
// CHECK-SAME:    ) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<3xf16>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<2.000000e+00> : tensor<8x64xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<3.000000e+00> : tensor<8x64xf16>
// CHECK-NEXT:    [[NUMBER3:%.+]] = spyre.constant dense<5.000000e+00> : tensor<8x64xf16>
// CHECK-NEXT:    [[NUMBER4:%.+]] = spyre.constant dense<[3.000000e+00, 3.000000e+00, 0.000000e+00]> : tensor<3xf16>
// CHECK-NEXT:    return [[NUMBER]], [[NUMBER2]], [[NUMBER3]], [[NUMBER4]] : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<3xf16>
func.func @returned_numbers() -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<3xf16>) {
  %zero = arith.constant 0.0 : f16
  %two = arith.constant dense<2.0> : tensor<8x64xf16>
  %three = arith.constant 3.0 : f16
  %splat = tensor.splat %three : tensor<8x64xf16>
  %shape = tensor.empty() : tensor<8x64xf16>
  %filled = linalg.fill ins(%three : f16) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  %sum = arith.addf %filled, %two : tensor<8x64xf16>
  %elements = tensor.from_elements %three, %three, %zero : tensor<3xf16>
  return %two, %splat, %sum, %elements : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>, tensor<3xf16>
}

// -----

// Reductions of constants.
// CHECK-LABEL: func.func @reduced_constants(
// CHECK-SAME:    ) -> (tensor<2xf16>, tensor<2xf16>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.280000e+02> : tensor<2xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf16>
// CHECK-NEXT:    return [[NUMBER]], [[NUMBER2]] : tensor<2xf16>, tensor<2xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @reduced_constants() -> (tensor<2xf16>, tensor<2xf16>) {
  %zero = arith.constant dense<0.0> : tensor<2xf16>
  %two = arith.constant dense<2.0> : tensor<2x64xf16>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%two : tensor<2x64xf16>) outs(%zero : tensor<2xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.addf %in, %out : f16
    linalg.yield %0 : f16
  } -> tensor<2xf16>
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%table : tensor<2x2xf16>) outs(%zero : tensor<2xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.maximumf %in, %out : f16
    linalg.yield %0 : f16
  } -> tensor<2xf16>
  return %sum, %max : tensor<2xf16>, tensor<2xf16>
}

// -----

// A Boolean converts to the unsigned number 0 or 1.
// CHECK-LABEL: func.func @known_truth_values(
// CHECK-SAME:    ) -> tensor<2xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf16>
// CHECK-NEXT:    return [[NUMBER]] : tensor<2xf16>
func.func @known_truth_values() -> tensor<2xf16> {
  %mask = arith.constant dense<[true, false]> : tensor<2xi1>
  %true = arith.constant dense<true> : tensor<2xi1>
  %both = arith.andi %mask, %true : tensor<2xi1>
  %number = arith.uitofp %both : tensor<2xi1> to tensor<2xf16>
  return %number : tensor<2xf16>
}

// -----

// A scalar operand, a tensor without dimensions, and one element of a tensor without dimensions.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[SCALE:%.+]]: tensor<f16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<3.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[SCALE]] by affine_map<(d0, d1) -> ()> : tensor<f16> -> tensor<1x1xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[MUL]], [[VIEW]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[ADD]], [[VIEW]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[SUB]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @scalars(%x: tensor<8x64xf16>, %scale: tensor<f16>) -> tensor<8x64xf16> {
  %three = arith.constant 3.0 : f16
  %number = tensor.extract %scale[] : tensor<f16>
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #none, #none, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %three, %scale : tensor<8x64xf16>, f16, tensor<f16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %a: f16, %b: f16, %out: f16):
    %0 = arith.mulf %in, %a : f16
    %1 = arith.addf %0, %b : f16
    %2 = arith.subf %1, %number : f16
    linalg.yield %2 : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// A scale that f16 cannot hold: 1/3 stays f32, which the device's own format holds better.
// CHECK-LABEL: func.func @inexact_numbers(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.333333343> : tensor<1x1xf32>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[NUMBER]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<1x1xf32> -> tensor<1x1xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[VIEW]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[MUL]] : tensor<8x64xf16>
func.func @inexact_numbers(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %third = arith.constant 0.333333343 : f32
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %w = arith.extf %in : f16 to f32
    %0 = arith.mulf %w, %third : f32
    %n = arith.truncf %0 : f32 to f16
    linalg.yield %n : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// Small weights count as constants, also as resources.
// CHECK-LABEL: func.func @resources(
// CHECK-SAME:    [[X:%.+]]: tensor<2x4xf16>) -> tensor<2x4xf16> {
// CHECK-NEXT:    return [[X]] : tensor<2x4xf16>
func.func @resources(%x: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %weight = arith.constant dense_resource<weight> : tensor<2x4xf16>
  %y = arith.mulf %x, %weight : tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}
{-#
  dialect_resources: {
    builtin: {
      weight: "0x04000000003C003C003C003C003C003C003C003C"
    }
  }
#-}

// -----

// An assertion that holds.
// CHECK-LABEL: func.func @assertions(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    return [[X]] : tensor<8x64xf16>
func.func @assertions(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : index
  %rows = tensor.dim %x, %zero : tensor<8x64xf16>
  %fits = arith.cmpi eq, %rows, %c8 : index
  cf.assert %fits, "mismatching contracting dimension"
  return %x : tensor<8x64xf16>
}

// -----

// An unused argmax: PyTorch's max returns both.
// CHECK-LABEL: func.func @unused_argmax(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[MAX]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    return [[VIEW]] : tensor<8xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @unused_argmax(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %lowest = arith.constant dense<0xFC00> : tensor<8xf16>
  %first = arith.constant dense<0> : tensor<8xi64>
  %max:2 = linalg.generic {indexing_maps = [#same, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%lowest, %first : tensor<8xf16>, tensor<8xi64>) {
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

// Constants that a hint scope yields are known outside of it: a permuted table, and a table of one dimension that is one number.
// CHECK-LABEL: func.func @known_in_a_scope(
// CHECK-DAG:     [[ZERO:%.+]] = spyre.constant dense<0.000000e+00> : tensor<4xf16>
// CHECK-DAG:     [[ONE:%.+]] = spyre.constant dense<1.000000e+00> : tensor<128xf16>
// CHECK:         [[SCOPE:%.+]]:2 = spyre.hint tiles(A = 2) {
// CHECK:         return [[SCOPE]]#1, [[ONE]], [[ZERO]]
func.func @known_in_a_scope(%x: tensor<64xf16>, %index: tensor<4xi64>) -> (tensor<64xf16>, tensor<128xf16>, tensor<4xf16>) {
  %table, %y = spyre.hint tiles(A = 2) {
    %one = arith.constant dense<1.0> : tensor<64xf16>
    %y = arith.addf %x, %one : tensor<64xf16>
    spyre.yield %one, %y : tensor<64xf16>, tensor<64xf16>
  }
  %e = tensor.empty() : tensor<128xf16>
  %twice = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<128xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %two = arith.constant 2 : index
    %n = arith.floordivsi %i, %two : index
    %q = tensor.extract %table[%n] : tensor<64xf16>
    linalg.yield %q : f16
  } -> tensor<128xf16>
  %zeros = arith.subf %table, %table : tensor<64xf16>
  %f = tensor.empty() : tensor<4xf16>
  %looked = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%index : tensor<4xi64>) outs(%f : tensor<4xf16>) {
  ^bb0(%at: i64, %out: f16):
    %n = arith.index_cast %at : i64 to index
    %q = tensor.extract %zeros[%n] : tensor<64xf16>
    linalg.yield %q : f16
  } -> tensor<4xf16>
  return %y, %twice, %looked : tensor<64xf16>, tensor<128xf16>, tensor<4xf16>
}

// -----

// `log((7 - fl(7 + eps)) + eps)` of f32 is the logarithm of eps: the difference is 0 as the program rounds it, and exactly it is -eps.
// CHECK-LABEL: func.func @pole_that_rounding_avoids(
// CHECK:         spyre.constant dense<[-16.1180954, 1.38629436]> : tensor<2xf32>
func.func @pole_that_rounding_avoids(%x: tensor<2xf32>) -> tensor<2xf32> {
  %seven = arith.constant dense<7.0> : tensor<2xf32>
  %eps = arith.constant dense<1.0e-07> : tensor<2xf32>
  %count = arith.constant dense<[7.0, 3.0]> : tensor<2xf32>
  %shifted = arith.addf %count, %eps : tensor<2xf32>
  %rest = arith.subf %seven, %shifted : tensor<2xf32>
  %positive = arith.addf %rest, %eps : tensor<2xf32>
  %log = math.log %positive : tensor<2xf32>
  %y = arith.addf %x, %log : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// The same in f64 with eps = 2^-24, where the sum is exact as written: the logarithm of 0, which f32 would round to the one of eps.
// CHECK-LABEL: func.func @pole_of_f64(
// CHECK:         spyre.constant dense<[0xFF800000, 1.38629436]> : tensor<2xf32>
func.func @pole_of_f64(%x: tensor<2xf32>) -> tensor<2xf32> {
  %seven = arith.constant dense<7.0> : tensor<2xf64>
  %eps = arith.constant dense<5.9604644775390625e-08> : tensor<2xf64>
  %count = arith.constant dense<[7.0, 3.0]> : tensor<2xf64>
  %shifted = arith.addf %count, %eps : tensor<2xf64>
  %rest = arith.subf %seven, %shifted : tensor<2xf64>
  %positive = arith.addf %rest, %eps : tensor<2xf64>
  %log = math.log %positive : tensor<2xf64>
  %narrow = arith.truncf %log : tensor<2xf64> to tensor<2xf32>
  %y = arith.addf %x, %narrow : tensor<2xf32>
  return %y : tensor<2xf32>
}
