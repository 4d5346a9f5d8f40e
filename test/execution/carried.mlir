// Online softmax by hand: an iteration reads the maximum that it found behind the one that it makes. The start of two carried values is the
// same, as CSE leaves it.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/loop.mlir -o %t/out > %t/log && spyre-run %t/out --wipe-lx --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/loop.mlir -o %t/none --lx-planner none > %t/log && spyre-run %t/none --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/loop.mlir -o %t/first --lx-planner first-fit --cores 2 > %t/log && spyre-run %t/first --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-opt %t/loop.mlir --pass-pipeline="builtin.module(spyre-divide-work,spyre-allocate-scratchpad,spyre-form-bundles,spyre-lower-to-sdsc,spyre-lower-to-sdscbundle{loops=unroll},spyre-emit-bundle{output=%t/unrolled})" > %t/log
// RUN: spyre-run %t/unrolled --check %t/linalg.mlir | FileCheck %s
// CHECK: result0: correct

//--- loop.mlir
#s = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#c = #spyre.layout<[1, 64, 64], [-1, 1, -1]>
#k = #spyre.layout<[4, 64, 64], [64, 256, 1]>
#v = #spyre.layout<[1, 256, 64], [64, 64, 1]>
#kt = #spyre.layout<[4, 64, 64], [64, 256, 1], of = [64, 256]>
#vt = #spyre.layout<[1, 256, 64], [64, 64, 1], of = [256, 64]>
#o = #spyre.layout<[1, 1, 64], [-1, -1, -1]>
func.func @flash(%q: tensor<64x64xf16, #s>, %k: tensor<64x256xf16, #k>, %v: tensor<256x64xf16, #v>) -> tensor<64x64xf16, #s> {
  %low = spyre.constant dense<-6.0e+04> : tensor<1x1xf16> -> tensor<1x1xf16, #o>
  %zero = spyre.constant dense<0.000000e+00> : tensor<1x1xf16> -> tensor<1x1xf16, #o>
  %lv = spyre.view %low by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16, #o> -> tensor<64x1xf16>
  %m0 = spyre.copy %lv : tensor<64x1xf16> -> tensor<64x1xf16, #c>
  %zv = spyre.view %zero by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16, #o> -> tensor<64x1xf16>
  %l0 = spyre.copy %zv : tensor<64x1xf16> -> tensor<64x1xf16, #c>
  %ov = spyre.view %zero by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16, #o> -> tensor<64x64xf16>
  %o0 = spyre.copy %ov : tensor<64x64xf16> -> tensor<64x64xf16, #s>
  %r:4 = spyre.loop 4 "T" tiled(%kt = %k[1] : tensor<64x256xf16, #k>, %vt = %v[0] : tensor<256x64xf16, #v>)
      carried(%m = %m0 : tensor<64x1xf16, #c>, %l = %l0 : tensor<64x1xf16, #c>, %o = %o0 : tensor<64x64xf16, #s>, %n = %l0 : tensor<64x1xf16, #c>) {
    %s = spyre.matmul(%q, %kt) : (tensor<64x64xf16, #s>, tensor<64x64xf16, #kt>) -> tensor<64x64xf16, #s>
    %mt = spyre.reduce max(%s) dims [1] : tensor<64x64xf16, #s> -> tensor<64x1xf16, #c>
    %mn = spyre.pointwise maximum(%m, %mt) : tensor<64x1xf16, #c>
    %dm = spyre.pointwise sub(%m, %mn) : tensor<64x1xf16, #c>
    %corr = spyre.pointwise exp(%dm) : tensor<64x1xf16, #c>
    %sh = spyre.pointwise sub(%s, %mn) : (tensor<64x64xf16, #s>, tensor<64x1xf16, #c>) -> tensor<64x64xf16, #s>
    %p = spyre.pointwise exp(%sh) : tensor<64x64xf16, #s>
    %lt = spyre.reduce sum(%p) dims [1] : tensor<64x64xf16, #s> -> tensor<64x1xf16, #c>
    %lc = spyre.pointwise mul(%l, %corr) : tensor<64x1xf16, #c>
    %ln = spyre.pointwise add(%lc, %lt) : tensor<64x1xf16, #c>
    %pv = spyre.matmul(%p, %vt) : (tensor<64x64xf16, #s>, tensor<64x64xf16, #vt>) -> tensor<64x64xf16, #s>
    %oc = spyre.pointwise mul(%o, %corr) : (tensor<64x64xf16, #s>, tensor<64x1xf16, #c>) -> tensor<64x64xf16, #s>
    %on = spyre.pointwise add(%oc, %pv) : tensor<64x64xf16, #s>
    %nn = spyre.pointwise maximum(%n, %l) : tensor<64x1xf16, #c>
    spyre.yield %mn, %ln, %on, %nn : tensor<64x1xf16, #c>, tensor<64x1xf16, #c>, tensor<64x64xf16, #s>, tensor<64x1xf16, #c>
  } : tensor<64x1xf16, #c>, tensor<64x1xf16, #c>, tensor<64x64xf16, #s>, tensor<64x1xf16, #c>
  // Whatever the last one is, this is the sum.
  %least = spyre.pointwise minimum(%r#1, %r#3) : tensor<64x1xf16, #c>
  %sum = spyre.pointwise maximum(%r#1, %least) : tensor<64x1xf16, #c>
  %y = spyre.pointwise realdiv(%r#2, %sum) : (tensor<64x64xf16, #s>, tensor<64x1xf16, #c>) -> tensor<64x64xf16, #s>
  return %y : tensor<64x64xf16, #s>
}

//--- linalg.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @flash(%q: tensor<64x64xf16>, %k: tensor<64x256xf16>, %v: tensor<256x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %low = arith.constant -6.0e+04 : f16
  %e = tensor.empty() : tensor<64x256xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<64x256xf16>) -> tensor<64x256xf16>
  %s = linalg.matmul ins(%q, %k : tensor<64x64xf16>, tensor<64x256xf16>) outs(%z : tensor<64x256xf16>) -> tensor<64x256xf16>
  %c = tensor.empty() : tensor<64xf16>
  %low_c = linalg.fill ins(%low : f16) outs(%c : tensor<64xf16>) -> tensor<64xf16>
  %m = linalg.reduce ins(%s : tensor<64x256xf16>) outs(%low_c : tensor<64xf16>) dimensions = [1]
    (%a: f16, %b: f16) { %x = arith.maximumf %a, %b : f16 linalg.yield %x : f16 }
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<64x256xf16>, tensor<64xf16>) outs(%e : tensor<64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %d = arith.subf %a, %b : f16
    %x = math.exp %d : f16
    linalg.yield %x : f16
  } -> tensor<64x256xf16>
  %zero_c = linalg.fill ins(%zero : f16) outs(%c : tensor<64xf16>) -> tensor<64xf16>
  %l = linalg.reduce ins(%p : tensor<64x256xf16>) outs(%zero_c : tensor<64xf16>) dimensions = [1]
    (%a: f16, %b: f16) { %x = arith.addf %a, %b : f16 linalg.yield %x : f16 }
  %eo = tensor.empty() : tensor<64x64xf16>
  %zo = linalg.fill ins(%zero : f16) outs(%eo : tensor<64x64xf16>) -> tensor<64x64xf16>
  %o = linalg.matmul ins(%p, %v : tensor<64x256xf16>, tensor<256x64xf16>) outs(%zo : tensor<64x64xf16>) -> tensor<64x64xf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%o, %l : tensor<64x64xf16>, tensor<64xf16>) outs(%eo : tensor<64x64xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %d = arith.divf %a, %b : f16
    linalg.yield %d : f16
  } -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
