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
// CORES: error{{.*}}--cores: expected a number, found 'many'; give one such as 8
// RANGE: error{{.*}}--cores: expected 1 to 32 cores, found 33; use at most 32
// PHASE: error{{.*}}--compile-to: expected 'import', 'layout', 'hint', 'tile', 'work', 'lx', 'bundle' or 'emit', found 'lxx'
// TILES: spyre-compile-invalid.mlir:[[#@LINE+15]]:{{[0-9]+}}: error{{.*}}tile count 3 does not divide dimension 'A' of size 64; nearest divisors are 2 and 4
// SPELLING: error{{.*}}--tiles: expected NAME=COUNT with a positive number or a name as COUNT, found 'A'
// BINDING: error{{.*}}--bind: expected NAME=NUMBER with the name of a count and a positive number, found 'T=U'
// TARGET: error{{.*}}--target: expected a machine description, found '{{.*}}test/tools/spyre-compile-invalid.mlir': expected value at line 1 column 1; give an object of numbers, such as {"cores": 4}
// UNKNOWN: error{{.*}}unexpected argument '--unknown'
// OUTPUT: error{{.*}}missing output directory; add -o DIR
// REPORT: error{{.*}}--report: cannot write '{{.*}}.nowhere/report.json': there is no directory '{{.*}}.nowhere'; create it first
// FORM: error{{.*}}--report: expected a file name that ends in '.json' or '.html', found '{{.*}}.txt'; use FILE.json for data, or FILE.html for a page
// TRACE: error{{.*}}--trace: expected a file to write, found the directory '{{.*}}test/tools'; name a file
// OCCUPIED: error{{.*}}-o: expected a new path or an older bundle, found the file '{{.*}}test/tools/spyre-compile-invalid.mlir'; name another path, or remove the file

// Each mistake has one message; nothing is written.
module {
  func.func @exp(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
    %empty = tensor.empty() : tensor<64x64xf16>
    %y = linalg.exp ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
    return %y : tensor<64x64xf16>
  }
}
