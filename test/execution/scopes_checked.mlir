// The reference runs a module with scopes, names of dimensions and calls as it is.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/scopes.mlir --bind T=4 -o %t/scopes > %t/log && spyre-run %t/scopes --check %t/scopes.mlir | FileCheck %s
// RUN: spyre-compile %t/calls.mlir -o %t/calls > %t/log && spyre-run %t/calls --check %t/calls.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOOPS < %t/calls/bundle_0/bundle.mlir
// RUN: spyre-compile %t/callee.mlir -o %t/callee > %t/log && spyre-run %t/callee --check %t/callee.mlir | FileCheck %s
// RUN: not spyre-run %t/scopes --check %t/spyre.mlir 2>&1 | FileCheck %s --check-prefix=SPYRE
// CHECK: result0: correct
// SPYRE: error{{.*}}'{{.*}}spyre.mlir' has 'spyre.pointwise' at {{.*}}: MLIR's JIT runs linalg on tensors, so check against the program before it was imported

//--- scopes.mlir
module attributes {spyre.target = {cores = 4}} {
  func.func @f(%a: tensor<64x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x128xf16> attributes {spyre.symbols = {T = 4}} {
    %e = tensor.empty() : tensor<64x128xf16>
    %h = spyre.hint tiles(A = "T") {
      %y = linalg.exp ins(%a : tensor<64x128xf16>) outs(%e : tensor<64x128xf16>) -> tensor<64x128xf16>
      %i = spyre.hint tiles(B = 2) work_div(A = 4) {
        %z = linalg.add ins(%a, %y : tensor<64x128xf16>, tensor<64x128xf16>) outs(%e : tensor<64x128xf16>) -> tensor<64x128xf16>
        spyre.yield %z : tensor<64x128xf16>
      }
      spyre.yield %i : tensor<64x128xf16>
    }
    return %h : tensor<64x128xf16>
  }
}

//--- calls.mlir
// LOOPS-COUNT-1: scf.for
func.func private @g(%a: tensor<256x128xf16>) -> tensor<256x128xf16> {
  %e = tensor.empty() : tensor<256x128xf16>
  %y = linalg.tanh ins(%a : tensor<256x128xf16>) outs(%e : tensor<256x128xf16>) -> tensor<256x128xf16>
  return %y : tensor<256x128xf16>
}
func.func @f(%a: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<256x128xf16> {
  %h = spyre.hint tiles(A = 4) {
    %y = func.call @g(%a) : (tensor<256x128xf16>) -> tensor<256x128xf16>
    %z = func.call @g(%y) : (tensor<256x128xf16>) -> tensor<256x128xf16>
    spyre.yield %z : tensor<256x128xf16>
  }
  return %h : tensor<256x128xf16>
}

//--- callee.mlir
func.func private @g(%a: tensor<256x128xf16>) -> tensor<256x128xf16> {
  %h = spyre.hint tiles(A = 4) {
    %e = tensor.empty() : tensor<256x128xf16>
    %y = linalg.tanh ins(%a : tensor<256x128xf16>) outs(%e : tensor<256x128xf16>) -> tensor<256x128xf16>
    spyre.yield %y : tensor<256x128xf16>
  }
  return %h : tensor<256x128xf16>
}
func.func @f(%a: tensor<256x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<256x128xf16> {
  %z = func.call @g(%a) : (tensor<256x128xf16>) -> tensor<256x128xf16>
  %y = func.call @g(%z) : (tensor<256x128xf16>) -> tensor<256x128xf16>
  return %y : tensor<256x128xf16>
}

//--- spyre.mlir
func.func @f(%a: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %y = spyre.pointwise exp(%a) : tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
