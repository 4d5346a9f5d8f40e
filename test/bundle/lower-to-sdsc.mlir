// RUN: spyre-opt --spyre-compile="compile-to=lx" --spyre-form-bundles --spyre-lower-to-sdsc %s | FileCheck %s

// CHECK-DAG: #[[ROWS:.+]] = #sdsc.dim<name = "c0", range = 512, split = 32>
// CHECK-DAG: #[[COLUMNS:.+]] = #sdsc.dim<name = "c1", range = 1024>
// CHECK-DAG: #[[AT:.+]] = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
// A window has the device shape of its buffer and moves by 512 rows, or by 16 columns of sticks, of it.
// CHECK-DAG: #[[A:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #[[AT]], memory = "hbm", argument = 0, advance = [32768, 1048576]>
// CHECK-DAG: #[[B:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #[[AT]], memory = "hbm", argument = 1, advance = [32768, 1048576]>
// CHECK-DAG: #[[C:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #[[AT]], memory = "hbm", argument = 2, advance = [32768, 1048576]>
// CHECK-DAG: #[[R:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #[[AT]], memory = "hbm", argument = 3, advance = [32768, 1048576]>
// A value of one iteration has a shape of its own and does not move.
// CHECK-DAG: #[[LOCAL:.+]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = #[[AT]], memory = "lx">

// CHECK-LABEL: sdsc.program @tiled
// CHECK-NEXT: sdsc.buffer @arg0 input 0
// CHECK-NEXT: sdsc.buffer @arg1 input 1
// CHECK-NEXT: sdsc.buffer @arg2 input 2
// CHECK-NEXT: sdsc.buffer @result0 output 0
// CHECK-NEXT: sdsc.bundle @bundle_0(@arg0, @arg1, @arg2, @result0) attributes {sdsc.lives = ["lx 0 + {{[0-9]+}}: 0 to 1"]} {
// CHECK-NEXT:   sdsc.loop 2 {
// CHECK-NEXT:     sdsc.loop 4 {
// CHECK-NEXT:       sdsc.op "add" dims [#[[ROWS]], #[[COLUMNS]]] ins [#[[A]], #[[B]]] outs [#[[LOCAL]]]
// CHECK-NEXT:       sdsc.op "mul" dims [#[[ROWS]], #[[COLUMNS]]] ins [#[[LOCAL]], #[[C]]] outs [#[[R]]]
func.func @tiled(%a: tensor<1024x4096xf16> {spyre.dims = ["A", "B"]}, %b: tensor<1024x4096xf16>,
                 %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %z = spyre.hint tiles(A = 2, B = 4) {
    %y = spyre.pointwise add(%a, %b) : tensor<1024x4096xf16>
    %v = spyre.pointwise mul(%y, %c) : tensor<1024x4096xf16>
    spyre.yield %v : tensor<1024x4096xf16>
  }
  return %z : tensor<1024x4096xf16>
}
