// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-layouts --spyre-divide-work %s
// RUN: not spyre-opt --split-input-file --spyre-divide-work %s 2>&1 | FileCheck %s --check-prefix=NO-LAYOUT

// The rows are divided, but it is the sticks side by side that are too many: spyre-reduce-span has not run.
func.func @span_that_was_not_reduced(%x: tensor<16384x16384xf16>) -> tensor<16384x16384xf16> {
  // NO-LAYOUT: divide-work-invalid.mlir:[[#@LINE+2]]:{{[0-9]+}}: error{{.*}}has an operand without a device layout
  // expected-error @+1 {{operand 0 spans 536870912 bytes on one core; the hardware limit is 268431360 (device size [256, 16384, 64]; slices: iteration dimension 1: 1 of at most 256, iteration dimension 0: 32 of at most 16384)}}
  %exp = spyre.pointwise exp(%x) : tensor<16384x16384xf16>
  return %exp : tensor<16384x16384xf16>
}

// -----

// expected-error @+1 {{'cores' must be positive, found 0}}
module attributes {spyre.target = {cores = 0 : i64}} {
}

// -----

// Hand-written minima are checked like those of spyre-reduce-span.
func.func @minima_for_more_cores(%x: tensor<16384x16384xf16>) -> tensor<16384x16384xf16> {
  // expected-error @+1 {{expected at most 32 slices in all, one per core, found 128; request fewer slices}}
  %exp = spyre.pointwise exp(%x) {min_work = #spyre.work<[1, 128]>} : tensor<16384x16384xf16>
  return %exp : tensor<16384x16384xf16>
}
