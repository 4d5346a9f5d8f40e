// RUN: split-file %s %t
// RUN: not spyre-opt --spyre-emit-bundle %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/missing/folder %t/bundle.mlir 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// RUN: cp %t/bundle.mlir %t/keep/bundle.mlir
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/keep %t/bundle.mlir 2>&1 | FileCheck %s --check-prefix=OCCUPIED
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/unlowered.mlir 2>&1 | FileCheck %s --check-prefix=UNLOWERED
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not spyre-opt --spyre-emit-bundle=output=%t/out %t/carried.mlir 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: not ls %t/out

// NOWHERE: plain.mlir:1:1: error: 'builtin.module' op needs the option 'output', the directory to write
// UNWRITABLE: error: 'builtin.module' op cannot write '{{.*}}missing/folder':
// OCCUPIED: error: 'builtin.module' op will not replace '{{.*}}': it is there and is no bundle directory
// UNLOWERED: unlowered.mlir:2:3: error: 'sdsc.bundle' op cannot be written: lower bundles to sdscbundle first
// NOTHING: error: 'builtin.module' op has no function 'sdsc_bundle'
// CARRIED: carried.mlir:5:10: error: 'scf.for' op counts from 0 in steps of 1, without carried values

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
