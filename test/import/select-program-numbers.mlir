// RUN: spyre-opt --spyre-select-program %s | FileCheck %s

// Numbers become tensors without dimensions, in the type of the function too; a function that is called keeps its own.

// CHECK:       func.func private @scaled({{.*}}: tensor<8x64xf16>, {{.*}}: f16)
// CHECK:       func.func @main({{.*}}: tensor<8x64xf16>, [[S:%.+]]: tensor<f16>, [[I:%.+]]: tensor<i64>) -> (tensor<8x64xf16>, tensor<i64>) {
// CHECK-DAG:     [[NUMBER:%.+]] = tensor.extract [[S]][] : tensor<f16>
// CHECK-DAG:     [[BITS:%.+]] = tensor.extract [[I]][] : tensor<i64>
// CHECK-DAG:     [[INDEX:%.+]] = arith.index_cast [[BITS]] : i64 to index
// CHECK:         call @scaled({{.*}}, [[NUMBER]])
// CHECK:         [[BACK:%.+]] = arith.index_cast [[INDEX]] : index to i64
// CHECK:         [[BOX:%.+]] = tensor.from_elements [[BACK]] : tensor<i64>
// CHECK:         return {{.*}}, [[BOX]]
func.func private @scaled(%x: tensor<8x64xf16>, %s: f16) -> tensor<8x64xf16> {
  %f = tensor.splat %s : tensor<8x64xf16>
  %y = arith.mulf %x, %f : tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}
func.func @main(%x: tensor<8x64xf16>, %s: f16, %i: index) -> (tensor<8x64xf16>, index) {
  %y = call @scaled(%x, %s) : (tensor<8x64xf16>, f16) -> tensor<8x64xf16>
  return %y, %i : tensor<8x64xf16>, index
}
