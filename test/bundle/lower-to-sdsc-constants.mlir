// RUN: spyre-opt --spyre-compile="compile-to=lx lx-planner=first-fit" --spyre-form-bundles --spyre-lower-to-sdsc --mlir-print-local-scope --split-input-file %s | FileCheck %s

// Buffers are named in the order of their first use. Constants of equal bytes share a buffer: a fill with the same number, or a
// resource of another name.
// CHECK-LABEL: sdsc.program @shared
// CHECK-NEXT: sdsc.buffer @arg0 input 0
// CHECK-NEXT: sdsc.buffer @const0 constant 0 = dense<5.000000e-01> : tensor<1x1xf16> : tensor<1x1xf16, #spyre.layout<[1, 1, 64], [-1, -1, -1]>>
// CHECK-NEXT: sdsc.buffer @const1 constant 1 = dense_resource<first> : tensor<1x2xf16> : tensor<1x2xf16, #spyre.layout<[1, 1, 64], [64, -1, 1]>>
// CHECK-NEXT: sdsc.buffer @const2 constant 2 = dense_resource<third> : tensor<1x2xf16>
// CHECK-NEXT: sdsc.buffer @result0 output 0
// CHECK-NEXT: sdsc.buffer @result1 output 1
// CHECK-NEXT: sdsc.bundle @bundle_0(@arg0, @const0, @const1, @const2, @result0, @result1){{.*}} {
// CHECK-NEXT:   sdsc.op "mul" {{.+}} ins [{{.+}} argument = 0>, {{.+}} argument = 1>] outs
// CHECK-NEXT:   sdsc.op "add" {{.+}} ins [{{.+}} argument = 2>] outs
// CHECK-NEXT:   sdsc.op "add" {{.+}} ins [{{.+}} argument = 2>] outs
// CHECK-NEXT:   sdsc.op "add" {{.+}} ins [{{.+}} argument = 3>] outs
// CHECK-NEXT:   sdsc.op "mul" {{.+}} ins [{{.+}} argument = 1>] outs
// CHECK-NOT:  sdsc.buffer
func.func @shared(%x: tensor<8x2xf16>) -> (tensor<8x2xf16>, tensor<8x2xf16>) {
  %unused = spyre.constant dense<7.0> : tensor<1x1xf16>
  %third = spyre.constant dense_resource<third> : tensor<1x2xf16>
  %first = spyre.constant dense_resource<first> : tensor<1x2xf16>
  %second = spyre.constant dense_resource<second> : tensor<1x2xf16>
  %half = spyre.constant dense<0.5> : tensor<1x1xf16>
  %halves = spyre.fill 0.5 : f16 -> tensor<8x2xf16>
  %0 = spyre.pointwise mul(%x, %half) : (tensor<8x2xf16>, tensor<1x1xf16>) -> tensor<8x2xf16>
  %1 = spyre.pointwise add(%0, %first) : (tensor<8x2xf16>, tensor<1x2xf16>) -> tensor<8x2xf16>
  %2 = spyre.pointwise add(%1, %second) : (tensor<8x2xf16>, tensor<1x2xf16>) -> tensor<8x2xf16>
  %3 = spyre.pointwise add(%2, %third) : (tensor<8x2xf16>, tensor<1x2xf16>) -> tensor<8x2xf16>
  %4 = spyre.pointwise mul(%3, %halves) : tensor<8x2xf16>
  return %3, %4 : tensor<8x2xf16>, tensor<8x2xf16>
}

{-#
  dialect_resources: { builtin: { first: "0x02000000003C0040", second: "0x02000000003C0040", third: "0x02000000003C003C" } }
#-}

// -----

// A number has different bytes in different formats and layouts, so these constants are separate.
// CHECK-LABEL: sdsc.program @apart
// CHECK-COUNT-3: constant {{[0-9]}}
// CHECK-NOT: constant {{[0-9]}}
func.func @apart(%x: tensor<8x70xf16>, %y: tensor<8x70xf32>) -> (tensor<8x70xf16>, tensor<8x70xf16>, tensor<8x70xf32>) {
  %one = spyre.constant dense<1.0> : tensor<1x1xf16>
  %row = spyre.constant dense<1.0> : tensor<1x70xf16>
  %single = spyre.constant dense<1.0> : tensor<1x1xf32>
  %0 = spyre.pointwise add(%x, %one) : (tensor<8x70xf16>, tensor<1x1xf16>) -> tensor<8x70xf16>
  %1 = spyre.pointwise add(%x, %row) : (tensor<8x70xf16>, tensor<1x70xf16>) -> tensor<8x70xf16>
  %2 = spyre.pointwise add(%y, %single) : (tensor<8x70xf32>, tensor<1x1xf32>) -> tensor<8x70xf32>
  return %0, %1, %2 : tensor<8x70xf16>, tensor<8x70xf16>, tensor<8x70xf32>
}
