// RUN: spyre-compile %s --compile-to bundle -o %t.mlir
// RUN: spyre-compile %t.mlir -q -o %t.resumed
// RUN: sed 's/spyre.phase = "bundle"/other.phase = "bundle"/' %t.mlir > %t.other.mlir
// RUN: not spyre-compile %t.other.mlir -o %t.dir 2>&1 | FileCheck %s
// RUN: not test -e %t.dir

// Lowered IR must state its phase: without the attribute it is rejected before any pass relies on it.
// CHECK: other.mlir:{{[0-9:]+}} error{{.*}}'sdsc.program' op expected 'spyre.phase = "bundle"' on a module with ops of phase 'bundle'; add the attribute to continue after that phase
// CHECK-NOT: compiler bug
func.func @program(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
