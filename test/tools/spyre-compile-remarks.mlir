// RUN: spyre-compile %s --compile-to lx -o %t.placed.mlir --lx-planner first-fit --remarks-filter ".*" 2>&1 | FileCheck %s
// RUN: spyre-compile %s -o %t --lx-planner none --remarks-filter-missed spyre-lx 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: spyre-compile %s -o %t --format json --remarks-filter-missed spyre-lx 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: spyre-compile %s -o %t -q --remarks-filter ".*" 2>&1 | count 0
// RUN: spyre-compile %s -o %t --validate --remarks-output-file %t.yaml 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
// RUN: spyre-compile %s -o %t --remarks-filter-analysis spyre-work --remarks-output-file - -q | FileCheck %s --check-prefix=WORK
// RUN: spyre-compile %s -o %t 2>&1 | FileCheck %s --check-prefix=NONE

// RUN: not spyre-compile %s -o %t --remarks-filter "spyre-(" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not spyre-compile %s -o %t --remarks-output-file %t.none/file.yaml 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not spyre-compile %s --compile-to work --remarks-filter ".*" 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: spyre-compile %s --compile-to lx -o %t.mlir && not spyre-compile %t.mlir -o %t --remarks-filter ".*" 2>&1 | FileCheck %s --check-prefix=LATE

// Each decision stands at its op, with a category that filters name.
// CHECK: spyre-compile-remarks.mlir:[[#@LINE+27]]:8: remark{{.*}}[Passed] place | Category:spyre-lx | Function=two {{.*}}result of 'neg' is in LX at 0
// CHECK: spyre-compile-remarks.mlir:[[#@LINE+26]]:8: remark{{.*}}[Analysis] division | Category:spyre-work | Function=two {{.*}}'neg' runs on {{[0-9]+}} cores
// CHECK: remark{{.*}}[Missed] place | Category:spyre-lx | {{.*}}result of 'exp' is in HBM: it is a result of the graph

// MISSED: remark{{.*}}: {{.*}}spyre-lx{{.*}}is in HBM: the LX planner is off
// MISSED-NOT: spyre-work

// JSON: {"severity":"remark","code":"SPY0701","kind":"missed","category":"spyre-lx","name":"place","function":"two","file":"{{.*}}spyre-compile-remarks.mlir","line":[[#@LINE+21]],"column":8,"message":"

// A file has all of them where nothing is said of which, once each: what validation compiles again is not told. The terminal has none.
// FILE-NOT: remark:
// YAML-COUNT-2: Name: {{ *}}place
// YAML-NOT: Name: {{ *}}place

// WORK: --- !Analysis
// WORK-NEXT: Pass: {{ *}}spyre-work
// WORK-NOT: spyre-lx

// NONE-NOT: remark:

// PATTERN: spyre-compile: error{{.*}}--remarks-filter: 'spyre-(' is not a regular expression: parentheses not balanced
// PLACE: spyre-compile: error{{.*}}--remarks-output-file: cannot write '{{.*}}.none/file.yaml': there is no directory '{{.*}}.none'; create it first
// EARLY: spyre-compile: error{{.*}}remarks are emitted by phase 'lx', but the compilation stops after phase 'work'; remove '--remarks-...', or compile through phase 'lx'
// LATE: spyre-compile: error{{.*}}remarks are emitted by phase 'lx', but the module has already run phase 'lx'; remove '--remarks-...', or compile through phase 'lx'

func.func @two(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %e = tensor.empty() : tensor<64x64xf16>
  %0 = linalg.negf ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  %1 = linalg.exp ins(%0 : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %1 : tensor<64x64xf16>
}
