// RUN: printf 'ML\357R\015MLIR24.0.0git\000\001\000' > %t.24
// RUN: not spyre-opt %t.24 2>&1 | FileCheck %s --check-prefixes=NEWER,FILE
// RUN: not spyre-opt < %t.24 2>&1 | FileCheck %s --check-prefixes=NEWER,STDIN
// RUN: not spyre-opt %t.24 -o %t.out 2>&1 | FileCheck %s --check-prefixes=NEWER,FILE
// RUN: not spyre-compile %t.24 -o %t.out 2>&1 | FileCheck %s --check-prefixes=NEWER,FILE
// RUN: not spyre-compile - -o %t.out < %t.24 2>&1 | FileCheck %s --check-prefixes=NEWER,STDIN
// RUN: not spyre-translate --mlir-to-bundle %t.24 -o %t.out 2>&1 | FileCheck %s --check-prefixes=NEWER,FILE
// RUN: not ls %t.out

// The message stands alone: MLIR's parser, which knows nothing of this file but a code it does not know, says nothing.
// FILE: {{^}}{{.*}}.24:{{(0:0:)?}} error{{.*}}:
// STDIN: {{^}}<stdin>:{{(0:0:)?}} error{{.*}}:
// NEWER-SAME: expected bytecode of MLIR 22 or older, found bytecode of 'MLIR24.0.0git'; save the module as text in the tool that wrote it
// NEWER-NOT: {{error|note}}

// The version of the format may take two bytes.
// RUN: printf 'ML\357R\002\004MLIR23.1.0\000\001\000' > %t.23
// RUN: not spyre-opt %t.23 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: found bytecode of 'MLIR23.1.0'

// Another producer's versions are not MLIR's, and a broken file of ours is not newer: MLIR says what is wrong.
// RUN: printf 'ML\357R\015StableHLO_v99\000\153' > %t.stablehlo
// RUN: printf 'ML\357R\015MLIR22.1.8\000\153' > %t.22
// RUN: printf 'ML\357R\015MLIR24' > %t.cut
// RUN: printf 'ML\357R' > %t.magic
// RUN: not spyre-opt %t.stablehlo 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not spyre-opt %t.22 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not spyre-opt %t.cut 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not spyre-opt %t.magic 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN-NOT: another MLIR
// BROKEN: :0:0: error:
