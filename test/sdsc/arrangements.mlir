// The arrangement of values follows from the conversions of a bundle, and is read back from files that do not state it.
// RUN: spyre-translate --mlir-to-bundle %s -o %t && spyre-translate --bundle-to-mlir %t | FileCheck %s

// CHECK-DAG: [[WIDE:#lx[0-9]*]] = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], {{.*}}memory = "lx", {{.*}}arrangement = "DL16_TO_FP32">
// CHECK: sdsc.op "dl16tofp32" {{.*}} outs {{\[}}[[WIDE]]]
// CHECK: sdsc.op "exp" {{.*}} ins {{\[}}[[WIDE]]]
// CHECK-NOT: arrangement
// CHECK: sdsc.op "fp32todl16"
#c0 = #sdsc.dim<name = "c0", range = 8>
#c1 = #sdsc.dim<name = "c1", range = 128>
#half = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#single = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
#x = #sdsc.tensor<format = "SEN169_FP16", device_size = [2, 8, 64], coordinates = #half, memory = "hbm", argument = 0>
#y = #sdsc.tensor<format = "SEN169_FP16", device_size = [2, 8, 64], coordinates = #half, memory = "hbm", argument = 1>
#wide = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx", arrangement = "DL16_TO_FP32">
#exp = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx", offset_bytes = 8192, arrangement = "DL16_TO_FP32">
sdsc.bundle @bundle_0() {
  sdsc.op "dl16tofp32" dims [#c0, #c1] ins [#x] outs [#wide]
  sdsc.op "exp" dims [#c0, #c1] ins [#wide] outs [#exp]
  sdsc.op "fp32todl16" dims [#c0, #c1] ins [#exp] outs [#y]
}
