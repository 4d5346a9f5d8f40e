// Loops of linalg: an LSTM over five time steps, whose outputs are put together; a root by Newton's steps, counted in a tensor, as StableHLO's loops are.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/lstm.mlir -o %t/lstm --validate > %t.log && spyre-run %t/lstm --wipe-lx --check %t/parts/lstm.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: spyre-compile %t/parts/lstm.mlir -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --seed 3 --check %t/parts/lstm.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: spyre-compile %t/parts/newton.mlir -o %t/newton --validate > %t.log && spyre-run %t/newton --check %t/parts/newton.mlir | FileCheck %s

// CHECK: result0: correct
// TWO: result1: correct

//--- lstm.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>
func.func @lstm(%x: tensor<5x3x20xf16>, %wx: tensor<20x280xf16>, %wh: tensor<70x280xf16>, %b: tensor<280xf16>) -> (tensor<5x3x70xf16>, tensor<3x70xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f16
  %zero = arith.constant dense<0.0> : tensor<3x280xf16>
  %start = arith.constant dense<0.0> : tensor<3x70xf16>
  %e = tensor.empty() : tensor<3x70xf16>
  %e4 = tensor.empty() : tensor<3x280xf16>
  %outputs = tensor.empty() : tensor<5x3x70xf16>
  %last:3 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %start, %c = %start, %all = %outputs) -> (tensor<3x70xf16>, tensor<3x70xf16>, tensor<5x3x70xf16>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 3, 20] [1, 1, 1] : tensor<5x3x20xf16> to tensor<3x20xf16>
    %fx = linalg.matmul ins(%xt, %wx : tensor<3x20xf16>, tensor<20x280xf16>) outs(%zero : tensor<3x280xf16>) -> tensor<3x280xf16>
    %fh = linalg.matmul ins(%h, %wh : tensor<3x70xf16>, tensor<70x280xf16>) outs(%fx : tensor<3x280xf16>) -> tensor<3x280xf16>
    %gates = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]} ins(%fh, %b : tensor<3x280xf16>, tensor<280xf16>) outs(%e4 : tensor<3x280xf16>) {
    ^bb0(%a: f16, %k: f16, %out: f16):
      %s = arith.addf %a, %k : f16
      linalg.yield %s : f16
    } -> tensor<3x280xf16>
    %i = tensor.extract_slice %gates[0, 0] [3, 70] [1, 1] : tensor<3x280xf16> to tensor<3x70xf16>
    %f = tensor.extract_slice %gates[0, 70] [3, 70] [1, 1] : tensor<3x280xf16> to tensor<3x70xf16>
    %g = tensor.extract_slice %gates[0, 140] [3, 70] [1, 1] : tensor<3x280xf16> to tensor<3x70xf16>
    %o = tensor.extract_slice %gates[0, 210] [3, 70] [1, 1] : tensor<3x280xf16> to tensor<3x70xf16>
    %next:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i, %f, %g, %o, %c : tensor<3x70xf16>, tensor<3x70xf16>, tensor<3x70xf16>, tensor<3x70xf16>, tensor<3x70xf16>) outs(%e, %e : tensor<3x70xf16>, tensor<3x70xf16>) {
    ^bb0(%a: f16, %k: f16, %u: f16, %r: f16, %cell: f16, %out0: f16, %out1: f16):
      %na = arith.negf %a : f16
      %ea = math.exp %na : f16
      %da = arith.addf %ea, %one : f16
      %si = arith.divf %one, %da : f16
      %nk = arith.negf %k : f16
      %ek = math.exp %nk : f16
      %dk = arith.addf %ek, %one : f16
      %sf = arith.divf %one, %dk : f16
      %tg = math.tanh %u : f16
      %nr = arith.negf %r : f16
      %er = math.exp %nr : f16
      %dr = arith.addf %er, %one : f16
      %so = arith.divf %one, %dr : f16
      %kept = arith.mulf %sf, %cell : f16
      %new = arith.mulf %si, %tg : f16
      %sum = arith.addf %kept, %new : f16
      %th = math.tanh %sum : f16
      %hidden = arith.mulf %so, %th : f16
      linalg.yield %hidden, %sum : f16, f16
    } -> (tensor<3x70xf16>, tensor<3x70xf16>)
    %more = tensor.insert_slice %next#0 into %all[%t, 0, 0] [1, 3, 70] [1, 1, 1] : tensor<3x70xf16> into tensor<5x3x70xf16>
    scf.yield %next#0, %next#1, %more : tensor<3x70xf16>, tensor<3x70xf16>, tensor<5x3x70xf16>
  }
  return %last#2, %last#1 : tensor<5x3x70xf16>, tensor<3x70xf16>
}

//--- newton.mlir
func.func @main(%x: tensor<4x70xf16>) -> tensor<4x70xf16> {
  %zero = arith.constant dense<0> : tensor<i32>
  %n = arith.constant dense<4> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %e = tensor.empty() : tensor<4x70xf16>
  %ones = arith.constant dense<1.0> : tensor<4x70xf16>
  %half = arith.constant 0.5 : f16
  %r:2 = scf.while (%i = %zero, %y = %ones) : (tensor<i32>, tensor<4x70xf16>) -> (tensor<i32>, tensor<4x70xf16>) {
    %b = tensor.empty() : tensor<i1>
    %lt = linalg.generic {indexing_maps=[affine_map<()->()>,affine_map<()->()>,affine_map<()->()>], iterator_types=[]} ins(%i,%n: tensor<i32>,tensor<i32>) outs(%b: tensor<i1>) {
    ^bb0(%p: i32, %q: i32, %o: i1):
      %c = arith.cmpi slt, %p, %q : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %c = tensor.extract %lt[] : tensor<i1>
    scf.condition(%c) %i, %y : tensor<i32>, tensor<4x70xf16>
  } do {
  ^bb0(%i: tensor<i32>, %y: tensor<4x70xf16>):
    %next = arith.addi %i, %one : tensor<i32>
    %m = linalg.generic {indexing_maps=[affine_map<(d0,d1)->(d0,d1)>,affine_map<(d0,d1)->(d0,d1)>,affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%x,%y : tensor<4x70xf16>,tensor<4x70xf16>) outs(%e : tensor<4x70xf16>) {
    ^bb0(%a: f16, %b: f16, %o: f16):
      %ab = math.absf %a : f16
      %q = arith.divf %ab, %b : f16
      %s = arith.addf %q, %b : f16
      %h = arith.mulf %s, %half : f16
      linalg.yield %h : f16
    } -> tensor<4x70xf16>
    scf.yield %next, %m : tensor<i32>, tensor<4x70xf16>
  }
  return %r#1 : tensor<4x70xf16>
}
