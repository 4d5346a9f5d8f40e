// RUN: spyre-opt --spyre-propagate-layouts %s | FileCheck %s

// The batch of a batched matmul is not next to the sticks of its operands, nor of the tensors from which elementwise ops
// compute them. The result has the default order.
// CHECK-DAG: #[[QUERIES:layout[0-9]*]] = #spyre.layout<[4, 1, 32, 64], [2048, 64, 64, 1]>
// CHECK-DAG: #[[KEYS:layout[0-9]*]] = #spyre.layout<[4, 2, 64, 64], [8192, 64, 128, 1]>
// CHECK-DAG: #[[SCORES:layout[0-9]*]] = #spyre.layout<[4, 2, 32, 64], [4096, 64, 128, 1]>
// CHECK-DAG: #[[VALUES:layout[0-9]*]] = #spyre.layout<[4, 1, 128, 64], [8192, 64, 64, 1]>
// CHECK-DAG: #[[RESULT:layout[0-9]*]] = #spyre.layout<[32, 1, 4, 64], [64, 64, 2048, 1]>

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    tensor<4x32x64xf16, #[[QUERIES]]>, {{.*}}tensor<4x64x128xf16, #[[KEYS]]>, {{.*}}tensor<4x128x64xf16, #[[VALUES]]>) -> tensor<4x32x64xf16, #[[RESULT]]>
// CHECK:         spyre.matmul({{.*}}) : {{.*}} -> tensor<4x32x128xf16, #[[SCORES]]>
// CHECK-NEXT:    spyre.pointwise exp({{.*}}) : tensor<4x32x128xf16, #[[SCORES]]>
// CHECK-NEXT:    spyre.matmul({{.*}}) : {{.*}} -> tensor<4x32x64xf16, #[[RESULT]]>
func.func @attention(%q: tensor<4x32x64xf16>, %k: tensor<4x64x128xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x32x64xf16> {
  %scores = spyre.matmul(%q, %k) : (tensor<4x32x64xf16>, tensor<4x64x128xf16>) -> tensor<4x32x128xf16>
  %exp = spyre.pointwise exp(%scores) : tensor<4x32x128xf16>
  %y = spyre.matmul(%exp, %v) : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  return %y : tensor<4x32x64xf16>
}

// Other ops leave the first dimension next to the sticks.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    tensor<4x32x64xf16, #[[RESULT]]>
func.func @sum(%x: tensor<4x32x64xf16>) -> tensor<4x32x64xf16> {
  %y = spyre.pointwise add(%x, %x) : tensor<4x32x64xf16>
  return %y : tensor<4x32x64xf16>
}
