// Loops that are written by hand in kernels: what stands beside the kernels moves to where the loops read and write tiles, in the modes that hint scopes have.
// RUN: spyre-compile %s --entry softmax -o %t.softmax --validate | FileCheck %s --check-prefix=SOFTMAX
// RUN: spyre-compile %s --entry softmax -o %t.apart --kernels separate | FileCheck %s --check-prefix=APART
// RUN: spyre-compile %s --entry softmax --compile-to tile | FileCheck %s --check-prefix=LOOPS
// RUN: spyre-compile %s --entry again -o %t.again --validate | FileCheck %s --check-prefix=AGAIN
// RUN: spyre-compile %s --entry once -o %t.once --validate | FileCheck %s --check-prefix=ONCE
// RUN: spyre-compile %s --entry sums -o %t.sums --validate 2>&1 | FileCheck %s --check-prefix=SUMS

// A scale in front of the loop, a residual behind it.
// SOFTMAX: kernel 'softmax': INLINE mul, add
// SOFTMAX: HBM traffic 3.13 MiB (lower bound 3.00 MiB, 1.04 times)
// SOFTMAX: validated: the files and the imported program agree
// APART:   HBM traffic 7.00 MiB (lower bound 3.00 MiB, 2.33 times)
// LOOPS:        spyre.loop 4 "rows" tiled(%{{.*}} = %arg0[0] : {{.*}}, %{{.*}} = %arg2[0]
// LOOPS-NEXT:     spyre.pointwise mul(
// LOOPS-NEXT:     spyre.pointwise exp(
// LOOPS-NEXT:     spyre.reduce sum(
// LOOPS-NEXT:     spyre.pointwise realdiv(
// LOOPS-NEXT:     spyre.pointwise add(
// LOOPS-NEXT:     spyre.yield
func.func @softmax(%x: tensor<512x1024xf16>, %s: tensor<1x1024xf16>, %r: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %scaled = spyre.pointwise mul(%x, %s) : (tensor<512x1024xf16>, tensor<1x1024xf16>) -> tensor<512x1024xf16>
  %y = spyre.kernel "softmax"(%in = %scaled : tensor<512x1024xf16>) {
    %rows = spyre.loop 4 "rows" tiled(%tile = %in[0] : tensor<512x1024xf16>) {
      %exp = spyre.pointwise exp(%tile) : tensor<128x1024xf16>
      %sum = spyre.reduce sum(%exp) dims [1] : tensor<128x1024xf16> -> tensor<128x1xf16>
      %part = spyre.pointwise realdiv(%exp, %sum) : (tensor<128x1024xf16>, tensor<128x1xf16>) -> tensor<128x1024xf16>
      spyre.yield %part[0] : tensor<128x1024xf16>
    } : tensor<512x1024xf16>
    spyre.yield %rows : tensor<512x1024xf16>
  }
  %z = spyre.pointwise add(%y, %r) : tensor<512x1024xf16>
  return %z : tensor<512x1024xf16>
}

// The loop over rows does not cut the weights, the one over columns in it does: they are scaled anew for each tile of rows.
// AGAIN: kernel 'matmul': INLINE mul (2 times, {{[0-9.]+}} us more)
// AGAIN: validated: the files and the imported program agree
func.func @again(%x: tensor<256x128xf16>, %w: tensor<128x512xf16>, %s: tensor<1x512xf16>) -> tensor<256x512xf16> {
  %scaled = spyre.pointwise mul(%w, %s) : (tensor<128x512xf16>, tensor<1x512xf16>) -> tensor<128x512xf16>
  %y = spyre.kernel "matmul"(%l = %x : tensor<256x128xf16>, %r = %scaled : tensor<128x512xf16>) {
    %m = spyre.loop 2 "m" tiled(%lt = %l[0] : tensor<256x128xf16>) {
      %n = spyre.loop 2 "n" tiled(%rt = %r[1] : tensor<128x512xf16>) {
        %p = spyre.matmul(%lt, %rt) : (tensor<128x128xf16>, tensor<128x256xf16>) -> tensor<128x256xf16>
        spyre.yield %p[1] : tensor<128x256xf16>
      } : tensor<128x512xf16>
      spyre.yield %n[0] : tensor<128x512xf16>
    } : tensor<256x512xf16>
    spyre.yield %m : tensor<256x512xf16>
  }
  return %y : tensor<256x512xf16>
}

// Each tile of rows reads all of the weights: they are scaled once, outside of the loop, and kept.
// ONCE: kernel 'matmul': STAGE mul
// ONCE: validated: the files and the imported program agree
func.func @once(%x: tensor<256x128xf16>, %w: tensor<128x512xf16>, %s: tensor<1x512xf16>) -> tensor<256x512xf16> {
  %scaled = spyre.pointwise mul(%w, %s) : (tensor<128x512xf16>, tensor<1x512xf16>) -> tensor<128x512xf16>
  %y = spyre.kernel "matmul"(%l = %x : tensor<256x128xf16>, %r = %scaled : tensor<128x512xf16>) {
    %m = spyre.loop 4 "m" tiled(%lt = %l[0] : tensor<256x128xf16>) {
      %p = spyre.matmul(%lt, %r) : (tensor<64x128xf16>, tensor<128x512xf16>) -> tensor<64x512xf16>
      spyre.yield %p[0] : tensor<64x512xf16>
    } : tensor<256x512xf16>
    spyre.yield %m : tensor<256x512xf16>
  }
  return %y : tensor<256x512xf16>
}

// A sum that the loop carries is there behind the loop only; the operands of its addends are made in the loop.
// SUMS: remark{{.*}}not fused after kernel 'sums' (E-ACC): the outermost loop of the kernel accumulates the output
// SUMS: kernel 'sums': INLINE neg; SEPARATE relufwd [E-ACC]
// SUMS: validated: the files and the imported program agree
func.func @sums(%x: tensor<256x4096xf16>, %w: tensor<4096x64xf16>) -> tensor<256x64xf16> {
  %neg = spyre.pointwise neg(%x) : tensor<256x4096xf16>
  %y = spyre.kernel "sums"(%l = %neg : tensor<256x4096xf16>, %r = %w : tensor<4096x64xf16>) {
    %zero = spyre.fill 0.0 : f16 -> tensor<256x64xf16>
    %k = spyre.loop 8 "k" tiled(%lt = %l[1] : tensor<256x4096xf16>, %rt = %r[0] : tensor<4096x64xf16>) carried(%before = %zero : tensor<256x64xf16>) {
      %p = spyre.matmul(%lt, %rt) : (tensor<256x512xf16>, tensor<512x64xf16>) -> tensor<256x64xf16>
      %after = spyre.pointwise add(%before, %p) : tensor<256x64xf16>
      spyre.yield %after : tensor<256x64xf16>
    } : tensor<256x64xf16>
    spyre.yield %k : tensor<256x64xf16>
  }
  %relu = spyre.pointwise relufwd(%y) : tensor<256x64xf16>
  return %relu : tensor<256x64xf16>
}
