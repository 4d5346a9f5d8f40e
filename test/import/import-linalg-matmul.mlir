// RUN: spyre-opt --split-input-file --spyre-import-linalg --mlir-print-local-scope %s | FileCheck %s

// CHECK-LABEL: func.func @a_sum_of_products_is_a_matmul(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<64x128xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[Y]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]]
func.func @a_sum_of_products_is_a_matmul(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}

// -----

// The left operand is the factor with the rows of the result, in either operand order.
// CHECK-LABEL: func.func @factors_have_no_order(
// CHECK-SAME:    [[Y:%.+]]: tensor<64x128xf16>, [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[Y]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]]
func.func @factors_have_no_order(%y: tensor<64x128xf16>, %x: tensor<8x64xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%y, %x : tensor<64x128xf16>, tensor<8x64xf16>) outs(%zero : tensor<8x128xf16>) {
  ^bb0(%b: f16, %a: f16, %so_far: f16):
    %ab = arith.mulf %b, %a : f16
    %more = arith.addf %ab, %so_far : f16
    linalg.yield %more : f16
  } -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}

// -----

// CHECK-LABEL: func.func @transposed_factors_are_views(
// CHECK-SAME:    [[X:%.+]]: tensor<64x8xf16>, [[Y:%.+]]: tensor<128x64xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[LHS:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x8xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    [[RHS:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x64xf16> -> tensor<64x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[LHS]], [[RHS]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]]
func.func @transposed_factors_are_views(%x: tensor<64x8xf16>, %y: tensor<128x64xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<64x8xf16>, tensor<128x64xf16>) outs(%zero : tensor<8x128xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}

// -----

// The result's first dimension gives the rows, so a product that is written transposed is the product of the other factor
// with this one.
// CHECK-LABEL: func.func @transposed_products_exchange_the_factors(
// CHECK-SAME:    [[X:%.+]]: tensor<96x64xf16>, [[Y:%.+]]: tensor<64x128xf16>) -> tensor<128x96xf16> {
// CHECK-NEXT:    [[LHS:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x128xf16> -> tensor<128x64xf16>
// CHECK-NEXT:    [[RHS:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<96x64xf16> -> tensor<64x96xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[LHS]], [[RHS]]) : (tensor<128x64xf16>, tensor<64x96xf16>) -> tensor<128x96xf16>
// CHECK-NEXT:    return [[PRODUCT]]
func.func @transposed_products_exchange_the_factors(%x: tensor<96x64xf16>, %y: tensor<64x128xf16>) -> tensor<128x96xf16> {
  %zero = arith.constant dense<0.0> : tensor<128x96xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<96x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<128x96xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<128x96xf16>
  return %product : tensor<128x96xf16>
}

// -----

// CHECK-LABEL: func.func @a_matrix_times_its_transpose(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x8xf16> {
// CHECK-NEXT:    [[RHS:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
// CHECK-NEXT:    [[GRAM:%.+]] = spyre.matmul([[X]], [[RHS]]) : (tensor<8x64xf16>, tensor<64x8xf16>) -> tensor<8x8xf16>
// CHECK-NEXT:    return [[GRAM]]
func.func @a_matrix_times_its_transpose(%x: tensor<8x64xf16>) -> tensor<8x8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf16>
  %gram = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %x : tensor<8x64xf16>, tensor<8x64xf16>) outs(%zero : tensor<8x8xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<8x8xf16>
  return %gram : tensor<8x8xf16>
}

// -----

// The order of attention heads: batch dimensions come first in a matmul, wherever the factors have them.
// CHECK-LABEL: func.func @batch_dims_come_first(
// CHECK-SAME:    [[Q:%.+]]: tensor<8x4x64xf16>, [[K:%.+]]: tensor<16x4x64xf16>) -> tensor<8x4x16xf16> {
// CHECK-NEXT:    [[LHS:%.+]] = spyre.view [[Q]] by affine_map<(d0, d1, d2) -> (d1, d0, d2)> : tensor<8x4x64xf16> -> tensor<4x8x64xf16>
// CHECK-NEXT:    [[RHS:%.+]] = spyre.view [[K]] by affine_map<(d0, d1, d2) -> (d2, d0, d1)> : tensor<16x4x64xf16> -> tensor<4x64x16xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[LHS]], [[RHS]]) : (tensor<4x8x64xf16>, tensor<4x64x16xf16>) -> tensor<4x8x16xf16>
// CHECK-NEXT:    [[SCORES:%.+]] = spyre.view [[PRODUCT]] by affine_map<(d0, d1, d2) -> (d1, d0, d2)> : tensor<4x8x16xf16> -> tensor<8x4x16xf16>
// CHECK-NEXT:    return [[SCORES]]
func.func @batch_dims_come_first(%q: tensor<8x4x64xf16>, %k: tensor<16x4x64xf16>) -> tensor<8x4x16xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x4x16xf16>
  %scores = linalg.generic {indexing_maps = [affine_map<(m, h, n, k) -> (m, h, k)>, affine_map<(m, h, n, k) -> (n, h, k)>, affine_map<(m, h, n, k) -> (m, h, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<8x4x64xf16>, tensor<16x4x64xf16>) outs(%zero : tensor<8x4x16xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<8x4x16xf16>
  return %scores : tensor<8x4x16xf16>
}

// -----

// Generic form of an f16 matmul with an f32 accumulator, whose result is rounded afterwards.
// CHECK-LABEL: func.func @f32_accumulators_are_the_device_s_own(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<64x128xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[Y]]) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]]
func.func @f32_accumulators_are_the_device_s_own(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<8x128xf32>) {
  ^bb0(%a: f16, %b: f16, %so_far: f32):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %ab = arith.mulf %wide_a, %wide_b : f32
    %more = arith.addf %so_far, %ab : f32
    linalg.yield %more : f32
  } -> tensor<8x128xf32>
  %shape = tensor.empty() : tensor<8x128xf16>
  %rounded = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<8x128xf32>) outs(%shape : tensor<8x128xf16>) {
  ^bb0(%in: f32, %out: f16):
    %narrow = arith.truncf %in : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<8x128xf16>
  return %rounded : tensor<8x128xf16>
}

// -----

// A matrix times a vector is a matmul with one row.
// CHECK-LABEL: func.func @a_product_with_a_vector_has_one_row(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<64xf16>) -> tensor<8xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d1)> : tensor<64xf16> -> tensor<1x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[VIEW]], [[VIEW2]]) : (tensor<1x64xf16>, tensor<64x8xf16>) -> tensor<1x8xf16>
// CHECK-NEXT:    [[VIEW3:%.+]] = spyre.view [[PRODUCT]] by affine_map<(d0) -> (0, d0)> : tensor<1x8xf16> -> tensor<8xf16>
// CHECK-NEXT:    return [[VIEW3]] : tensor<8xf16>
func.func @a_product_with_a_vector_has_one_row(%x: tensor<8x64xf16>, %y: tensor<64xf16>) -> tensor<8xf16> {
  %zero = arith.constant dense<0.0> : tensor<8xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<64xf16>) outs(%zero : tensor<8xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<8xf16>
  return %product : tensor<8xf16>
}

// -----

// A maximum of products is no contraction.
// CHECK-LABEL: func.func @a_maximum_of_products_is_no_matmul(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<64x128xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[LHS:%.+]] = spyre.view [[X]] by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<8x64xf16> -> tensor<8x1x64xf16>
// CHECK-NEXT:    [[RHS:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<64x128xf16> -> tensor<1x128x64xf16>
// CHECK-NEXT:    [[PRODUCTS:%.+]] = spyre.pointwise mul([[LHS]], [[RHS]]) : (tensor<8x1x64xf16>, tensor<1x128x64xf16>) -> tensor<8x128x64xf16>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[PRODUCTS]]) dims [2] : tensor<8x128x64xf16> -> tensor<8x128x1xf16>
func.func @a_maximum_of_products_is_no_matmul(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>) -> tensor<8x128xf16> {
  %lowest = arith.constant dense<0xFC00> : tensor<8x128xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<64x128xf16>) outs(%lowest : tensor<8x128xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.maximumf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}

// -----

// A weight that all matrices of a batch share is broadcast by a view, which has no data.
// CHECK-LABEL: func.func @a_shared_weight_is_repeated_by_a_view(
// CHECK-SAME:    [[X:%.+]]: tensor<4x8x64xf16>, [[WEIGHT:%.+]]: tensor<64x128xf16>) -> tensor<4x8x128xf16> {
// CHECK-NEXT:    [[RHS:%.+]] = spyre.view [[WEIGHT]] by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<64x128xf16> -> tensor<4x64x128xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[RHS]]) : (tensor<4x8x64xf16>, tensor<4x64x128xf16>) -> tensor<4x8x128xf16>
// CHECK-NEXT:    return [[PRODUCT]]
func.func @a_shared_weight_is_repeated_by_a_view(%x: tensor<4x8x64xf16>, %weight: tensor<64x128xf16>) -> tensor<4x8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<4x8x128xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %weight : tensor<4x8x64xf16>, tensor<64x128xf16>) outs(%zero : tensor<4x8x128xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<4x8x128xf16>
  return %product : tensor<4x8x128xf16>
}

// -----

// A dimension that only the right operand has is one of the columns.
// CHECK-LABEL: func.func @a_shared_left_operand_has_more_columns(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<4x64x128xf16>) -> tensor<4x8x128xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d1 floordiv 128, d0, d1 mod 128)> : tensor<4x64x128xf16> -> tensor<64x512xf16>
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[X]], [[VIEW]]) : (tensor<8x64xf16>, tensor<64x512xf16>) -> tensor<8x512xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[PRODUCT]] by affine_map<(d0, d1, d2) -> (d1, d0 * 128 + d2)> : tensor<8x512xf16> -> tensor<4x8x128xf16>
// CHECK-NEXT:    return [[VIEW2]] : tensor<4x8x128xf16>
func.func @a_shared_left_operand_has_more_columns(%x: tensor<8x64xf16>, %y: tensor<4x64x128xf16>) -> tensor<4x8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<4x8x128xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x64xf16>, tensor<4x64x128xf16>) outs(%zero : tensor<4x8x128xf16>) {
  ^bb0(%a: f16, %b: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<4x8x128xf16>
  return %product : tensor<4x8x128xf16>
}

// -----

// An unused third operand adds a reduction dimension: each product is added several times.
// CHECK-LABEL: func.func @repeated_products_are_no_matmul(
// CHECK-NOT:     spyre.matmul
// CHECK:         spyre.reduce sum({{.+}}) dims [3] : tensor<8x128x64x3xf16> -> tensor<8x128x64x1xf16>
// CHECK-NEXT:    spyre.reduce sum({{.+}}) dims [2] : tensor<8x128x64x1xf16> -> tensor<8x128x1x1xf16>
func.func @repeated_products_are_no_matmul(%x: tensor<8x64xf16>, %y: tensor<64x128xf16>, %times: tensor<3xf16>) -> tensor<8x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<8x128xf16>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k, r) -> (m, k)>, affine_map<(m, n, k, r) -> (k, n)>, affine_map<(m, n, k, r) -> (r)>, affine_map<(m, n, k, r) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %y, %times : tensor<8x64xf16>, tensor<64x128xf16>, tensor<3xf16>) outs(%zero : tensor<8x128xf16>) {
  ^bb0(%a: f16, %b: f16, %unused: f16, %so_far: f16):
    %ab = arith.mulf %a, %b : f16
    %more = arith.addf %so_far, %ab : f16
    linalg.yield %more : f16
  } -> tensor<8x128xf16>
  return %product : tensor<8x128xf16>
}
