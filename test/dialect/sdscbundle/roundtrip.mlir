// RUN: spyre-opt %s --verify-roundtrip | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --emit-bytecode | spyre-opt | FileCheck %s

// The text is the specification's: no types on executes, no blanks around '=', quotes around the second name only.
// CHECK-LABEL: func.func @sdsc_bundle
// CHECK-SAME: [[BASE:%[^:]+]]: !sdscbundle.input_arg<index>, [[SIZE:%[^:]+]]: !sdscbundle.input_arg<index, granularity=64, max_value=1024>)
// CHECK: [[ARG:%.+]] = sdscbundle.input_arg_extract value from [[BASE]] : !sdscbundle.input_arg<index> -> index
// CHECK: sdscbundle.input_arg_extract value from [[SIZE]] : !sdscbundle.input_arg<index, granularity=64, max_value=1024> -> index
// CHECK: [[POOL:%.+]] = sdscbundle.device_mem_allocate 4096 bytes : index
// CHECK: sdscbundle.sdsc_execute ([[ARG]], [[POOL]]) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
// CHECK: sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", "symbol_ids"=[]}
// CHECK: sdscbundle.sdsc_execute () {sdsc_filename="sdsc_2.json"}
// CHECK: sdscbundle.sdsc_execute ([[ARG]]) {sdsc_filename="sdsc_3.json", "symbol_ids"=[-3], note="x"}
func.func @sdsc_bundle(%base: !sdscbundle.input_arg<index>, %size: !sdscbundle.input_arg<index, granularity=64, max_value=1024>) {
  %arg = sdscbundle.input_arg_extract value from %base : !sdscbundle.input_arg<index> -> index
  %n = sdscbundle.input_arg_extract value from %size : !sdscbundle.input_arg<index, granularity=64, max_value=1024> -> index
  %pool = sdscbundle.device_mem_allocate 4096 bytes : index
  sdscbundle.sdsc_execute (%arg, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
  sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", "symbol_ids"=[]}
  sdscbundle.sdsc_execute () {sdsc_filename="sdsc_2.json"}
  sdscbundle.sdsc_execute (%arg) {sdsc_filename="sdsc_3.json", "symbol_ids"=[-3], note="x"}
  return
}

// A loop as the emitter writes it.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for [[I:%.+]] =
// CHECK-NEXT: [[ADDRESS:%.+]] = affine.apply #map{{[0-9]*}}([[I]])[%{{.+}}]
// CHECK-NEXT: sdscbundle.sdsc_execute ([[ADDRESS]]) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1]}
func.func @loop(%base: !sdscbundle.input_arg<index>) {
  %arg = sdscbundle.input_arg_extract value from %base : !sdscbundle.input_arg<index> -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bound = arith.constant 4 : index
  scf.for %i = %c0 to %bound step %c1 {
    %address = affine.apply affine_map<(d0)[s0] -> (s0 + 65536 * d0)>(%i)[%arg]
    sdscbundle.sdsc_execute (%address) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1]}
  }
  return
}
