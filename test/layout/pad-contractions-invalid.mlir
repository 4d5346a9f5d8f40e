// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-layouts --spyre-pad-contractions %s
// RUN: not spyre-opt --split-input-file --spyre-pad-contractions %s 2>&1 | FileCheck %s --check-prefix=NO-LAYOUT

func.func @k_that_ends_inside_a_stick(%x: tensor<8x100xf16>, %y: tensor<100x64xf16>) -> tensor<8x64xf16> {
  // NO-LAYOUT: pad-contractions-invalid.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'spyre.matmul' op has an operand without a device layout
  // expected-error @+1 {{'spyre.matmul' op contracts 100 elements, which is no multiple of a stick of 64: padding is not supported yet}}
  %product = spyre.matmul(%x, %y) : (tensor<8x100xf16>, tensor<100x64xf16>) -> tensor<8x64xf16>
  return %product : tensor<8x64xf16>
}
