// Kernels with several scopes beside each other: what belongs to one of the scopes moves into that one, and a scope of the second kernel joins the scope of the
// first one that it reads, while the other scopes stay what they are.
// RUN: spyre-opt --spyre-fuse-prologue-epilogue --spyre-validate-each %s | FileCheck %s
// RUN: spyre-compile %s --entry own_scopes -o %t.own --validate | FileCheck %s --check-prefix=OWN
// RUN: spyre-compile %s --entry two_kernels -o %t.two --validate | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %s --entry two_kernels -o %t.apart --kernels separate | FileCheck %s --check-prefix=APART

// Ops on both sides of each scope.
// CHECK-LABEL: func.func @own_scopes(
// CHECK-NEXT:    [[K:%.+]]:2 = spyre.kernel "k"
// CHECK-NEXT:      spyre.hint tiles(rows = 4)
// CHECK-NEXT:        spyre.pointwise mul(
// CHECK-NEXT:        spyre.reduce max(
// CHECK-NEXT:        spyre.pointwise sub(
// CHECK-NEXT:        spyre.pointwise abs(
// CHECK-NEXT:        spyre.yield
// CHECK:           spyre.hint tiles(others = 8)
// CHECK-NEXT:        spyre.pointwise neg(
// CHECK-NEXT:        spyre.reduce sum(
// CHECK-NEXT:        spyre.pointwise mul(
// CHECK-NEXT:        spyre.pointwise relufwd(
// CHECK-NEXT:        spyre.yield
// CHECK:         return [[K]]#0, [[K]]#1
// OWN: kernel 'k': INLINE mul, neg, abs, relufwd{{$}}
// OWN: validated: the files and the imported program agree
func.func @own_scopes(%x: tensor<512x1024xf16>, %s: tensor<1x1024xf16>, %w: tensor<512x1024xf16>)
    -> (tensor<512x1024xf16>, tensor<512x1024xf16>) {
  %p = spyre.pointwise mul(%x, %s) : (tensor<512x1024xf16>, tensor<1x1024xf16>) -> tensor<512x1024xf16>
  %q = spyre.pointwise neg(%w) : tensor<512x1024xf16>
  %y:2 = spyre.kernel "k"(%a = %p : tensor<512x1024xf16>, %b = %q : tensor<512x1024xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %m = spyre.reduce max(%a) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
      %d = spyre.pointwise sub(%a, %m) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
      spyre.yield %d : tensor<512x1024xf16>
    }
    %f = spyre.hint tiles(others = 8) {
      %m = spyre.reduce sum(%b) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
      %d = spyre.pointwise mul(%b, %m) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
      spyre.yield %d : tensor<512x1024xf16>
    }
    spyre.yield %e, %f : tensor<512x1024xf16>, tensor<512x1024xf16>
  } {input_dims = [["rows", ""], ["others", ""]]}
  %u = spyre.pointwise abs(%y#0) : tensor<512x1024xf16>
  %v = spyre.pointwise relufwd(%y#1) : tensor<512x1024xf16>
  return %u, %v : tensor<512x1024xf16>, tensor<512x1024xf16>
}

// The scope over 'm' reads what the scope over 'rows' makes, in the same loops: it joins that one, with a constant that the scope over 'n' reads, too. The sum
// behind both of its scopes stays in the second kernel, and what the kernel gave of the scope over 'm' the first kernel gives.
// CHECK-LABEL: func.func @two_kernels(
// CHECK:         [[FIRST:%.+]]:2 = spyre.kernel "first"
// CHECK-NEXT:      [[ROWS:%.+]] = spyre.hint tiles(rows = 8)
// CHECK-NEXT:        spyre.pointwise exp(
// CHECK-NEXT:        spyre.pointwise relufwd(
// CHECK-NEXT:        spyre.pointwise tanh(
// CHECK-NEXT:        spyre.constant
// CHECK-NEXT:        spyre.pointwise mul(
// CHECK-NEXT:        spyre.yield
// CHECK:           [[OTHERS:%.+]] = spyre.hint tiles(others = 2)
// CHECK-NEXT:        spyre.pointwise abs(
// CHECK:           spyre.yield [[OTHERS]], [[ROWS]]
// CHECK:         [[SECOND:%.+]]:2 = spyre.kernel "second"([[C:%.+]] = [[FIRST]]#0 : {{.*}}, [[D:%.+]] = [[FIRST]]#1
// CHECK-NEXT:      spyre.constant
// CHECK-NEXT:      [[N:%.+]] = spyre.hint tiles(n = 4)
// CHECK-NEXT:        spyre.pointwise mul([[C]],
// CHECK:           [[MAX:%.+]] = spyre.reduce max([[D]])
// CHECK-NEXT:      spyre.yield [[N]], [[MAX]]
// CHECK:         return [[FIRST]]#1, [[SECOND]]#0, [[SECOND]]#1
// TWO:   kernel 'first': INLINE relufwd, tanh, mul; SEPARATE spyre.kernel [E-GRID]
// TWO:   HBM traffic 36.25 MiB
// TWO:   validated: the files and the imported program agree
// APART: HBM traffic 52.25 MiB
func.func @two_kernels(%x: tensor<2048x1024xf16>, %w: tensor<2048x1024xf16>) -> (tensor<2048x1024xf16>, tensor<2048x1024xf16>, tensor<2048x1xf16>) {
  %y:2 = spyre.kernel "first"(%a = %x : tensor<2048x1024xf16>, %b = %w : tensor<2048x1024xf16>) {
    %e = spyre.hint tiles(rows = 8) {
      %exp = spyre.pointwise exp(%a) : tensor<2048x1024xf16>
      spyre.yield %exp : tensor<2048x1024xf16>
    }
    %f = spyre.hint tiles(others = 2) {
      %abs = spyre.pointwise abs(%b) : tensor<2048x1024xf16>
      spyre.yield %abs : tensor<2048x1024xf16>
    }
    spyre.yield %e, %f : tensor<2048x1024xf16>, tensor<2048x1024xf16>
  } {input_dims = [["rows", ""], ["others", ""]]}
  %relu = spyre.pointwise relufwd(%y#0) : tensor<2048x1024xf16>
  %z:3 = spyre.kernel "second"(%c = %relu : tensor<2048x1024xf16>, %d = %y#1 : tensor<2048x1024xf16>) {
    %two = spyre.constant dense<2.0> : tensor<1x1xf16>
    %e = spyre.hint tiles(m = 8) {
      %tanh = spyre.pointwise tanh(%c) : tensor<2048x1024xf16>
      %twice = spyre.pointwise mul(%tanh, %two) : (tensor<2048x1024xf16>, tensor<1x1xf16>) -> tensor<2048x1024xf16>
      spyre.yield %twice : tensor<2048x1024xf16>
    }
    %f = spyre.hint tiles(n = 4) {
      %twice = spyre.pointwise mul(%d, %two) : (tensor<2048x1024xf16>, tensor<1x1xf16>) -> tensor<2048x1024xf16>
      spyre.yield %twice : tensor<2048x1024xf16>
    }
    %max = spyre.reduce max(%e) dims [1] : tensor<2048x1024xf16> -> tensor<2048x1xf16>
    spyre.yield %e, %f, %max : tensor<2048x1024xf16>, tensor<2048x1024xf16>, tensor<2048x1xf16>
  } {input_dims = [["m", ""], ["n", ""]]}
  return %z#0, %z#1, %z#2 : tensor<2048x1024xf16>, tensor<2048x1024xf16>, tensor<2048x1xf16>
}
