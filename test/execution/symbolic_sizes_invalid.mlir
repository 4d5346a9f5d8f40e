// Ops that cannot have a symbolic size are errors at their location, with advice.
// RUN: rm -rf %t && split-file %s %t
// RUN: not spyre-compile %t/mean.mlir -o %t/out --dim-size arg0.0=128:64 2>&1 | FileCheck %s --check-prefix=MEAN
// RUN: not spyre-compile %t/attention.mlir -o %t/out --dim-size arg0.1=128:64,arg1.1=128:64,arg2.1=128:64 2>&1 | FileCheck %s --check-prefix=ATTENTION
// RUN: not spyre-compile %t/counted.mlir -o %t/out --dim-size arg0.0=128:64 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: not spyre-compile %t/reversed.mlir -o %t/out --dim-size arg0.0=128:64 2>&1 | FileCheck %s --check-prefix=REVERSED
// RUN: not spyre-compile %t/rows.mlir -o %t/out --dim-size arg0.0=128:64 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not spyre-compile %t/add.mlir -o %t/out --dim-size arg0.0=128:64,arg1.0=128:32 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not spyre-compile %t/add.mlir -o %t/out --dim-size s0=128:64 --addresses baked 2>&1 | FileCheck %s --check-prefix=BAKED
// RUN: not spyre-compile %t/add.mlir -o %t/out --dim-size s0=128:64 --tiles s0=2 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not spyre-compile %t/embed.mlir -o %t/out --dim-size arg1.0=64:32 2>&1 | FileCheck %s --check-prefix=INDICES
// RUN: not spyre-compile %t/table.mlir -o %t/out --dim-size arg0.0=100:50 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not spyre-compile %t/flatout.mlir -o %t/out --dim-size arg0.1=64:32 2>&1 | FileCheck %s --check-prefix=FLAT
// RUN: not spyre-compile %t/split.mlir -o %t/out --dim-size arg0.0=64:32 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not spyre-compile %t/same.mlir -o %t/out --dim-size arg0.0=128:64 --validate 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not ls %t/out

// INDICES: error{{.*}}'tensor.extract' op has symbolic dimension 'arg1.0' in its sticks; give one size with '--dim-size NAME=SIZE'
// TABLE: error{{.*}}'tensor.extract' op indexes symbolic dimension 'arg0.0', which is not supported; give one size with '--dim-size NAME=SIZE'
// FLAT: error{{.*}}'func.func' op expected a symbolic size as a dimension of its own, found the product '4*arg0.1' in dimension 0 of result 0; give one size with '--dim-size NAME=SIZE'
// SPLIT: error{{.*}}'tensor.expand_shape' op slices or reshapes symbolic dimension 'arg0.0', so its elements depend on the size; give one size with '--dim-size NAME=SIZE'
// SAME: error{{.*}}cannot be compiled at arg0.0=64, which its symbolic sizes allow; compile with '--dim-size' of these sizes to see the reason

// MEAN: mean.mlir:5:{{.*}}: error{{.*}}: {{.*}}reduces symbolic dimension 'arg0.0', so the result would include elements beyond the size; give one size with '--dim-size NAME=SIZE'
// ATTENTION: error{{.*}}'linalg.generic' op has symbolic dimension 'arg1.1' as columns of a matmul, which are stored in sticks; give one size with '--dim-size NAME=SIZE'
// COUNTED: counted.mlir:5:{{.*}}: error{{.*}}'arith.sitofp' op computes with the size of a symbolic dimension, which differs between runs; give one size with '--dim-size NAME=SIZE'
// REVERSED: error{{.*}}'tensor.extract_slice' op slices or reshapes symbolic dimension 'arg0.0', so its elements depend on the size; give one size with '--dim-size NAME=SIZE'
// ROWS: error{{.*}}'tensor.concat' op concatenates symbolic dimension 'arg0.0' with other elements along dimension 0, whose offset depends on the size; give one size with '--dim-size NAME=SIZE'
// STEPS: error{{.*}}: {{.*}}uses symbolic sizes 'arg0.0' (maximum 128, multiple 64) and 'arg1.0' (maximum 128, multiple 32) for iteration dimension 0; declare the same maximum and multiple for both, or give one size with '--dim-size NAME=SIZE'
// BAKED: error{{.*}}: {{.*}}iteration dimension 0 is symbolic, which baked addresses cannot express
// TILES: error{{.*}}'func.func' op repeats for each tile of 's0', whose size 's0' is known at launch only: format 'torch-spyre-2026-08' requires constant trip counts; give --bundle-format=torch-spyre-2026-09, or one size

//--- mean.mlir
func.func @mean(%x: tensor<?x256xf16>) -> tensor<256xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<256xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<256xf16>) -> tensor<256xf16>
  %r = linalg.reduce ins(%x : tensor<?x256xf16>) outs(%f : tensor<256xf16>) dimensions = [0] (%a: f16, %o: f16) {
    %d = arith.addf %a, %o : f16
    linalg.yield %d : f16
  }
  return %r : tensor<256xf16>
}
//--- attention.mlir
func.func @attention(%q: tensor<2x?x64xf16>, %k: tensor<2x?x64xf16>, %v: tensor<2x?x64xf16>) -> tensor<2x?x64xf16> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %n = tensor.dim %q, %c1 : tensor<2x?x64xf16>
  %e = tensor.empty(%n, %n) : tensor<2x?x?xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<2x?x?xf16>) -> tensor<2x?x?xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x?x64xf16>, tensor<2x?x64xf16>) outs(%f : tensor<2x?x?xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %d = arith.mulf %a, %c : f16
    %g = arith.addf %d, %o : f16
    linalg.yield %g : f16
  } -> tensor<2x?x?xf16>
  %s = linalg.softmax dimension(2) ins(%p : tensor<2x?x?xf16>) outs(%e : tensor<2x?x?xf16>) -> tensor<2x?x?xf16>
  %eo = tensor.empty(%n) : tensor<2x?x64xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
  %y = linalg.batch_matmul ins(%s, %v : tensor<2x?x?xf16>, tensor<2x?x64xf16>) outs(%fo : tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
  return %y : tensor<2x?x64xf16>
}
//--- counted.mlir
func.func @counted(%x: tensor<?x256xf16>) -> tensor<?x256xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %i = arith.index_cast %n : index to i64
  %g = arith.sitofp %i : i64 to f16
  %e = tensor.empty(%n) : tensor<?x256xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x256xf16>) outs(%e : tensor<?x256xf16>) {
  ^bb0(%a: f16, %o: f16):
    %d = arith.divf %a, %g : f16
    linalg.yield %d : f16
  } -> tensor<?x256xf16>
  return %s : tensor<?x256xf16>
}
//--- reversed.mlir
func.func @reversed(%x: tensor<?x256xf16>) -> tensor<?x256xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%n) : tensor<?x256xf16>
  %last = arith.subi %n, %c1 : index
  %row = tensor.extract_slice %x[%last, 0] [1, 256] [1, 1] : tensor<?x256xf16> to tensor<256xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %row : tensor<?x256xf16>, tensor<256xf16>) outs(%e : tensor<?x256xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %d = arith.addf %a, %c : f16
    linalg.yield %d : f16
  } -> tensor<?x256xf16>
  return %s : tensor<?x256xf16>
}
//--- rows.mlir
func.func @concat(%x: tensor<?x128xf16>, %y: tensor<8x128xf16>) -> tensor<?x128xf16> {
  %z = tensor.concat dim(0) %x, %y : (tensor<?x128xf16>, tensor<8x128xf16>) -> tensor<?x128xf16>
  return %z : tensor<?x128xf16>
}
//--- add.mlir
func.func @add(%x: tensor<?x256xf16> {spyre.dims = ["s0", "D"]}, %y: tensor<?x256xf16> {spyre.dims = ["s0", "D"]}) -> tensor<?x256xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%n) : tensor<?x256xf16>
  %z = linalg.add ins(%x, %y : tensor<?x256xf16>, tensor<?x256xf16>) outs(%e : tensor<?x256xf16>) -> tensor<?x256xf16>
  return %z : tensor<?x256xf16>
}
//--- embed.mlir
func.func @embed(%t: tensor<100x128xf16>, %i: tensor<?xi64>) -> tensor<?x128xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x128xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi64>) outs(%e : tensor<?x128xf16>) {
  ^bb0(%a: i64, %o: f16):
    %k = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%k, %j] : tensor<100x128xf16>
    linalg.yield %v : f16
  } -> tensor<?x128xf16>
  return %s : tensor<?x128xf16>
}
//--- table.mlir
func.func @table(%t: tensor<?x128xf16>, %i: tensor<10xi64>) -> tensor<10x128xf16> {
  %e = tensor.empty() : tensor<10x128xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<10xi64>) outs(%e : tensor<10x128xf16>) {
  ^bb0(%a: i64, %o: f16):
    %k = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%k, %j] : tensor<?x128xf16>
    linalg.yield %v : f16
  } -> tensor<10x128xf16>
  return %s : tensor<10x128xf16>
}
//--- flatout.mlir
func.func @flatout(%x: tensor<4x?x64xf16>) -> tensor<?x64xf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<4x?x64xf16>
  %e = tensor.empty(%n) : tensor<4x?x64xf16>
  %z = linalg.exp ins(%x : tensor<4x?x64xf16>) outs(%e : tensor<4x?x64xf16>) -> tensor<4x?x64xf16>
  %flat = tensor.collapse_shape %z [[0, 1], [2]] : tensor<4x?x64xf16> into tensor<?x64xf16>
  return %flat : tensor<?x64xf16>
}
//--- split.mlir
func.func @split(%x: tensor<?x64xf16>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf16>
  %m = arith.divui %n, %c4 : index
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%m, 4, 64] : tensor<?x64xf16> into tensor<?x4x64xf16>
  %e = tensor.empty(%m) : tensor<?x4x64xf16>
  %z = linalg.exp ins(%y : tensor<?x4x64xf16>) outs(%e : tensor<?x4x64xf16>) -> tensor<?x4x64xf16>
  return %z : tensor<?x4x64xf16>
}
//--- same.mlir
func.func @same(%x: tensor<?x64xf16>, %y: tensor<128x64xf16>) -> tensor<?x64xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%n) : tensor<?x64xf16>
  %z = linalg.add ins(%x, %y : tensor<?x64xf16>, tensor<128x64xf16>) outs(%e : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %z : tensor<?x64xf16>
}
