// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// Functions that producers spell out: they are recognised by what they compute.
// CHECK-LABEL: func.func @sigmoid_in_one_body(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[SIGMOID:%.+]] = spyre.pointwise sigmoid([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SIGMOID]] : tensor<8x64xf16>

// PyTorch's sigmoid, as torch-mlir writes it.
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @sigmoid_in_one_body(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %one = arith.constant 1.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %n = arith.negf %in : f16
    %e = math.exp %n : f16
    %d = arith.addf %e, %one : f16
    %s = arith.divf %one, %d : f16
    linalg.yield %s : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// JAX writes one linalg.generic a step, and constants as tensors.
// CHECK-LABEL: func.func @sigmoid_over_several_generics(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[SIGMOID:%.+]] = spyre.pointwise sigmoid([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SIGMOID]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @sigmoid_over_several_generics(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %ones = arith.constant dense<1.0> : tensor<8x64xf16>
  %shape = tensor.empty() : tensor<8x64xf16>
  %n = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.negf %in : f16
    linalg.yield %0 : f16
  } -> tensor<8x64xf16>
  %e = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = math.exp %in : f16
    linalg.yield %0 : f16
  } -> tensor<8x64xf16>
  %d = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%ones, %e : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %0 = arith.addf %a, %b : f16
    linalg.yield %0 : f16
  } -> tensor<8x64xf16>
  %s = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%ones, %d : tensor<8x64xf16>, tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %0 = arith.divf %a, %b : f16
    linalg.yield %0 : f16
  } -> tensor<8x64xf16>
  return %s : tensor<8x64xf16>
}

// -----

// Elementwise operations on tensors, without linalg: sigmoid(x) = (1 + tanh(x / 2)) / 2.
// CHECK-LABEL: func.func @sigmoid_by_tanh_on_tensors(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[SIGMOID:%.+]] = spyre.pointwise sigmoid([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SIGMOID]] : tensor<8x64xf16>
func.func @sigmoid_by_tanh_on_tensors(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %half = arith.constant dense<0.5> : tensor<8x64xf16>
  %one = arith.constant dense<1.0> : tensor<8x64xf16>
  %0 = arith.mulf %x, %half : tensor<8x64xf16>
  %1 = math.tanh %0 : tensor<8x64xf16>
  %2 = arith.addf %1, %one : tensor<8x64xf16>
  %3 = arith.mulf %2, %half : tensor<8x64xf16>
  return %3 : tensor<8x64xf16>
}

// -----

// The gate of a gated layer keeps its other users.
// CHECK-LABEL: func.func @silu_and_its_gate(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[SIGMOID:%.+]] = spyre.pointwise sigmoid([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SILU:%.+]] = spyre.pointwise silu([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SILU]], [[SIGMOID]] : tensor<8x64xf16>, tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @silu_and_its_gate(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %one = arith.constant 1.0 : f32
  %shape = tensor.empty() : tensor<8x64xf16>
  %y:2 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape, %shape : tensor<8x64xf16>, tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16, %out1: f16):
    %w = arith.extf %in : f16 to f32
    %n = arith.negf %w : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %w, %d : f32
    %g = arith.divf %one, %d : f32
    %sn = arith.truncf %s : f32 to f16
    %gn = arith.truncf %g : f32 to f16
    linalg.yield %sn, %gn : f16, f16
  } -> (tensor<8x64xf16>, tensor<8x64xf16>)
  return %y#0, %y#1 : tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// ONNX: x * 0.5 * (1 + erf(x / 1.4142)).
// CHECK-LABEL: func.func @gelu_with_erf(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[GELUFWD:%.+]] = spyre.pointwise gelufwd([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[GELUFWD]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @gelu_with_erf(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %root = arith.constant 1.41421354 : f16
  %half = arith.constant 0.5 : f16
  %one = arith.constant 1.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %q = arith.divf %in, %root : f16
    %e = math.erf %q : f16
    %s = arith.addf %e, %one : f16
    %h = arith.mulf %in, %half : f16
    %g = arith.mulf %h, %s : f16
    linalg.yield %g : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// torch-mlir: the cumulative distribution first; a reshape stands between the steps.
// CHECK-LABEL: func.func @gelu_with_erf_behind_a_reshape(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
// CHECK-NEXT:    [[GELUFWD:%.+]] = spyre.pointwise gelufwd([[VIEW]]) : tensor<512xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[GELUFWD]] by affine_map<(d0, d1) -> (d0 * 64 + d1)> : tensor<512xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    return [[VIEW2]] : tensor<8x64xf16>
#same = affine_map<(d0) -> (d0)>
func.func @gelu_with_erf_behind_a_reshape(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %scale = arith.constant 0.707106769 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<8x64xf16> into tensor<512xf16>
  %shape = tensor.empty() : tensor<512xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%flat : tensor<512xf16>) outs(%shape : tensor<512xf16>) {
  ^bb0(%in: f16, %out: f16):
    %w = arith.extf %in : f16 to f32
    %q = arith.mulf %w, %scale : f32
    %e = math.erf %q : f32
    %s = arith.addf %one, %e : f32
    %h = arith.mulf %s, %half : f32
    %g = arith.mulf %h, %w : f32
    %n = arith.truncf %g : f32 to f16
    linalg.yield %n : f16
  } -> tensor<512xf16>
  %back = tensor.expand_shape %y [[0, 1]] output_shape [8, 64] : tensor<512xf16> into tensor<8x64xf16>
  return %back : tensor<8x64xf16>
}

// -----

// With tanh: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the cube as a power.
// CHECK-LABEL: func.func @gelu_with_tanh(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[GELUFWD:%.+]] = spyre.pointwise gelufwd([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[GELUFWD]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @gelu_with_tanh(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %cubic = arith.constant 4.471500e-02 : f16
  %root = arith.constant 0.797884583 : f16
  %half = arith.constant 0.5 : f16
  %one = arith.constant 1.0 : f16
  %three = arith.constant 3 : i64
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %c = math.fpowi %in, %three : f16, i64
    %k = arith.mulf %c, %cubic : f16
    %a = arith.addf %in, %k : f16
    %s = arith.mulf %a, %root : f16
    %t = math.tanh %s : f16
    %p = arith.addf %t, %one : f16
    %h = arith.mulf %p, %half : f16
    %g = arith.mulf %in, %h : f16
    linalg.yield %g : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// Another factor is no gelu.
// CHECK-LABEL: func.func @almost_gelu(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<5.000000e-01> : tensor<1x1xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[TANH:%.+]] = spyre.pointwise tanh([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[TANH]], [[NUMBER2]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[ADD]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[MUL2:%.+]] = spyre.pointwise mul([[X]], [[MUL]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[MUL2]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @almost_gelu(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %half = arith.constant 0.5 : f16
  %one = arith.constant 1.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %t = math.tanh %in : f16
    %p = arith.addf %t, %one : f16
    %h = arith.mulf %p, %half : f16
    %g = arith.mulf %in, %h : f16
    linalg.yield %g : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// PyTorch's softplus is linear from a threshold on, as the device's is.
// CHECK-LABEL: func.func @softplus_with_a_threshold(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[SOFTPLUS:%.+]] = spyre.pointwise softplus([[X]]) {constants = array<f64: 1.000000e+00, 2.000000e+01>} : tensor<8x64xf16>
// CHECK-NEXT:    return [[SOFTPLUS]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @softplus_with_a_threshold(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %threshold = arith.constant 2.000000e+01 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %e = math.exp %in : f16
    %l = math.log1p %e : f16
    %c = arith.cmpf ogt, %in, %threshold : f16
    %s = arith.select %c, %in, %l : f16
    linalg.yield %s : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// relu as a maximum (JAX, TOSA), as a choice (torch-mlir), and as the other choice.
// CHECK-LABEL: func.func @relu_in_three_spellings(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[RELUFWD:%.+]] = spyre.pointwise relufwd([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[RELUFWD]], [[RELUFWD]], [[RELUFWD]] : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @relu_in_three_spellings(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y:3 = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape, %shape, %shape : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16, %out1: f16, %out2: f16):
    %max = arith.maximumf %zero, %in : f16
    %is_positive = arith.cmpf ugt, %in, %zero : f16
    %chosen = arith.select %is_positive, %in, %zero : f16
    %is_negative = arith.cmpf olt, %in, %zero : f16
    %other = arith.select %is_negative, %zero, %in : f16
    linalg.yield %max, %chosen, %other : f16, f16, f16
  } -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>)
  return %y#0, %y#1, %y#2 : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// torch.clamp is two choices, TOSA's clamp a minimum and a maximum, JAX's an operation.
// CHECK-LABEL: func.func @clamp_in_three_spellings(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
// CHECK-NEXT:    [[CLIP:%.+]] = spyre.pointwise clip([[X]]) {constants = array<f64: -1.000000e+00, 6.000000e+00>} : tensor<8x64xf16>
// CHECK-NEXT:    return [[CLIP]], [[CLIP]], [[CLIP]] : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @clamp_in_three_spellings(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %low = arith.constant -1.0 : f16
  %high = arith.constant 6.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y:3 = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape, %shape, %shape : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16, %out1: f16, %out2: f16):
    %is_low = arith.cmpf ult, %in, %low : f16
    %above = arith.select %is_low, %low, %in : f16
    %is_high = arith.cmpf ugt, %above, %high : f16
    %torch = arith.select %is_high, %high, %above : f16
    %below = arith.minimumf %in, %high : f16
    %tosa = arith.maximumf %below, %low : f16
    %clamped = math.clampf %in to [%low, %high] : f16
    linalg.yield %torch, %tosa, %clamped : f16, f16, f16
  } -> (tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>)
  return %y#0, %y#1, %y#2 : tensor<8x64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

// -----

// A mean over rows that keeps the dimension: torch-mlir divides by a count that it converts from an integer.
// CHECK-LABEL: func.func @mean_of_a_kept_dim(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x1xf16> {
// CHECK-NEXT:    [[MEAN:%.+]] = spyre.reduce mean([[X]]) dims [1] {constants = array<f64: 1.562500e-02>} : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    return [[MEAN]] : tensor<8x1xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @mean_of_a_kept_dim(%x: tensor<8x64xf16>) -> tensor<8x1xf16> {
  %zero = arith.constant 0.0 : f16
  %count = arith.constant 64 : i64
  %shape = tensor.empty() : tensor<8x1xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<8x1xf16>) -> tensor<8x1xf16>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%start : tensor<8x1xf16>) {
  ^bb0(%in: f16, %out: f16):
    %s = arith.addf %in, %out : f16
    linalg.yield %s : f16
  } -> tensor<8x1xf16>
  %mean = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<8x1xf16>) outs(%shape : tensor<8x1xf16>) {
  ^bb0(%in: f16, %out: f16):
    %n = arith.sitofp %count : i64 to f16
    %q = arith.divf %in, %n : f16
    linalg.yield %q : f16
  } -> tensor<8x1xf16>
  return %mean : tensor<8x1xf16>
}

// -----

// JAX drops the dimensions, multiplies by a reciprocal, and shows the result repeated.
// CHECK-LABEL: func.func @mean_of_two_dropped_dims(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x64xf16>) -> tensor<4x8x64xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [2] : tensor<4x8x64xf16> -> tensor<4x8x1xf16>
// CHECK-NEXT:    [[MEAN:%.+]] = spyre.reduce mean([[SUM]]) dims [1] {constants = array<f64: 0.001953125>} : tensor<4x8x1xf16> -> tensor<4x1x1xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[X]], [[MEAN]]) : (tensor<4x8x64xf16>, tensor<4x1x1xf16>) -> tensor<4x8x64xf16>
// CHECK-NEXT:    return [[SUB]] : tensor<4x8x64xf16>
#matrices = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#first = affine_map<(d0, d1, d2) -> (d0)>
#line = affine_map<(d0) -> (d0)>
func.func @mean_of_two_dropped_dims(%x: tensor<4x8x64xf16>) -> tensor<4x8x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<4xf16>
  %reciprocal = arith.constant dense<0.001953125> : tensor<4xf16>
  %sum = linalg.generic {indexing_maps = [#matrices, #first], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<4x8x64xf16>) outs(%zero : tensor<4xf16>) {
  ^bb0(%in: f16, %out: f16):
    %s = arith.addf %out, %in : f16
    linalg.yield %s : f16
  } -> tensor<4xf16>
  %shape = tensor.empty() : tensor<4xf16>
  %mean = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]} ins(%reciprocal, %sum : tensor<4xf16>, tensor<4xf16>) outs(%shape : tensor<4xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %p = arith.mulf %a, %b : f16
    linalg.yield %p : f16
  } -> tensor<4xf16>
  %matrices = tensor.empty() : tensor<4x8x64xf16>
  %centred = linalg.generic {indexing_maps = [#matrices, #first, #matrices], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean : tensor<4x8x64xf16>, tensor<4xf16>) outs(%matrices : tensor<4x8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %d = arith.subf %a, %b : f16
    linalg.yield %d : f16
  } -> tensor<4x8x64xf16>
  return %centred : tensor<4x8x64xf16>
}

// -----

// ONNX keeps the dimension by a reshape between sum and division.
// CHECK-LABEL: func.func @mean_behind_a_reshape(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x1xf16> {
// CHECK-NEXT:    [[MEAN:%.+]] = spyre.reduce mean([[X]]) dims [1] {constants = array<f64: 1.562500e-02>} : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    return [[MEAN]] : tensor<8x1xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @mean_behind_a_reshape(%x: tensor<8x64xf16>) -> tensor<8x1xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %count = arith.constant 6.400000e+01 : f32
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf32>) {
  ^bb0(%in: f16, %out: f32):
    %w = arith.extf %in : f16 to f32
    %s = arith.addf %w, %out : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %column = tensor.expand_shape %sum [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %shape = tensor.empty() : tensor<8x1xf16>
  %mean = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%column : tensor<8x1xf32>) outs(%shape : tensor<8x1xf16>) {
  ^bb0(%in: f32, %out: f16):
    %q = arith.divf %in, %count : f32
    %n = arith.truncf %q : f32 to f16
    linalg.yield %n : f16
  } -> tensor<8x1xf16>
  return %mean : tensor<8x1xf16>
}

// -----

// A sum of some of the elements over the number of all is no mean.
// CHECK-LABEL: func.func @quotient_of_a_sum(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<6.300000e+01> : tensor<1xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[SUM]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[VIEW]], [[NUMBER]]) : (tensor<8xf16>, tensor<1xf16>) -> tensor<8xf16>
// CHECK-NEXT:    return [[REALDIV]] : tensor<8xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @quotient_of_a_sum(%x: tensor<8x64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %count = arith.constant dense<6.300000e+01> : tensor<8xf16>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%in: f16, %out: f16):
    %s = arith.addf %in, %out : f16
    linalg.yield %s : f16
  } -> tensor<8xf16>
  %quotient = arith.divf %sum, %count : tensor<8xf16>
  return %quotient : tensor<8xf16>
}

// -----

// The mean of everything is a tensor without dimensions.
// CHECK-LABEL: func.func @mean_of_everything(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[MEAN:%.+]] = spyre.reduce mean([[SUM]]) dims [0] {constants = array<f64: 0.001953125>} : tensor<8x1xf16> -> tensor<1x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[MEAN]] by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[X]], [[VIEW]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[SUB]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @mean_of_everything(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<f16>
  %count = arith.constant dense<5.120000e+02> : tensor<f16>
  %sum = linalg.generic {indexing_maps = [#same, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<8x64xf16>) outs(%zero : tensor<f16>) {
  ^bb0(%in: f16, %out: f16):
    %s = arith.addf %in, %out : f16
    linalg.yield %s : f16
  } -> tensor<f16>
  %mean = arith.divf %sum, %count : tensor<f16>
  %number = tensor.extract %mean[] : tensor<f16>
  %shape = tensor.empty() : tensor<8x64xf16>
  %repeated = linalg.fill ins(%number : f16) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  %centred = arith.subf %x, %repeated : tensor<8x64xf16>
  return %centred : tensor<8x64xf16>
}
