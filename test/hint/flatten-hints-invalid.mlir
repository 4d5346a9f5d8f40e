// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=2,B" %s 2>&1 | FileCheck %s --check-prefix=NO-COUNT
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=0" %s 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=2x" %s 2>&1 | FileCheck %s --check-prefix=NO-NUMBER
// RUN: not spyre-opt --spyre-flatten-hints="tiles==2" %s 2>&1 | FileCheck %s --check-prefix=NO-NAME
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=T bind=T" %s 2>&1 | FileCheck %s --check-prefix=NO-BINDING
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=T bind=T=0" %s 2>&1 | FileCheck %s --check-prefix=BOUND-TO-ZERO
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=T bind=T=2,T=4" %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=T bind=T=2,U=4" %s 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=T" %s 2>&1 | FileCheck %s --check-prefix=UNBOUND
// RUN: not spyre-opt --spyre-compile="tiles=A=T bind=T=2,U=4 compile-to=import" %s 2>&1 | FileCheck %s --check-prefix=UNUSED

// The error stands at the module: an option has no place in the file.
// NO-COUNT:  flatten-hints-invalid.mlir:[[#@LINE+9]]:1: error{{.*}}'builtin.module' op option 'tiles': expected NAME=COUNT with a positive number or a name as COUNT, found 'B'
// ZERO:      flatten-hints-invalid.mlir:[[#@LINE+8]]:1: error{{.*}}'builtin.module' op option 'tiles': expected NAME=COUNT with a positive number or a name as COUNT, found 'A=0'
// NO-NUMBER: flatten-hints-invalid.mlir:[[#@LINE+7]]:1: error{{.*}}'builtin.module' op option 'tiles': expected NAME=COUNT with a positive number or a name as COUNT, found 'A=2x'
// NO-NAME:   flatten-hints-invalid.mlir:[[#@LINE+6]]:1: error{{.*}}'builtin.module' op option 'tiles': expected NAME=COUNT with a positive number or a name as COUNT, found '=2'
// NO-BINDING: flatten-hints-invalid.mlir:[[#@LINE+5]]:1: error{{.*}}'builtin.module' op option 'bind': expected NAME=NUMBER with the name of a count and a positive number, found 'T'
// BOUND-TO-ZERO: flatten-hints-invalid.mlir:[[#@LINE+4]]:1: error{{.*}}'builtin.module' op option 'bind': expected NAME=NUMBER with the name of a count and a positive number, found 'T=0'
// TWICE:     flatten-hints-invalid.mlir:[[#@LINE+3]]:1: error{{.*}}'builtin.module' op option 'bind': 'T' is bound to 2 and to 4; bind it once
// UNUSED:    flatten-hints-invalid.mlir:[[#@LINE+2]]:1: error{{.*}}'builtin.module' op option 'bind': expected the name of a tile count, found 'U=4'; use the name as in '--tiles DIM=U', or remove the binding
// UNBOUND:   flatten-hints-invalid.mlir:[[#@LINE+2]]:3: error{{.*}}tile count 'T' of dimension 'A' has no value; give --bind T=NUMBER, or declare a maximum on the function, 'spyre.symbols = {T = NUMBER}'
module {
  func.func @without_a_scope(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
    return %x : tensor<8x64xf16>
  }
}
