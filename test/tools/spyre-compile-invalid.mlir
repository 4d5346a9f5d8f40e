// RUN: not spyre-compile %s.missing -o %t.out 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not spyre-compile %s -o %t.out --lx-planner worst 2>&1 | FileCheck %s --check-prefix=PLANNER
// RUN: not spyre-compile %s -o %t.out --cores many 2>&1 | FileCheck %s --check-prefix=CORES
// RUN: not spyre-compile %s -o %t.out --cores 33 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not spyre-compile %s -o %t.out --compile-to lxx 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not spyre-compile %s -o %t.out --dims 0=A:B --tiles A=3 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not spyre-compile %s -o %t.out --tiles A 2>&1 | FileCheck %s --check-prefix=SPELLING
// RUN: not spyre-compile %s -o %t.out --tiles A=T --bind T=U 2>&1 | FileCheck %s --check-prefix=BINDING
// RUN: not spyre-compile %s -o %t.out --target %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not spyre-compile %s -o %t.out --unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not spyre-compile %s 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not spyre-compile %s -o %s 2>&1 | FileCheck %s --check-prefix=OCCUPIED
// RUN: not spyre-compile %s -o %t.out --report %t.nowhere/report.json 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not spyre-compile %s -o %t.out --report %t.txt 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not spyre-compile %s -o %t.out --trace %S 2>&1 | FileCheck %s --check-prefix=TRACE
// RUN: not ls %t.out

// MISSING: error{{.*}}cannot read '{{.*}}.missing'
// PLANNER: error{{.*}}invalid value 'worst' for '--lx-planner <PLANNER>'
// CORES: error{{.*}}--cores: expected a number, found 'many'
// RANGE: error{{.*}}--cores: cannot use 33 cores: the machine has 1 to 32
// PHASE: error{{.*}}--compile-to: expected 'import', 'layout', 'hint', 'tile', 'work', 'lx', 'bundle' or 'emit', found 'lxx'
// TILES: spyre-compile-invalid.mlir:[[#@LINE+15]]:{{[0-9]+}}: error{{.*}}'linalg.exp' op cannot cut 'A' of 64 into 3 tiles of equal size
// SPELLING: error{{.*}}--tiles: expected NAME=COUNT with a positive count or the name of one, found 'A'
// BINDING: error{{.*}}--bind: expected NAME=NUMBER with the name of a count and a positive number, found 'T=U'
// TARGET: error{{.*}}--target: '{{.*}}' is no machine description
// UNKNOWN: error{{.*}}unexpected argument '--unknown'
// OUTPUT: error{{.*}}-o: no directory is given
// REPORT: error{{.*}}--report: cannot write '{{.*}}nowhere/report.json': there is no folder
// FORM: error{{.*}}--report: '{{.*}}.txt' ends in neither '.json' nor '.html': name it FILE.json for data and a picture, or FILE.html for one page
// TRACE: error{{.*}}--trace: cannot write '{{.*}}tools': it is a directory
// OCCUPIED: error: {{.*}}will not replace

// Each mistake has one message; nothing is written.
module {
  func.func @exp(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
    %empty = tensor.empty() : tensor<64x64xf16>
    %y = linalg.exp ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
    return %y : tensor<64x64xf16>
  }
}
