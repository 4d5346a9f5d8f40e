// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-opt --spyre-emit-bundle=output=%t/twice %t/twice.mlir
// RUN: FileCheck %s --input-file=%t/twice/bundle.mlir
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/hidden %t/hidden.mlir 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: not ls %t/hidden

// One value has one name, whatever the IR lists: the argument is extracted twice, 5 is called as 0 should be, and two loops count alike.
// CHECK: func.func @sdsc_bundle(%arg_0_base_addr:
// CHECK-NEXT: %arg_0 = sdscbundle.input_arg_extract
// CHECK-NEXT: %sym_1 = sdscbundle.input_arg_extract
// CHECK-NEXT: %sym_2 = arith.constant 5
// CHECK-NEXT: %c0 = arith.constant 0
// CHECK-NEXT: %c1 = arith.constant 1
// CHECK: scf.for %i_0 = %c0 to %sym_2 step %c1
// CHECK: scf.for %i_0 = %c0 to %sym_2 step %c1

// HIDDEN: hidden.mlir:9:3: error{{.*}}'scf.for' op expected constants with the names %c0 and %c1 before the loop, found no %c0

//--- twice.mlir
func.func @sdsc_bundle(%a: !sdscbundle.input_arg<index>)
    attributes {sdsc.names = ["arg_0_base_addr", "arg_0", "arg_0", "c0", "sym_2", "c1", "i_0", "i_0"]} {
  %0 = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<index> -> index
  %1 = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<index> -> index
  %c5 = arith.constant 5 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c5 step %c1 {
  }
  scf.for %i = %c0 to %c5 step %c1 {
  }
  return
}

//--- hidden.mlir
// The zero has another name.
func.func @sdsc_bundle()
    attributes {sdsc.names = ["loop_bound_0", "c1", "loop_bound_1", "i_0"]} {


  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
  }
  return
}
