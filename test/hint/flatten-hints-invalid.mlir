// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-flatten-hints %s
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

// -----

// Whose id comes first, and which of the two is the outer tile, is nowhere written.
func.func @hints_in_a_scope(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %scope = spyre.hint tiles(A = 2) {
    // expected-error @+1 {{'spyre.pointwise' op has hints of its own, and stands in a scope or under the option 'tiles'}}
    %exp = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, B = 4>]} : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}
