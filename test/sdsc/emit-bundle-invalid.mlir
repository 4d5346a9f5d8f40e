// RUN: split-file %s %t
// RUN: not spyre-opt --spyre-emit-bundle %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/missing/folder %t/bundle.mlir 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// RUN: cp %t/bundle.mlir %t/keep/bundle.mlir
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/keep %t/bundle.mlir 2>&1 | FileCheck %s --check-prefix=OCCUPIED
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/unlowered.mlir 2>&1 | FileCheck %s --check-prefix=UNLOWERED
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/carried.mlir 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/counted.mlir 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/foreign.mlir 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not spyre-translate --mlir-to-bundle %t/counted.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: not ls %t/out

// NOWHERE: plain.mlir:1:1: error{{.*}}'builtin.module' op requires option 'output'; give the directory to write
// UNWRITABLE: error{{.*}}'builtin.module' op cannot write '{{.*}}missing/folder':
// OCCUPIED: error{{.*}}'builtin.module' op will not replace '{{.*}}': it exists and is not a bundle directory
// UNLOWERED: unlowered.mlir:2:3: error{{.*}}'sdsc.bundle' op cannot be written; run spyre-lower-to-sdscbundle first
// NOTHING: plain.mlir:1:1: error{{.*}}'builtin.module' op is empty; give an 'sdsc.program' or the ops of one bundle, as 'spyre-compile FILE --compile-to bundle' prints them
// CARRIED: carried.mlir:5:10: error{{.*}}'scf.for' op expected a loop from 0 with step 1 and without carried values, found another one
// The back end takes loop counts that are constants; a bundle of another front end says nothing of names.
// COUNTED: counted.mlir:10:9: error{{.*}}'scf.for' op repeats for each tile of 'M', whose size 's0' is known at launch only: format 'torch-spyre-2026-08' requires constant trip counts; give --bundle-format=torch-spyre-2026-09, or one size
// FOREIGN: foreign.mlir:5:3: error{{.*}}'scf.for' op has the bound '%arg_0', known at launch only: format 'torch-spyre-2026-08' requires constant trip counts; give --bundle-format=torch-spyre-2026-09, or one size

//--- plain.mlir
module {
}

//--- bundle.mlir
func.func @sdsc_bundle() {
  return
}

//--- keep/thesis.txt
Not a bundle.

//--- unlowered.mlir
sdsc.program @main {
  sdsc.bundle @bundle_0() {
  }
}

//--- carried.mlir
func.func @sdsc_bundle() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%carried = %c0) -> index {
    %next = arith.addi %carried, %i : index
    scf.yield %next : index
  }
  return
}

//--- counted.mlir
sdsc.program @main attributes {sizes = {s0 = array<i64: 512, 64>}} {
  builtin.module @bundle_0 attributes {sdsc.loop_dims = ["M"], sdsc.loop_sizes = ["s0"]} {
    func.func @sdsc_bundle(%size: !sdscbundle.input_arg<index, granularity=64, max_value=512>) {
      %bound = sdscbundle.input_arg_extract value from %size : !sdscbundle.input_arg<index, granularity=64, max_value=512> -> index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %bound step %c64 {
        }
      }
      return
    }
  }
}

//--- foreign.mlir
func.func @sdsc_bundle(%count: !sdscbundle.input_arg<index>) {
  %bound = sdscbundle.input_arg_extract value from %count : !sdscbundle.input_arg<index> -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %bound step %c1 {
  }
  return
}

