// RUN: not spyre-compile %s -o %t 2>&1 | FileCheck %s
// RUN: not test -e %t

// IR that says which phase it has behind it keeps the promises of that phase, or is refused before the next phase relies on them: here the
// layouts of an op and a buffer are missing, and nothing is written.

// CHECK: behind-a-phase.mlir:[[#@LINE+5]]:10: error{{.*}}'spyre.pointwise' op is not allowed after phase 'layout': its result has no device layout
// CHECK: behind-a-phase.mlir:[[#@LINE+5]]:10: error{{.*}}'spyre.pointwise' op is not allowed after phase 'layout': its result has no device layout
// CHECK-NOT: compiler bug
module attributes {spyre.phase = "layout"} {
  func.func @program(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
    %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
    %z = spyre.pointwise exp(%y) : tensor<64x64xf16>
    return %z : tensor<64x64xf16>
  }
}
