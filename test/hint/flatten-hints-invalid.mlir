// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=2,B" %s 2>&1 | FileCheck %s --check-prefix=NO-COUNT
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=0" %s 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not spyre-opt --spyre-flatten-hints="tiles=A=two" %s 2>&1 | FileCheck %s --check-prefix=NO-NUMBER
// RUN: not spyre-opt --spyre-flatten-hints="tiles==2" %s 2>&1 | FileCheck %s --check-prefix=NO-NAME

// The error stands at the module: an option has no place in the file.
// NO-COUNT:  flatten-hints-invalid.mlir:[[#@LINE+4]]:1: error: 'builtin.module' op option 'tiles': expected NAME=COUNT with a positive count, found 'B'
// ZERO:      flatten-hints-invalid.mlir:[[#@LINE+3]]:1: error: 'builtin.module' op option 'tiles': expected NAME=COUNT with a positive count, found 'A=0'
// NO-NUMBER: flatten-hints-invalid.mlir:[[#@LINE+2]]:1: error: 'builtin.module' op option 'tiles': expected NAME=COUNT with a positive count, found 'A=two'
// NO-NAME:   flatten-hints-invalid.mlir:[[#@LINE+1]]:1: error: 'builtin.module' op option 'tiles': expected NAME=COUNT with a positive count, found '=2'
module {
}
