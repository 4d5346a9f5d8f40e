// RUN: spyre-opt --split-input-file --pass-pipeline='builtin.module(spyre-import-linalg,canonicalize)' --mlir-print-local-scope %s | FileCheck %s

// Initial values and dimensions of contractions.
// CHECK-LABEL: func.func @onto_a_bias(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[WEIGHT:%.+]]: tensor<64x128xf16>, [[BIAS:%.+]]: tensor<128xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[BIAS]] by affine_map<(d0, d1) -> (d1)> : tensor<128xf16> -> tensor<8x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[WEIGHT]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[PRODUCT]], [[VIEW]]) : tensor<8x128xf16>
// CHECK-NEXT:    return [[ADD]] : tensor<8x128xf16>

// A linear layer that accumulates onto its bias, as torch.addmm.
func.func @onto_a_bias(%x: tensor<8x64xf16>, %weight: tensor<64x128xf16>, %bias: tensor<128xf16>) -> tensor<8x128xf16> {
  %shape = tensor.empty() : tensor<8x128xf16>
  %start = linalg.broadcast ins(%bias : tensor<128xf16>) outs(%shape : tensor<8x128xf16>) dimensions = [0]
  %y = linalg.matmul ins(%x, %weight : tensor<8x64xf16>, tensor<64x128xf16>) outs(%start : tensor<8x128xf16>) -> tensor<8x128xf16>
  return %y : tensor<8x128xf16>
}

// -----

// A residual is added in the same way, and the initial value may be a number.
// CHECK-LABEL: func.func @onto_a_tensor(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[WEIGHT:%.+]]: tensor<64x128xf16>, [[RESIDUAL:%.+]]: tensor<8x128xf16>) -> (tensor<8x128xf16>, tensor<8x128xf16>) {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[WEIGHT]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[PRODUCT]], [[RESIDUAL]]) : tensor<8x128xf16>
// CHECK-NEXT:    [[ADD2:%.+]] = spyre.pointwise add([[PRODUCT]], [[NUMBER]]) : (tensor<8x128xf16>, tensor<1x1xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    return [[ADD]], [[ADD2]] : tensor<8x128xf16>, tensor<8x128xf16>
func.func @onto_a_tensor(%x: tensor<8x64xf16>, %weight: tensor<64x128xf16>, %residual: tensor<8x128xf16>) -> (tensor<8x128xf16>, tensor<8x128xf16>) {
  %one = arith.constant 1.0 : f16
  %shape = tensor.empty() : tensor<8x128xf16>
  %ones = linalg.fill ins(%one : f16) outs(%shape : tensor<8x128xf16>) -> tensor<8x128xf16>
  %y = linalg.matmul ins(%x, %weight : tensor<8x64xf16>, tensor<64x128xf16>) outs(%residual : tensor<8x128xf16>) -> tensor<8x128xf16>
  %z = linalg.matmul ins(%x, %weight : tensor<8x64xf16>, tensor<64x128xf16>) outs(%ones : tensor<8x128xf16>) -> tensor<8x128xf16>
  return %y, %z : tensor<8x128xf16>, tensor<8x128xf16>
}

// -----

// A reduction onto a tensor, and a maximum onto a number: relu of the maximum.
// CHECK-LABEL: func.func @reductions_onto_something(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[START:%.+]]: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[SUM]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    [[ADD:%.+]] = spyre.pointwise add([[VIEW]], [[START]]) : tensor<8xf16>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[MAX]] by affine_map<(d0) -> (d0, 0)> : tensor<8x1xf16> -> tensor<8xf16>
// CHECK-NEXT:    [[RELUFWD:%.+]] = spyre.pointwise relufwd([[VIEW2]]) : tensor<8xf16>
// CHECK-NEXT:    return [[ADD]], [[RELUFWD]] : tensor<8xf16>, tensor<8xf16>
func.func @reductions_onto_something(%x: tensor<8x64xf16>, %start: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<8x64xf16>) outs(%start : tensor<8xf16>) dimensions = [1]
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<8x64xf16>) outs(%zero : tensor<8xf16>) dimensions = [1]
  return %sum, %max : tensor<8xf16>, tensor<8xf16>
}

// -----

// The batch dimensions of grouped-query attention: the keys lack one.
// CHECK-LABEL: func.func @keys_of_a_group(
// CHECK-SAME:    [[Q:%.+]]: tensor<2x4x8x64xf16>, [[K:%.+]]: tensor<2x16x64xf16>) -> tensor<2x4x8x16xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[K]] by affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x16x64xf16> -> tensor<2x4x64x16xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[Q]], [[VIEW]]) : (tensor<2x4x8x64xf16>, tensor<2x4x64x16xf16>) -> tensor<2x4x8x16xf16>
// CHECK-NEXT:    return [[PRODUCT]] : tensor<2x4x8x16xf16>
func.func @keys_of_a_group(%q: tensor<2x4x8x64xf16>, %k: tensor<2x16x64xf16>) -> tensor<2x4x8x16xf16> {
  %zero = arith.constant dense<0.0> : tensor<2x4x8x16xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(g, h, m, n, k) -> (g, h, m, k)>, affine_map<(g, h, m, n, k) -> (g, n, k)>, affine_map<(g, h, m, n, k) -> (g, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x8x64xf16>, tensor<2x16x64xf16>) outs(%zero : tensor<2x4x8x16xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %out, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<2x4x8x16xf16>
  return %s : tensor<2x4x8x16xf16>
}

// -----

// A batch of size 1 is no batch dimension of the matmul, but the result keeps its position.
// CHECK-LABEL: func.func @batch_of_one(
// CHECK-SAME:    [[X:%.+]]: tensor<1x8x64xf16>, [[Y:%.+]]: tensor<1x64x128xf16>) -> tensor<1x8x128xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (0, d0, d1)> : tensor<1x8x64xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (0, d0, d1)> : tensor<1x64x128xf16> -> tensor<64x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[VIEW]], [[VIEW2]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    [[VIEW3:%.+]] = spyre.view [[PRODUCT]] by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<8x128xf16> -> tensor<1x8x128xf16>
// CHECK-NEXT:    return [[VIEW3]] : tensor<1x8x128xf16>
func.func @batch_of_one(%x: tensor<1x8x64xf16>, %y: tensor<1x64x128xf16>) -> tensor<1x8x128xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<1x8x128xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<1x8x128xf16>) -> tensor<1x8x128xf16>
  %z = linalg.batch_matmul ins(%x, %y : tensor<1x8x64xf16>, tensor<1x64x128xf16>) outs(%start : tensor<1x8x128xf16>) -> tensor<1x8x128xf16>
  return %z : tensor<1x8x128xf16>
}

// -----

// The projection of all heads at once: the result has two dimensions for the columns (JAX's "bd,dhe->bhe").
// CHECK-LABEL: func.func @several_columns(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[WEIGHT:%.+]]: tensor<64x4x32xf16>) -> tensor<8x4x32xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[WEIGHT]] by affine_map<(d0, d1) -> (d0, d1 floordiv 32, d1 mod 32)> : tensor<64x4x32xf16> -> tensor<64x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[VIEW]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[PRODUCT]] by affine_map<(d0, d1, d2) -> (d0, d1 * 32 + d2)> : tensor<8x128xf16> -> tensor<8x4x32xf16>
// CHECK-NEXT:    return [[VIEW2]] : tensor<8x4x32xf16>
func.func @several_columns(%x: tensor<8x64xf16>, %weight: tensor<64x4x32xf16>) -> tensor<8x4x32xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x4x32xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(b, h, e, d) -> (b, d)>, affine_map<(b, h, e, d) -> (d, h, e)>, affine_map<(b, h, e, d) -> (b, h, e)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %weight : tensor<8x64xf16>, tensor<64x4x32xf16>) outs(%zero : tensor<8x4x32xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %out, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x4x32xf16>
  return %y : tensor<8x4x32xf16>
}

// -----

// The output projection sums over heads and their elements ("bhe,hed->bd").
// CHECK-LABEL: func.func @several_summed_dims(
// CHECK-SAME:    [[X:%.+]]: tensor<8x4x32xf16>, [[WEIGHT:%.+]]: tensor<4x32x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0, d1 floordiv 32, d1 mod 32)> : tensor<8x4x32xf16> -> tensor<8x128xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[WEIGHT]] by affine_map<(d0, d1) -> (d0 floordiv 32, d0 mod 32, d1)> : tensor<4x32x64xf16> -> tensor<128x64xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[VIEW]], [[VIEW2]]) : (tensor<8x128xf16>, tensor<128x64xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[PRODUCT]] : tensor<8x64xf16>
func.func @several_summed_dims(%x: tensor<8x4x32xf16>, %weight: tensor<4x32x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(b, d, h, e) -> (b, h, e)>, affine_map<(b, d, h, e) -> (h, e, d)>, affine_map<(b, d, h, e) -> (b, d)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %weight : tensor<8x4x32xf16>, tensor<4x32x64xf16>) outs(%zero : tensor<8x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %out, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// A vector times a matrix has one row as well.
// CHECK-LABEL: func.func @vector_times_matrix(
// CHECK-SAME:    [[X:%.+]]: tensor<64xf16>, [[WEIGHT:%.+]]: tensor<64x128xf16>) -> tensor<128xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d1)> : tensor<64xf16> -> tensor<1x64xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[VIEW]], [[WEIGHT]]) : (tensor<1x64xf16>, tensor<64x128xf16>) -> tensor<1x128xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[PRODUCT]] by affine_map<(d0) -> (0, d0)> : tensor<1x128xf16> -> tensor<128xf16>
// CHECK-NEXT:    return [[VIEW2]] : tensor<128xf16>
func.func @vector_times_matrix(%x: tensor<64xf16>, %weight: tensor<64x128xf16>) -> tensor<128xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<128xf16>
  %start = linalg.fill ins(%zero : f16) outs(%shape : tensor<128xf16>) -> tensor<128xf16>
  %y = linalg.vecmat ins(%x, %weight : tensor<64xf16>, tensor<64x128xf16>) outs(%start : tensor<128xf16>) -> tensor<128xf16>
  return %y : tensor<128xf16>
}

// -----

// A dot product becomes an elementwise product and a sum.
// CHECK-LABEL: func.func @dot_product(
// CHECK-SAME:    [[X:%.+]]: tensor<64xf16>, [[Y:%.+]]: tensor<64xf16>) -> tensor<f16> {
// CHECK-NEXT:    [[MUL:%.+]] = spyre.pointwise mul([[X]], [[Y]]) : tensor<64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[MUL]]) dims [0] : tensor<64xf16> -> tensor<1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[SUM]] by affine_map<() -> (0)> : tensor<1xf16> -> tensor<f16>
// CHECK-NEXT:    return [[VIEW]] : tensor<f16>
func.func @dot_product(%x: tensor<64xf16>, %y: tensor<64xf16>) -> tensor<f16> {
  %zero = arith.constant dense<0.0> : tensor<f16>
  %z = linalg.dot ins(%x, %y : tensor<64xf16>, tensor<64xf16>) outs(%zero : tensor<f16>) -> tensor<f16>
  return %z : tensor<f16>
}

// -----

// A matmul with a splat matrix is a matmul with the broadcast number.
// CHECK-LABEL: func.func @product_with_a_number(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<2.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[NUMBER]] by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<64x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[VIEW]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]] : tensor<8x128xf16>
func.func @product_with_a_number(%x: tensor<8x64xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %two = arith.constant dense<2.0> : tensor<64x128xf16>
  %y = linalg.matmul ins(%x, %two : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf16>) -> tensor<8x128xf16>
  return %y : tensor<8x128xf16>
}

// -----

// Values of 128 columns times the weights of two queries, as JAX writes attention: two columns fill no stick, and both factors have the
// layout of a matmul with two rows, so the factors are exchanged.
// CHECK-LABEL: func.func @few_columns(
// CHECK-SAME:    [[VALUES:%.+]]: tensor<4x96x128xf16>, [[WEIGHTS:%.+]]: tensor<4x2x96xf16>)
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[WEIGHTS]], [[VALUES]]) : (tensor<4x2x96xf16>, tensor<4x96x128xf16>) -> tensor<4x2x128xf16>
// CHECK-NEXT:    [[RESULT:%.+]] = spyre.view [[PRODUCT]] by affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-NEXT:    return [[RESULT]] : tensor<4x128x2xf16>
func.func @few_columns(%values: tensor<4x96x128xf16>, %weights: tensor<4x2x96xf16>) -> tensor<4x128x2xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<4x128x2xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<4x128x2xf16>) -> tensor<4x128x2xf16>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, d, q, k) -> (b, k, d)>, affine_map<(b, d, q, k) -> (b, q, k)>, affine_map<(b, d, q, k) -> (b, d, q)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%values, %weights : tensor<4x96x128xf16>, tensor<4x2x96xf16>) outs(%zeros : tensor<4x128x2xf16>) {
    ^bb0(%a: f16, %b: f16, %c: f16):
      %product = arith.mulf %a, %b : f16
      %next = arith.addf %c, %product : f16
      linalg.yield %next : f16
  } -> tensor<4x128x2xf16>
  return %sum : tensor<4x128x2xf16>
}
