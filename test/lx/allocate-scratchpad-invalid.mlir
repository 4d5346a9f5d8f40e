// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-allocate-scratchpad %s
// RUN: not spyre-opt --split-input-file --spyre-allocate-scratchpad=planner=worst-fit %s 2>&1 | FileCheck %s --check-prefix=PLANNER

// The error stands at the module: an option has no place in the file.
// PLANNER: allocate-scratchpad-invalid.mlir:[[#@LINE+1]]:1: error{{.*}}'builtin.module' op unknown LX planner 'worst-fit': expected 'none', 'greedy', 'first-fit', 'best-fit' or 'exact'
module {
}

// -----

func.func @tensors_without_layouts(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op has an operand without a device layout}}
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// -----

#rows = #spyre.layout<[1, 8, 64], [64, 64, 1]>
func.func @work_that_is_not_divided(%x: tensor<8x64xf16, #rows>) -> tensor<8x64xf16, #rows> {
  // expected-error @+1 {{'spyre.pointwise' op has no 'work'; run spyre-divide-work first}}
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16, #rows>
  return %exp : tensor<8x64xf16, #rows>
}

// -----

#flat_rows = #spyre.layout<[8, 64], [64, 1]>
func.func @reshape(%x: tensor<8x64xf16>) -> tensor<512xf16> {
  %flat = spyre.view %x by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads through (d0) -> (d0 floordiv 64, d0 mod 64): only permuted, shifted, added or dropped dimensions are supported here}}
  %exp = spyre.pointwise exp(%flat) : (tensor<512xf16>) -> tensor<512xf16, #flat_rows>
  %sum = spyre.pointwise neg(%exp) : tensor<512xf16, #flat_rows>
  return %flat : tensor<512xf16>
}

// -----

// expected-error @+1 {{'builtin.module' op 'lx_bytes' must be a multiple of 128, found 100}}
module attributes {spyre.target = {lx_bytes = 100 : i64}} {
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @a_loop_that_is_not_settled(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  %start = spyre.copy %y : tensor<64x64xf16, #layout> -> tensor<64x64xf16, #layout>
  // expected-error @+1 {{'spyre.loop' op overwrites carried value 0 before its last use; run spyre-insert-loop-copies first}}
  %r = spyre.loop 4 "T" carried(%m = %start : tensor<64x64xf16, #layout>) {
    %n = spyre.pointwise maximum(%m, %x) : tensor<64x64xf16, #layout>
    %d = spyre.pointwise sub(%n, %m) : tensor<64x64xf16, #layout>
    spyre.yield %n : tensor<64x64xf16, #layout>
  } : tensor<64x64xf16, #layout>
  return %r : tensor<64x64xf16, #layout>
}
