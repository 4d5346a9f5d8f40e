// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s

// CHECK-LABEL: func.func @all(
// CHECK:         "stablehlo.scatter"(
// CHECK-SAME:      #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>
// CHECK:         "stablehlo.sort"(%{{.+}}) <{dimension = 1 : i64}>
// CHECK:         [[LAST:%.+]]:2 = stablehlo.while(%[[I:.+]] = %{{.+}}, %[[X:.+]] = %{{.+}}) : tensor<i32>, tensor<8x1x64xf16> cond {
// CHECK:           arith.cmpi slt, %[[I]],
// CHECK:           stablehlo.return %{{.+}} : tensor<i1>
// CHECK:         } do {
// CHECK:           arith.addf %[[X]], %[[X]]
// CHECK:           stablehlo.return %{{.+}}, %{{.+}} : tensor<i32>, tensor<8x1x64xf16>
// CHECK:         stablehlo.while() cond {
// CHECK:         "stablehlo.case"([[LAST]]#0) ({
// CHECK:         "stablehlo.if"(
func.func @all(%x: tensor<8x1x64xf16>, %places: tensor<8x1xi32>, %new: tensor<8x64xf16>, %end: tensor<i32>, %is: tensor<i1>) -> tensor<8x1x64xf16> {
  %y = "stablehlo.scatter"(%x, %places, %new) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1, update_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%old: tensor<f16>, %element: tensor<f16>):
    stablehlo.return %element : tensor<f16>
  }) : (tensor<8x1x64xf16>, tensor<8x1xi32>, tensor<8x64xf16>) -> tensor<8x1x64xf16>
  %sorted = "stablehlo.sort"(%y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %before = arith.cmpf olt, %a, %b : tensor<f16>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<8x1x64xf16>) -> tensor<8x1x64xf16>
  %last:2 = stablehlo.while(%i = %end, %carried = %sorted) : tensor<i32>, tensor<8x1x64xf16>
  cond {
    %goes_on = arith.cmpi slt, %i, %end : tensor<i32>
    stablehlo.return %goes_on : tensor<i1>
  } do {
    %twice = arith.addf %carried, %carried : tensor<8x1x64xf16>
    stablehlo.return %i, %twice : tensor<i32>, tensor<8x1x64xf16>
  }
  stablehlo.while() cond {
    stablehlo.return %is : tensor<i1>
  } do {
    stablehlo.return
  }
  %z = "stablehlo.case"(%last#0) ({
    stablehlo.return %last#1 : tensor<8x1x64xf16>
  }) : (tensor<i32>) -> tensor<8x1x64xf16>
  %r = "stablehlo.if"(%is) ({
    stablehlo.return %z : tensor<8x1x64xf16>
  }, {
    stablehlo.return %y : tensor<8x1x64xf16>
  }) : (tensor<i1>) -> tensor<8x1x64xf16>
  return %r : tensor<8x1x64xf16>
}
