// RUN: spyre-opt --spyre-form-bundles --split-input-file --verify-diagnostics %s
// RUN: not spyre-opt --spyre-form-bundles=addresses=real %s 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error{{.*}}'builtin.module' op option 'addresses': expected 'symbolic' or 'baked', found 'real'

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
module attributes {spyre.target = {pool_bytes = 8192 : i64}} {
  func.func @the_pool_is_too_small(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
    // expected-error @+1 {{expected the temporaries of a launch to fit in the pool of 8192 bytes, found no space for 8192 bytes; use smaller tensors}}
    %a = spyre.pointwise abs(%x) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %b = spyre.pointwise log(%a) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %c = spyre.pointwise add(%a, %b) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    return %c : tensor<64x64xf16, #layout>
  }
}

// -----

// expected-error @+1 {{'builtin.module' op 'spyre.target': unknown field `core`}}
module attributes {spyre.target = {core = 4 : i64}} {
}

// -----

#other = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @a_loop_that_is_not_settled(%x: tensor<64x64xf16, #other>, %y: tensor<64x64xf16, #other>) -> tensor<64x64xf16, #other> {
  %start = spyre.copy %y : tensor<64x64xf16, #other> -> tensor<64x64xf16, #other>
  // expected-error @+1 {{'spyre.loop' op overwrites carried value 0 before its last use; run spyre-insert-loop-copies first}}
  %r = spyre.loop 4 "T" carried(%m = %start : tensor<64x64xf16, #other>) {
    %n = spyre.pointwise maximum(%m, %x) : tensor<64x64xf16, #other>
    %d = spyre.pointwise sub(%n, %m) : tensor<64x64xf16, #other>
    spyre.yield %n : tensor<64x64xf16, #other>
  } : tensor<64x64xf16, #other>
  return %r : tensor<64x64xf16, #other>
}
