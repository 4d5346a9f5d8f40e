// RUN: spyre-opt --spyre-lower-to-sdscbundle %s --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: spyre-opt --spyre-lower-to-sdscbundle=loops=unroll %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=UNROLL
// RUN: spyre-opt --spyre-lower-to-sdscbundle="loops=unroll addresses=baked" %s | FileCheck %s --check-prefix=BAKED

#at = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#c0 = #sdsc.dim<name = "c0", range = 128, split = 2>
#c1 = #sdsc.dim<name = "c1", range = 64>

// CHECK-DAG: #[[STEP:.+]] = affine_map<(d0)[s0] -> ({{.*}}16384{{.*}})>

// CHECK-LABEL: module @rows
// CHECK-LABEL: func.func @sdsc_bundle
// CHECK-SAME: (%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>)
// CHECK-NEXT: %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
// CHECK-NEXT: %arg_1 = sdscbundle.input_arg_extract
// CHECK: %loop_bound_0 = arith.constant 3 : index
// Core 1 starts 64 rows further on, which are 8192 bytes.
// CHECK: %arg_0_core_8192 = arith.addi %arg_0, %arg_0_core_offset_8192 : index
// CHECK: scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
// CHECK-NEXT: %addr_0 = affine.apply #[[STEP]](%i_0)[%arg_0]
// CHECK-NEXT: %addr_1 = affine.apply #[[STEP]](%i_0)[%arg_0_core_8192]
// CHECK-NEXT: sdscbundle.sdsc_execute (%addr_0, %addr_1) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
// CHECK-NEXT: %addr_2 = affine.apply #[[STEP]](%i_0)[%arg_1]
// CHECK: sdscbundle.sdsc_execute (%addr_2, %addr_3) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}
// CHECK: sdsc.op "exp" {{.*}} file "sdsc_0.json"
// CHECK: sdsc.op "neg" {{.*}} file "sdsc_1.json"

// One execute per iteration, each at its own address.
// UNROLL-NOT: scf.for
// UNROLL: %arg_0_slice_offset_16384 = arith.constant 16384 : index
// UNROLL: %arg_0_slice_offset_32768 = arith.constant 32768 : index
// UNROLL-COUNT-6: sdscbundle.sdsc_execute
// UNROLL-NOT: sdscbundle.sdsc_execute
// UNROLL: file "sdsc_5.json"

// Baked addresses are in the files: nothing is passed.
// BAKED-LABEL: func.func @sdsc_bundle()
// BAKED-COUNT-6: sdscbundle.sdsc_execute () {sdsc_filename="sdsc_{{[0-5]}}.json"}
sdsc.bundle @rows() {
  sdsc.loop 3 {
    sdsc.op "exp" dims [#c0, #c1]
      ins [#sdsc.tensor<format = "SEN169_FP16", device_size = [1, 384, 64], coordinates = #at, memory = "hbm", argument = 0, advance = [8192]>]
      outs [#sdsc.tensor<format = "SEN169_FP16", device_size = [1, 128, 64], coordinates = #at, memory = "lx">]
    sdsc.op "neg" dims [#c0, #c1]
      ins [#sdsc.tensor<format = "SEN169_FP16", device_size = [1, 128, 64], coordinates = #at, memory = "lx">]
      outs [#sdsc.tensor<format = "SEN169_FP16", device_size = [1, 384, 64], coordinates = #at, memory = "hbm", argument = 1, advance = [8192]>]
  }
}
