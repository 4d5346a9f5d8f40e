// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-make-kernels %s
// RUN: not spyre-opt --spyre-make-kernels="knobs=gone.T=2" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not spyre-opt --spyre-make-kernels="knobs=twice.V=2" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=KNOB
// RUN: not spyre-opt --spyre-make-kernels="knobs=twice.T=3" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not spyre-opt --spyre-make-kernels="knobs=twice=3" %S/make-kernels.mlir 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not spyre-compile %S/../../examples/kernels/attention.mlir -o %t --knobs attention.H=4,attention.K=4 2>&1 | FileCheck %s --check-prefix=CONDITION
// KERNEL: error{{.*}}option 'knobs': expected a kernel of the program, found 'gone'; choose one of 'helper', 'twice'
// KNOB: error{{.*}}'spyre.kernel' op option 'knobs': expected a knob of the kernel, found 'V'; choose one of 'T', 'U'
// VALUE: error{{.*}}'spyre.kernel' op option 'knobs': expected 1, 2, 4, 8 for knob 'T', found 3
// TEXT: error{{.*}}'builtin.module' op option 'knobs': expected KERNEL.KNOB=VALUE with a positive value, found 'twice=3'
// CONDITION: error{{.*}}'func.call' op breaks the condition "H * K <= 8" with H = 4, K = 4

// expected-error @+1 {{'func.func' op expected 'spyre.kernel' on a function that the entry function calls, found it on the entry function; remove it}}
func.func @program(%x: tensor<64x128xf16>) -> tensor<64x128xf16> attributes {spyre.kernel} {
  return %x : tensor<64x128xf16>
}

// -----

// expected-note @+1 {{the kernel}}
func.func private @nothing(%x: tensor<64x128xf16>) attributes {spyre.kernel} {
  return
}

func.func @program(%x: tensor<64x128xf16>) {
  // expected-error @+1 {{'func.call' op expected a kernel with results, found 'nothing' without; return a tensor}}
  call @nothing(%x) : (tensor<64x128xf16>) -> ()
  return
}

// -----

// expected-note @+1 {{the kernel}}
func.func private @open(%x: tensor<?x128xf16>) -> tensor<?x128xf16> attributes {spyre.kernel} {
  return %x : tensor<?x128xf16>
}

func.func @program(%x: tensor<?x128xf16>) -> tensor<?x128xf16> {
  // expected-error @+1 {{'func.call' op expected tensors of static shape for kernel 'open', found tensor<?x128xf16>}}
  %y = call @open(%x) : (tensor<?x128xf16>) -> tensor<?x128xf16>
  return %y : tensor<?x128xf16>
}

// -----

// expected-error @+1 {{'func.func' op expected one name per dimension of argument 0, which has rank 2, found 3}}
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
  // expected-warning @+1 {{'spyre.kernel' op knob 'T' has no effect: no hint scope uses it as a tile count or core split}}
  %y = call @idle(%x) : (tensor<64x128xf16>) -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
