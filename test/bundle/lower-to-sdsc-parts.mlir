// RUN: spyre-opt --spyre-compile="compile-to=lx" --spyre-form-bundles --spyre-lower-to-sdsc %s | FileCheck %s

// A part goes to a window: coordinates with an offset in the buffer, which the result of the program or the pool has. The offset along the
// sticks counts sticks. What is in `whole` is no operand.
// CHECK-DAG: #[[FIRST:.+]] = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
// CHECK-DAG: #[[RIGHT:.+]] = affine_map<(d0, d1) -> (d1 floordiv 64 + 1, d0, d1 mod 64)>
// CHECK-DAG: #[[BELOW:.+]] = affine_map<(d0, d1) -> (d1 floordiv 64, d0 + 32, d1 mod 64)>
// CHECK-DAG: #[[X:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [1, 32, 64], coordinates = #[[FIRST]], memory = "hbm", argument = 0>
// CHECK-DAG: #[[R0:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [2, 32, 64], coordinates = #[[FIRST]], memory = "hbm", argument = 1>
// CHECK-DAG: #[[R1:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [2, 32, 64], coordinates = #[[RIGHT]], memory = "hbm", argument = 1>
// CHECK-DAG: #[[P0:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [1, 64, 64], coordinates = #[[FIRST]], memory = "pool">
// CHECK-DAG: #[[P1:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [1, 64, 64], coordinates = #[[BELOW]], memory = "pool">
// CHECK-DAG: #[[Y:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [1, 32, 64], coordinates = #[[FIRST]], memory = "lx">

// CHECK-LABEL: sdsc.program @parts
// CHECK-NEXT: sdsc.buffer @arg0 input 0
// CHECK-NEXT: sdsc.buffer @result0 output 0
// CHECK-NEXT: sdsc.buffer @result1 output 1
// CHECK-NEXT: sdsc.bundle @bundle_0(@arg0, @result0, @result1)
// CHECK-SAME: {{\{$}}
// CHECK-NEXT:   sdsc.op "identity"
// CHECK-SAME:     ins [#[[X]]] outs [#[[Y]]]
// CHECK-NEXT:   sdsc.op "identity"
// CHECK-SAME:     ins [#[[Y]]] outs [#[[R0]]]
// CHECK-NEXT:   sdsc.op "identity"
// CHECK-SAME:     ins [#[[Y]]] outs [#[[R1]]]
// CHECK-NEXT:   sdsc.op "identity"
// CHECK-SAME:     ins [#[[Y]]] outs [#[[P0]]]
// CHECK-NEXT:   sdsc.op "identity"
// CHECK-SAME:     ins [#[[Y]]] outs [#[[P1]]]
// CHECK-NEXT:   sdsc.op "exp"
// CHECK-SAME:     ins [#[[P0]]]
func.func @parts(%x: tensor<32x64xf16>) -> (tensor<32x128xf16>, tensor<64x64xf16>) {
  %result = spyre.empty : tensor<32x128xf16>
  %left = spyre.insert %x into %result at [0, 0] : tensor<32x64xf16> into tensor<32x128xf16>
  %both = spyre.insert %x into %left at [0, 64] : tensor<32x64xf16> into tensor<32x128xf16>
  %pooled = spyre.empty : tensor<64x64xf16>
  %upper = spyre.insert %x into %pooled at [0, 0] : tensor<32x64xf16> into tensor<64x64xf16>
  %whole = spyre.insert %x into %upper at [32, 0] : tensor<32x64xf16> into tensor<64x64xf16>
  %exp = spyre.pointwise exp(%whole) : tensor<64x64xf16>
  return %both, %exp : tensor<32x128xf16>, tensor<64x64xf16>
}
