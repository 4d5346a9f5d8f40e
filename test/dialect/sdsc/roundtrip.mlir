// RUN: spyre-opt %s --verify-roundtrip | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --emit-bytecode | spyre-opt | FileCheck %s

// CHECK-DAG: [[C0:#c[0-9]+]] = #sdsc.dim<name = "c0", range = 512, split = 32>
// CHECK-DAG: [[C1:#c[0-9]+]] = #sdsc.dim<name = "c1", range = 1024>
// CHECK-DAG: [[SYMBOLIC:#c[0-9]+]] = #sdsc.dim<name = "c2", range = 1024, symbol = "s0", granularity = 64>
// CHECK-DAG: [[ROWS:#map[0-9]*]] = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
// CHECK-DAG: [[ROW_OF:#map[0-9]*]] = affine_map<(d0, d1)[s0] -> (d1 floordiv 64, s0, d1 mod 64)>
// CHECK-DAG: [[MOVING:#hbm[0-9]*]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = [[ROWS]], memory = "hbm", argument = 0, advance = [32768, 1048576]>
// CHECK-DAG: [[GATHERED:#hbm[0-9]*]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = [[ROW_OF]], memory = "hbm", argument = 1, index_tensors = ["rows"]>
// CHECK-DAG: [[INDEX:#hbm[0-9]*]] = #sdsc.tensor<format = "IEEE_INT32", device_size = [16, 32], coordinates = {{.*}}, memory = "hbm", argument = 2, name = "rows">
// CHECK-DAG: [[LX:#lx[0-9]*]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = [[ROWS]], memory = "lx", offset_bytes = 128>
// CHECK-DAG: [[ARRANGED:#lx[0-9]*]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = [[ROWS]], memory = "lx", arrangement = "QFP8CH", owners = [#sdsc.owner<dim = 0, slices = 4, divisor = 1>]>
// CHECK-DAG: [[POOL:#pool[0-9]*]] = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = [[ROWS]], memory = "pool", offset_bytes = 4096>

#c0 = #sdsc.dim<name = "c0", range = 512, split = 32>
#c1 = #sdsc.dim<name = "c1", range = 1024>
#symbolic = #sdsc.dim<name = "c2", range = 1024, symbol = "s0", granularity = 64>
#rows = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#moving = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = #rows, memory = "hbm", argument = 0, advance = [32768, 1048576]>
#gathered = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = affine_map<(d0, d1)[s0] -> (d1 floordiv 64, s0, d1 mod 64)>, memory = "hbm", argument = 1, index_tensors = ["rows"]>
#index = #sdsc.tensor<format = "IEEE_INT32", device_size = [16, 32], coordinates = affine_map<(d0, d1) -> (d0 floordiv 32, d0 mod 32)>, memory = "hbm", argument = 2, name = "rows">
#lx = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = #rows, memory = "lx", offset_bytes = 128>
#pool = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = #rows, memory = "pool", offset_bytes = 4096>
#arranged = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = #rows, memory = "lx", arrangement = "QFP8CH", owners = [#sdsc.owner<dim = 0, slices = 4, divisor = 1>]>
#layout = #spyre.layout<[16, 512, 64], [64, 1024, 1]>

// CHECK-LABEL: sdsc.program @main attributes {sizes = {s0 = array<i64: 1024, 64>}}
// CHECK-NEXT: sdsc.buffer @arg0 input 0 : tensor<512x1024xf16, #layout>
// CHECK-NEXT: sdsc.buffer @arg1 input 1 {index_range = array<i64: 0, 512>} : tensor<512xi64, #layout{{[0-9]*}}>
// CHECK-NEXT: sdsc.buffer @scale constant 0 = dense<5.000000e-01> : tensor<1x1xf16> : tensor<1x1xf16, #layout{{[0-9]*}}>
// CHECK-NEXT: sdsc.buffer @shift constant 1 : tensor<1x1xf16, #layout{{[0-9]*}}>
// CHECK-NEXT: sdsc.buffer @scores temporary 0 : tensor<512x1024xf16, #layout>
// CHECK-NEXT: sdsc.buffer @shared temporary 1 {life = array<i64: 0, 2>, offset = 8192 : i64} : tensor<512x1024xf16, #layout>
// CHECK-NEXT: sdsc.buffer @result0 output 0 {symbolic = ["", "s0"]} : tensor<512x1024xf16, #layout>
// CHECK-NEXT: sdsc.bundle @bundle_0{{ ?}}(@arg0, @scores, @result0) pool_bytes 4096 {
// CHECK-NEXT: sdsc.loop 2 {
// CHECK-NEXT: sdsc.loop 4 {
// CHECK-NEXT: sdsc.op "exp" dims {{\[}}[[C0]], [[C1]]] ins {{\[}}[[MOVING]]] outs {{\[}}[[LX]]]
// CHECK: sdsc.op "add" dims {{\[}}[[C0]], [[C1]]] ins {{\[}}[[INDEX]], [[GATHERED]], [[LX]]] outs {{\[}}[[POOL]]] file "sdsc_1.json"
// CHECK: sdsc.op "sum" reduction dims {{\[}}[[C0]], [[SYMBOLIC]]] ins {{\[}}[[POOL]]] outs {{\[}}[[POOL]]] {note = "x"}
// CHECK: sdsc.op "softplus" dims {{\[}}[[C0]], [[C1]]] ins {{\[}}[[LX]]] outs {{\[}}[[ARRANGED]]] constants [#sdsc.constant<name = "softplusBeta", value = 1.000000e+00 : f64>]
// CHECK: sdsc.op "maxpool" dims {{\[}}[[C0]], [[C1]]] ins {{\[}}[[LX]]] outs {{\[}}[[LX]]] window <height = [3, 1, 0, 1], width = [3, 1, 0, 1, 34], pad_type = "same"> output_ranges [1, 16, 32, 32]
// CHECK: sdsc.bundle @bundle_1{{ ?}}() {
sdsc.program @main attributes {sizes = {s0 = array<i64: 1024, 64>}} {
  sdsc.buffer @arg0 input 0 : tensor<512x1024xf16, #layout>
  sdsc.buffer @arg1 input 1 {index_range = array<i64: 0, 512>} : tensor<512xi64, #spyre.layout<[16, 32], [32, 1]>>
  sdsc.buffer @scale constant 0 = dense<0.5> : tensor<1x1xf16> : tensor<1x1xf16, #spyre.layout<[1, 1, 64], [-1, -1, -1]>>
  sdsc.buffer @shift constant 1 : tensor<1x1xf16, #spyre.layout<[1, 1, 64], [-1, -1, -1]>>
  sdsc.buffer @scores temporary 0 : tensor<512x1024xf16, #layout>
  sdsc.buffer @shared temporary 1 {life = array<i64: 0, 2>, offset = 8192 : i64} : tensor<512x1024xf16, #layout>
  sdsc.buffer @result0 output 0 {symbolic = ["", "s0"]} : tensor<512x1024xf16, #layout>
  sdsc.bundle @bundle_0(@arg0, @scores, @result0) pool_bytes 4096 {
    sdsc.loop 2 {
      sdsc.loop 4 {
        sdsc.op "exp" dims [#c0, #c1] ins [#moving] outs [#lx]
      }
    }
    sdsc.op "add" dims [#c0, #c1] ins [#index, #gathered, #lx] outs [#pool] file "sdsc_1.json"
    sdsc.op "sum" reduction dims [#c0, #symbolic] ins [#pool] outs [#pool] {note = "x"}
    sdsc.op "softplus" dims [#c0, #c1] ins [#lx] outs [#arranged] constants [#sdsc.constant<name = "softplusBeta", value = 1.0 : f64>]
    sdsc.op "maxpool" dims [#c0, #c1] ins [#lx] outs [#lx]
      window <height = [3, 1, 0, 1], width = [3, 1, 0, 1, 34], pad_type = "same"> output_ranges [1, 16, 32, 32]
  }
  sdsc.bundle @bundle_1() {
  }
}

// A loop over a dimension of symbolic size.
// CHECK-LABEL: sdsc.program @loop_over_size attributes {sizes = {s0 = array<i64: 512, 128>}} {
// CHECK-NEXT: sdsc.bundle @bundle_0{{ ?}}() {
// CHECK-NEXT: sdsc.loop 8 attributes {dim = "M", granularity = 128 : i64, symbol = "s0", tile = 64 : i64} {
sdsc.program @loop_over_size attributes {sizes = {s0 = array<i64: 512, 128>}} {
  sdsc.bundle @bundle_0() {
    sdsc.loop 8 attributes {dim = "M", granularity = 128 : i64, symbol = "s0", tile = 64 : i64} {
    }
  }
}
