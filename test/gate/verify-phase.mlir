// RUN: spyre-opt --spyre-compile="compile-to=lx" --spyre-verify-phase=phase=import --spyre-verify-phase=phase=layout --spyre-verify-phase=phase=tile --spyre-verify-phase=phase=work --spyre-verify-phase=phase=lx %s | FileCheck %s

// A program keeps the promises of all phases that it has been through.
// CHECK-LABEL: func @exp
// CHECK: spyre.pointwise exp
func.func @exp(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
