// RUN: rm -rf %t && spyre-translate --mlir-to-bundle %s -o %t
// RUN: FileCheck %s --input-file=%t/bundle.mlir
// RUN: spyre-opt --spyre-lower-to-sdscbundle %s | spyre-translate --mlir-to-bundle - -o %t.lowered
// RUN: diff %t/sdsc_0.json %t.lowered/sdsc_0.json
// RUN: not spyre-translate --mlir-to-bundle %s.missing -o %t.no 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not spyre-translate %s -o %t.no 2>&1 | FileCheck %s --check-prefix=WHICH

// CHECK: func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>)
// CHECK: sdscbundle.sdsc_execute (%arg_0, %arg_1) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
// MISSING: error{{.*}}cannot read
// WHICH: error{{.*}}the following required arguments were not provided

#at = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>
sdsc.bundle @exp() {
  sdsc.op "exp" dims [#sdsc.dim<name = "c0", range = 128>]
    ins [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = #at, memory = "hbm", argument = 0>]
    outs [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = #at, memory = "hbm", argument = 1>]
}
