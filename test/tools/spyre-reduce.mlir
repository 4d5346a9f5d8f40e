// A rejected program is reduced to the rejected operation and its dependences; other values become arguments.
// RUN: spyre-reduce %s -o %t.mlir -- spyre-compile {} -o %t.out | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --check-prefix=REFUSED < %t.mlir
// RUN: not spyre-compile %t.mlir -o %t.out 2>&1 | FileCheck %s --check-prefix=STILL

// The property may be a text that the command prints. The file name is appended to the command; the result goes to standard output.
// RUN: spyre-reduce %s --says linalg.tanh -- cat | FileCheck %s --check-prefix=TANH
// If two ops are needed, the ops between them are kept, because the second op depends on the first through them.
// RUN: spyre-reduce %s --says "tanh, erf" -- sh -c 'if grep -q tanh $0 && grep -q erf $0; then echo tanh, erf; fi' {} | FileCheck %s --check-prefix=BOTH
// Without tests nothing is removed.
// RUN: spyre-reduce %s --tests 0 -- spyre-compile {} -o %t.out | FileCheck %s --check-prefix=WHOLE

// RUN: not spyre-reduce %s -- cat 2>&1 | FileCheck %s --check-prefix=SUCCEEDS
// RUN: not spyre-reduce %s --says nonsuch -- true 2>&1 | FileCheck %s --check-prefix=SILENT
// RUN: not spyre-reduce %s --entry other -- cat 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not spyre-reduce %s -- %t.nowhere 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not spyre-reduce %t.nowhere -- cat 2>&1 | FileCheck %s --check-prefix=INPUT

// SAID: 1 of 5 operations are left after {{[0-9]+}} tests: {{.*}}.mlir
// REFUSED: func.func @main(%arg0: tensor<4x64xf16>, %arg1: tensor<4x64xf16>) -> tensor<4x64xf16>
// REFUSED-NEXT: %[[REFUSED:.*]] = linalg.generic
// REFUSED: arith.bitcast
// REFUSED-NOT: linalg.generic
// REFUSED: return %[[REFUSED]] : tensor<4x64xf16>
// STILL: error{{.*}}: {{.*}}arith.bitcast

// TANH: func.func @main(%arg0: tensor<4x64xf16>, %arg1: tensor<4x64xf16>) -> tensor<4x64xf16>
// TANH-NEXT: linalg.tanh
// TANH-NEXT: return

// BOTH: linalg.tanh
// BOTH: linalg.generic
// BOTH: linalg.erf
// BOTH-NEXT: return

// WHOLE-COUNT-4: linalg
// SUCCEEDS: spyre-reduce: error{{.*}}expected a command that fails for the whole program, found success; give a failing command, or name its message with --says
// SILENT: spyre-reduce: error{{.*}}expected the command to print 'nonsuch' for the whole program, found:
// ENTRY: spyre-reduce: error{{.*}}--entry other: expected one of the functions 'main'
// NOWHERE: spyre-reduce: error{{.*}}cannot run '{{.*}}nowhere'
// INPUT: spyre-reduce: error{{.*}}cannot read '{{.*}}nowhere'

func.func @main(%x: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>) {
  %empty = tensor.empty() : tensor<4x64xf16>
  %0 = linalg.tanh ins(%x : tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %bits = arith.bitcast %in : f16 to i16
    %same = arith.bitcast %bits : i16 to f16
    linalg.yield %same : f16
  } -> tensor<4x64xf16>
  %2 = linalg.erf ins(%1 : tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  %3 = linalg.exp ins(%2 : tensor<4x64xf16>) outs(%empty : tensor<4x64xf16>) -> tensor<4x64xf16>
  return %3, %0 : tensor<4x64xf16>, tensor<4x64xf16>
}
