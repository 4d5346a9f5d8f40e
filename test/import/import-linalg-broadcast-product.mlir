// RUN: spyre-opt --spyre-import-linalg --canonicalize --split-input-file --mlir-print-local-scope %s | FileCheck %s

// A decomposed einsum is one matmul: each factor is broadcast along a dimension of the other one.
// CHECK-LABEL: func.func @decomposed_einsum(
// CHECK-SAME:    [[X:%.+]]: tensor<3x16x7xf16>, [[Y:%.+]]: tensor<3x5x16xf16>)
// CHECK-NEXT:    [[PRODUCT:%.+]] = spyre.matmul([[Y]], [[X]]) : (tensor<3x5x16xf16>, tensor<3x16x7xf16>) -> tensor<3x5x7xf16>
// CHECK-NEXT:    return [[PRODUCT]]
#x = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#sum = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
func.func @decomposed_einsum(%x: tensor<3x16x7xf16>, %y: tensor<3x5x16xf16>) -> tensor<3x5x7xf16> {
  %e = tensor.empty() : tensor<3x5x7x16xf16>
  %p = linalg.generic {indexing_maps = [#x, #y, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %y : tensor<3x16x7xf16>, tensor<3x5x16xf16>) outs(%e : tensor<3x5x7x16xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %m = arith.mulf %a, %b : f16
    linalg.yield %m : f16
  } -> tensor<3x5x7x16xf16>
  %z = arith.constant 0.0 : f16
  %e1 = tensor.empty() : tensor<3x5x7xf16>
  %f = linalg.fill ins(%z : f16) outs(%e1 : tensor<3x5x7xf16>) -> tensor<3x5x7xf16>
  %s = linalg.generic {indexing_maps = [#all, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p : tensor<3x5x7x16xf16>) outs(%f : tensor<3x5x7xf16>) {
  ^bb0(%a: f16, %c: f16):
    %m = arith.addf %a, %c : f16
    linalg.yield %m : f16
  } -> tensor<3x5x7xf16>
  return %s : tensor<3x5x7xf16>
}

// -----

// In a program that the device computes in f32, there is no matmul of f32.
// CHECK-LABEL: func.func @single_precision(
// CHECK:         spyre.pointwise mul({{.+}} -> tensor<5x7x16xf32>
// CHECK-NEXT:    spyre.reduce sum(
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d1, d2)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#sum = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @single_precision(%x: tensor<5x16xf32>, %y: tensor<7x16xf32>) -> tensor<5x7xf32> {
  %e = tensor.empty() : tensor<5x7x16xf32>
  %p = linalg.generic {indexing_maps = [#x, #y, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %y : tensor<5x16xf32>, tensor<7x16xf32>) outs(%e : tensor<5x7x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<5x7x16xf32>
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<5x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<5x7xf32>) -> tensor<5x7xf32>
  %s = linalg.generic {indexing_maps = [#all, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : tensor<5x7x16xf32>) outs(%f : tensor<5x7xf32>) {
  ^bb0(%a: f32, %c: f32):
    %m = arith.addf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<5x7xf32>
  return %s : tensor<5x7xf32>
}
