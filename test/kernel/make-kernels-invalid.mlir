// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-make-kernels %s
// RUN: not spyre-opt --spyre-make-kernels="knobs=gone.T=2" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not spyre-opt --spyre-make-kernels="knobs=twice.V=2" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=KNOB
// RUN: not spyre-opt --spyre-make-kernels="knobs=twice.T=3" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not spyre-opt --spyre-make-kernels="knobs=twice=3" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not spyre-compile %S/../../examples/kernels/attention.mlir -o %t --knobs attention.H=4,attention.K=4 2>&1 | FileCheck %s --check-prefix=CONDITION
// KERNEL: error{{.*}}'builtin.module' op has no kernel 'gone', of which option 'knobs' names a knob: its kernels are 'helper', 'twice'
// KNOB: error{{.*}}'spyre.kernel' op has no knob 'V': its knobs are 'T', 'U'
// VALUE: error{{.*}}'spyre.kernel' op has no value 3 for its knob 'T': it may be 1, 2, 4, 8
// TEXT: error{{.*}}'builtin.module' op option 'knobs': expected KERNEL.KNOB=VALUE with a positive value, found 'twice=3'
// CONDITION: error{{.*}}'spyre.kernel' op breaks the condition "H * K <= 8" with H = 4, K = 4

// expected-error @+1 {{'func.func' op is the program itself: 'spyre.kernel' is for functions that it calls}}
func.func @program(%x: tensor<64x128xf16>) -> tensor<64x128xf16> attributes {spyre.kernel} {
  return %x : tensor<64x128xf16>
}

// -----

// expected-note @+1 {{the kernel}}
func.func private @nothing(%x: tensor<64x128xf16>) attributes {spyre.kernel} {
  return
}

func.func @program(%x: tensor<64x128xf16>) {
  // expected-error @+1 {{'func.call' op calls the kernel 'nothing', which gives nothing}}
  call @nothing(%x) : (tensor<64x128xf16>) -> ()
  return
}

// -----

// expected-note @+1 {{the kernel}}
func.func private @open(%x: tensor<?x128xf16>) -> tensor<?x128xf16> attributes {spyre.kernel} {
  return %x : tensor<?x128xf16>
}

func.func @program(%x: tensor<?x128xf16>) -> tensor<?x128xf16> {
  // expected-error @+1 {{'func.call' op calls the kernel 'open' with tensor<?x128xf16>: a kernel takes and gives tensors of static shape}}
  %y = call @open(%x) : (tensor<?x128xf16>) -> tensor<?x128xf16>
  return %y : tensor<?x128xf16>
}

// -----

// expected-error @+1 {{'func.func' op names 3 dimensions of argument 0, which has 2: a kernel has one name a dimension}}
func.func private @names(%x: tensor<64x128xf16> {spyre.dims = ["a", "b", "c"]}) -> tensor<64x128xf16> attributes {spyre.kernel} {
  return %x : tensor<64x128xf16>
}

func.func @program(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %y = call @names(%x) : (tensor<64x128xf16>) -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// -----

// The count of a loop that is written by hand is what its tiles say: a knob cannot be meant for it.
// expected-note @+1 {{the kernel}}
func.func private @idle(%x: tensor<64x128xf16>) -> tensor<64x128xf16> attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>]} {
  %y = spyre.loop 4 "rows" tiled(%tile = %x[0] : tensor<64x128xf16>) {
    %e = spyre.pointwise exp(%tile) : tensor<16x128xf16>
    spyre.yield %e[0] : tensor<16x128xf16>
  } : tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
func.func @main(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-warning @+1 {{has a knob 'T' that changes nothing: no hint scope has it as a number of tiles or of slices}}
  %y = call @idle(%x) : (tensor<64x128xf16>) -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
