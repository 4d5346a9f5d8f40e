// RUN: spyre-opt --spyre-compile="compile-to=lx cores=2 lx-planner=none" --spyre-form-bundles --spyre-lower-to-sdsc --split-input-file %s | FileCheck %s

// A reduction over the stick leaves one element a stick; output dimensions come before reduced ones.
// CHECK-DAG: #[[IN_AT:.+]] = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
// CHECK-DAG: #[[IN:.+]] = #sdsc.tensor<{{.*}}device_size = [4, 64, 64], coordinates = #[[IN_AT]], memory = "hbm", argument = 0>
// CHECK-DAG: #[[OUT_AT:.+]] = affine_map<(d0, d1) -> (0, d0, 0)>
// CHECK-DAG: #[[OUT:.+]] = #sdsc.tensor<{{.*}}device_size = [1, 64, 64], coordinates = #[[OUT_AT]], memory = "hbm", argument = 1>
// CHECK-LABEL: sdsc.program @sum
// CHECK: sdsc.op "sum" reduction dims [#c0, #c1] ins [#[[IN]]] outs [#[[OUT]]]
func.func @sum(%x: tensor<64x256xf16>) -> tensor<64x1xf16> {
  %y = spyre.reduce sum(%x) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
  return %y : tensor<64x1xf16>
}

// -----

// A reduction over rows: the kept dimension is the first one of the iteration space, and stays in the sticks. The dimension of size 1 that is
// left of the rows stands in front: between the sticks and their count it would be taken for the count.
// CHECK-DAG: #[[IN_AT:.+]] = affine_map<(d0, d1) -> (d0 floordiv 64, d1, d0 mod 64)>
// CHECK-DAG: #[[IN:.+]] = #sdsc.tensor<{{.*}}device_size = [4, 64, 64], coordinates = #[[IN_AT]], memory = "hbm", argument = 0>
// CHECK-DAG: #[[OUT_AT:.+]] = affine_map<(d0, d1) -> (0, d0 floordiv 64, d0 mod 64)>
// CHECK-DAG: #[[OUT:.+]] = #sdsc.tensor<{{.*}}device_size = [1, 4, 64], coordinates = #[[OUT_AT]], memory = "hbm", argument = 1>
// CHECK-LABEL: sdsc.program @max_of_rows
// CHECK: sdsc.op "max" reduction dims [#c0, #c1] ins [#[[IN]]] outs [#[[OUT]]]
func.func @max_of_rows(%x: tensor<64x256xf16>) -> tensor<1x256xf16> {
  %y = spyre.reduce max(%x) dims [0] : tensor<64x256xf16> -> tensor<1x256xf16>
  return %y : tensor<1x256xf16>
}

// -----

// M, N, K; K is in the sticks of the left operand, N in those of the others.
// CHECK-DAG: #[[X_AT:.+]] = affine_map<(d0, d1, d2) -> (d2 floordiv 64, d0, d2 mod 64)>
// CHECK-DAG: #[[X:.+]] = #sdsc.tensor<{{.*}}coordinates = #[[X_AT]], memory = "hbm", argument = 0>
// CHECK-DAG: #[[Y_AT:.+]] = affine_map<(d0, d1, d2) -> (d1 floordiv 64, d2, d1 mod 64)>
// CHECK-DAG: #[[Y:.+]] = #sdsc.tensor<{{.*}}coordinates = #[[Y_AT]], memory = "hbm", argument = 1>
// CHECK-DAG: #[[Z_AT:.+]] = affine_map<(d0, d1, d2) -> (d1 floordiv 64, d0, d1 mod 64)>
// CHECK-DAG: #[[Z:.+]] = #sdsc.tensor<{{.*}}coordinates = #[[Z_AT]], memory = "hbm", argument = 2>
// CHECK-LABEL: sdsc.program @product
// CHECK: sdsc.op "batchmatmul" reduction dims [#c0, #c1, #c2] ins [#[[X]], #[[Y]]] outs [#[[Z]]]
func.func @product(%x: tensor<64x128xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16> {
  %z = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  return %z : tensor<64x256xf16>
}

// -----

// A broadcast operand does not move along the dimension that it lacks; an intermediate that is not in LX is in the pool.
// CHECK-DAG: #[[BIAS_AT:.+]] = affine_map<(d0, d1) -> (0, d1 floordiv 64, d1 mod 64)>
// CHECK-DAG: #[[BIAS:.+]] = #sdsc.tensor<{{.*}}device_size = [1, 4, 64], coordinates = #[[BIAS_AT]], memory = "hbm", argument = 1>
// CHECK-DAG: #[[POOL:.+]] = #sdsc.tensor<{{.*}}memory = "pool">
// CHECK-LABEL: sdsc.program @bias
// CHECK: sdsc.bundle @bundle_0(@arg0, @arg1, @result0) pool_bytes 32768 attributes {sdsc.lives = ["pool 0 + 32768: 0 to 1"]} {
// CHECK-NEXT: sdsc.op "add" dims [#c0, #c1] ins [{{.+}}, #[[BIAS]]] outs [#[[POOL]]]
// CHECK-NEXT: sdsc.op "exp" dims [#c0, #c1] ins [#[[POOL]]] outs
func.func @bias(%x: tensor<64x256xf16>, %bias: tensor<1x256xf16>) -> tensor<64x256xf16> {
  %y = spyre.pointwise add(%x, %bias) : (tensor<64x256xf16>, tensor<1x256xf16>) -> tensor<64x256xf16>
  %z = spyre.pointwise exp(%y) : tensor<64x256xf16>
  return %z : tensor<64x256xf16>
}

// -----

// Launches in the order of their numbers, with a buffer of the program for what one leaves for the other.
// CHECK-LABEL: sdsc.program @two_results
// CHECK-NEXT: sdsc.buffer @arg0 input 0
// CHECK-NEXT: sdsc.buffer @result0 output 0
// CHECK-NEXT: sdsc.buffer @result1 output 1
// CHECK-NEXT: sdsc.bundle @bundle_0(@arg0, @result0, @result1)
func.func @two_results(%x: tensor<64x64xf16>) -> (tensor<64x64xf16>, tensor<64x64xf16>) {
  %e = spyre.pointwise exp(%x) : tensor<64x64xf16>
  %n = spyre.pointwise neg(%e) : tensor<64x64xf16>
  return %n, %e : tensor<64x64xf16>, tensor<64x64xf16>
}

// -----

// Index tensors come first and have a name; a table's indexed coordinate is what they say. The launcher keeps to the rows of both tables.
// CHECK-DAG: #[[INDEX_AT:.+]] = affine_map<(d0, d1, d2) -> (0, d1 floordiv 32, d0, d1 mod 32)>
// CHECK-DAG: #[[INDEX:.+]] = #sdsc.tensor<format = "IEEE_INT32", device_size = [1, 6, 3, 32], coordinates = #[[INDEX_AT]], memory = "hbm", argument = 2, name = "index">
// CHECK-DAG: #[[TABLE_AT:.+]] = affine_map<(d0, d1, d2)[s0] -> (0, s0, d2 floordiv 64, d2 mod 64)>
// CHECK-DAG: #[[TABLE:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [1, 128, 4, 64], coordinates = #[[TABLE_AT]], memory = "hbm", argument = 0, index_tensors = ["index"]>
// CHECK-DAG: #[[RESULT_AT:.+]] = affine_map<(d0, d1, d2) -> (d1, d2 floordiv 64, d0, d2 mod 64)>
// CHECK-DAG: #[[RESULT:.+]] = #sdsc.tensor<{{.*}}device_size = [192, 4, 3, 64], coordinates = #[[RESULT_AT]], memory = "hbm", argument = 3>
// CHECK-LABEL: sdsc.program @gather
// CHECK: sdsc.buffer @arg1 input 1 : tensor<100x256xf16
// CHECK: sdsc.buffer @arg2 input 2 {index_range = array<i64: 0, 100>} : tensor<3x192xi64
// CHECK: sdsc.buffer @result0 output 0 : tensor<3x192x256xf16
// CHECK: sdsc.op "identity" dims [#c0, #c1, #c2] ins [#[[INDEX]], #[[TABLE]]] outs [#[[RESULT]]]
func.func @gather(%x: tensor<128x256xf16>, %y: tensor<100x256xf16>, %index: tensor<3x192xi64>)
    -> (tensor<3x192x256xf16>, tensor<3x192x256xf16>) {
  %0 = spyre.gather(%x, %index) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  %1 = spyre.gather(%y, %index) dim 0 : (tensor<100x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  return %0, %1 : tensor<3x192x256xf16>, tensor<3x192x256xf16>
}
