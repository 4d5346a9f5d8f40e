// RUN: not spyre-opt --spyre-select-program="entry=third" %s 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not spyre-opt --spyre-select-program="entry=open dim-size=arg0.0=2,K=4" %s 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not spyre-opt --spyre-select-program="entry=open dim-size=arg0.0=2,arg0.1=4" %s 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not spyre-opt --spyre-select-program="entry=open dim-size=arg0.0=0" %s 2>&1 | FileCheck %s --check-prefix=SIZE

// RUN: not spyre-opt --spyre-select-program="entry=open dim-size=arg0.0=64:48" %s 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not spyre-opt --spyre-select-program="entry=open dim-size=arg0.0=64:8,arg0.1=64:8" %s 2>&1 | FileCheck %s --check-prefix=FIXED

// STEP: error{{.*}}'builtin.module' op option 'dim-size': {{.*}}STEP divides MAX), found 'arg0.0=64:48'
// FIXED: error{{.*}}dimension 1 of argument 'arg0' has size 64, found '--dim-size arg0.1=64:8' of a dynamic dimension; remove the option
// ENTRY: error{{.*}}expected the name of a function with a body, found 'third'; choose one of 'first' and 'open'
// NAME: error{{.*}}expected a dimension as arg0.0, arg0.1 or a name in 'spyre.dims', found 'K=4'; correct the name
// OTHER: error{{.*}}dimension 1 of argument 'arg0' has size 64, found --dim-size 4; remove the option
// SIZE: error{{.*}}'builtin.module' op option 'dim-size': expected argA.D=SIZE or NAME=SIZE, where SIZE is a positive number, or MAX:STEP for a size that is known at launch (MAX at least 2, STEP divides MAX), found 'arg0.0=0'

func.func @first(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}
func.func @open(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {
  return %x : tensor<?x64xf16>
}
