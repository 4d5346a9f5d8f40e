// A concatenation is inside the loops along the dimensions that all its parts have completely.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/rotary.mlir -o %t/rotary --tiles H=4 --validate 2> %t/log | FileCheck %s --check-prefix=ROTARY
// RUN: spyre-run %t/rotary --check %t/rotary.mlir | FileCheck %s
// RUN: spyre-compile %t/rotary.mlir -o %t/tokens --tiles H=2,S=4 --cores 8 --validate 2> %t/log | FileCheck %s --check-prefix=TOKENS
// RUN: spyre-run %t/tokens --check %t/rotary.mlir | FileCheck %s
// RUN: spyre-compile %t/rotary.mlir -o %t/online --tiles H=4,T=4 --validate 2> %t/log | FileCheck %s --check-prefix=ONLINE
// RUN: spyre-run %t/online --check %t/rotary.mlir | FileCheck %s
// RUN: spyre-compile %t/rotary.mlir -o %t/hbm --tiles H=4 --lx-planner none --validate 2> %t/log | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %t/rotary.mlir -o %t/baked --tiles H=4 --addresses baked --loops unroll 2> %t/log && spyre-run %t/baked --check %t/rotary.mlir | FileCheck %s
// RUN: spyre-compile %t/pad.mlir -o %t/pad --tiles A=4 --validate | FileCheck %s --check-prefix=PAD
// RUN: spyre-run %t/pad --check %t/pad.mlir | FileCheck %s
// RUN: spyre-compile %t/given.mlir -o %t/given --tiles A=4 --validate | FileCheck %s --check-prefix=GIVEN
// RUN: spyre-run %t/given --check %t/given.mlir | FileCheck %s
// RUN: spyre-compile %t/given.mlir -o %t/greedy --tiles A=4 --lx-planner greedy --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %t/waits.mlir -o %t/waits --tiles A=4,B=2 --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-run %t/waits --check %t/waits.mlir | FileCheck %s
// RUN: spyre-compile %t/grouped.mlir -o %t/grouped --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-run %t/grouped --check %t/grouped.mlir | FileCheck %s

// CHECK: result0: correct
// VALID: validated

// Queries and keys are rotated in the loop over heads. A tile of the queries, read in halves and completely, is copied to LX once: 18 ops.
// ROTARY: loop of 4 over 'H': 18 ops
// ROTARY: validated
// TOKENS: loop of 2 over 'H'
// TOKENS: loop of 4 over 'S': 13 ops
// TOKENS: validated

// In a loop over tiles of keys the softmax corrects its sums, although the keys are concatenated in the same loop.
// ONLINE: loop of 4 over 'H'
// ONLINE-NEXT: loop of 4 over 'T'
// ONLINE-NOT: loop of
// ONLINE: validated

// PAD: loop of 4 over 'A': {{[2-9]}} ops
// PAD: validated
// GIVEN: loop of 4 over 'A'
// GIVEN-NOT: loop of
// GIVEN: validated

//--- rotary.mlir
#id = affine_map<(d0,d1,d2)->(d0,d1,d2)>
#cs = affine_map<(d0,d1,d2)->(d1,d2)>
#row = affine_map<(d0,d1,d2)->(d0,d1)>
func.func @attention(%q: tensor<4x256x128xf16> {spyre.dims = ["H", "S", "D"]}, %k: tensor<4x256x128xf16> {spyre.dims = ["H", "T", "D"]}, %v: tensor<4x256x128xf16> {spyre.dims = ["H", "T", "D"]}, %cos: tensor<256x128xf16>, %sin: tensor<256x128xf16>) -> tensor<4x256x128xf16> { 
  %qa = tensor.extract_slice %q[0,0,0][4,256,64][1,1,1] : tensor<4x256x128xf16> to tensor<4x256x64xf16>
  %qb = tensor.extract_slice %q[0,0,64][4,256,64][1,1,1] : tensor<4x256x128xf16> to tensor<4x256x64xf16>
  %qe = tensor.empty() : tensor<4x256x64xf16>
  %qn = linalg.negf ins(%qb : tensor<4x256x64xf16>) outs(%qe : tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
  %qc = tensor.concat dim(2) %qn, %qa : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x128xf16>
  %qz = tensor.empty() : tensor<4x256x128xf16>
  %qr = linalg.generic {indexing_maps=[#id,#id,#cs,#cs,#id], iterator_types=["parallel","parallel","parallel"]} ins(%q, %qc, %cos, %sin : tensor<4x256x128xf16>,tensor<4x256x128xf16>,tensor<256x128xf16>,tensor<256x128xf16>) outs(%qz : tensor<4x256x128xf16>) {
  ^bb0(%i0: f16, %i1: f16, %i2: f16, %i3: f16, %i4: f16):
    %m0 = arith.mulf %i0, %i2 : f16
    %m1 = arith.mulf %i1, %i3 : f16
    %s0 = arith.addf %m0, %m1 : f16
    linalg.yield %s0 : f16
  } -> tensor<4x256x128xf16>
  %ka = tensor.extract_slice %k[0,0,0][4,256,64][1,1,1] : tensor<4x256x128xf16> to tensor<4x256x64xf16>
  %kb = tensor.extract_slice %k[0,0,64][4,256,64][1,1,1] : tensor<4x256x128xf16> to tensor<4x256x64xf16>
  %ke = tensor.empty() : tensor<4x256x64xf16>
  %kn = linalg.negf ins(%kb : tensor<4x256x64xf16>) outs(%ke : tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
  %kc = tensor.concat dim(2) %kn, %ka : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x128xf16>
  %kz = tensor.empty() : tensor<4x256x128xf16>
  %kr = linalg.generic {indexing_maps=[#id,#id,#cs,#cs,#id], iterator_types=["parallel","parallel","parallel"]} ins(%k, %kc, %cos, %sin : tensor<4x256x128xf16>,tensor<4x256x128xf16>,tensor<256x128xf16>,tensor<256x128xf16>) outs(%kz : tensor<4x256x128xf16>) {
  ^bb0(%i0: f16, %i1: f16, %i2: f16, %i3: f16, %i4: f16):
    %m0 = arith.mulf %i0, %i2 : f16
    %m1 = arith.mulf %i1, %i3 : f16
    %s0 = arith.addf %m0, %m1 : f16
    linalg.yield %s0 : f16
  } -> tensor<4x256x128xf16>
  %te = tensor.empty() : tensor<4x128x256xf16>
  %kt = linalg.transpose ins(%kr : tensor<4x256x128xf16>) outs(%te : tensor<4x128x256xf16>) permutation = [0,2,1]
  %z = arith.constant 0.0 : f16
  %mi = arith.constant 0xFC00 : f16
  %pe = tensor.empty() : tensor<4x256x256xf16>
  %pz = linalg.fill ins(%z : f16) outs(%pe : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
  %s = linalg.batch_matmul ins(%qr, %kt : tensor<4x256x128xf16>, tensor<4x128x256xf16>) outs(%pz : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
  %re = tensor.empty() : tensor<4x256xf16>
  %rm = linalg.fill ins(%mi : f16) outs(%re : tensor<4x256xf16>) -> tensor<4x256xf16>
  %rz = linalg.fill ins(%z : f16) outs(%re : tensor<4x256xf16>) -> tensor<4x256xf16>
  %m = linalg.reduce ins(%s : tensor<4x256x256xf16>) outs(%rm : tensor<4x256xf16>) dimensions=[2] (%in: f16, %ac: f16) { %x = arith.maximumf %in, %ac : f16 linalg.yield %x : f16 }
  %p = linalg.generic {indexing_maps=[#id,#row,#id], iterator_types=["parallel","parallel","parallel"]} ins(%s, %m : tensor<4x256x256xf16>,tensor<4x256xf16>) outs(%pe : tensor<4x256x256xf16>) {
  ^bb0(%i0: f16, %i1: f16, %i2: f16):
    %a = arith.subf %i0, %i1 : f16
    %b = math.exp %a : f16
    linalg.yield %b : f16
  } -> tensor<4x256x256xf16>
  %l = linalg.reduce ins(%p : tensor<4x256x256xf16>) outs(%rz : tensor<4x256xf16>) dimensions=[2] (%in: f16, %ac: f16) { %x = arith.addf %in, %ac : f16 linalg.yield %x : f16 }
  %n = linalg.generic {indexing_maps=[#id,#row,#id], iterator_types=["parallel","parallel","parallel"]} ins(%p, %l : tensor<4x256x256xf16>,tensor<4x256xf16>) outs(%pe : tensor<4x256x256xf16>) {
  ^bb0(%i0: f16, %i1: f16, %i2: f16):
    %a = arith.divf %i0, %i1 : f16
    linalg.yield %a : f16
  } -> tensor<4x256x256xf16>
  %oe = tensor.empty() : tensor<4x256x128xf16>
  %oz = linalg.fill ins(%z : f16) outs(%oe : tensor<4x256x128xf16>) -> tensor<4x256x128xf16>
  %o = linalg.batch_matmul ins(%n, %v : tensor<4x256x256xf16>, tensor<4x256x128xf16>) outs(%oz : tensor<4x256x128xf16>) -> tensor<4x256x128xf16>
  return %o : tensor<4x256x128xf16> }

//--- pad.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @pad(%x: tensor<64x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %zero = arith.constant 0.5 : f16
  %empty = tensor.empty() : tensor<64x128xf16>
  %large = tensor.empty() : tensor<64x256xf16>
  %exp = linalg.exp ins(%x : tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  %padded = tensor.pad %exp low[0, 64] high[0, 64] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<64x128xf16> to tensor<64x256xf16>
  %neg = linalg.negf ins(%padded : tensor<64x256xf16>) outs(%large : tensor<64x256xf16>) -> tensor<64x256xf16>
  return %neg : tensor<64x256xf16>
}

//--- given.mlir
func.func @given(%x: tensor<64x128xf16> {spyre.dims = ["A", "B"]}, %y: tensor<64x64xf16> {spyre.dims = ["A", ""]}) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %half = tensor.empty() : tensor<64x128xf16>
  %empty = tensor.empty() : tensor<64x256xf16>
  %exp = linalg.exp ins(%x : tensor<64x128xf16>) outs(%half : tensor<64x128xf16>) -> tensor<64x128xf16>
  %three = tensor.concat dim(1) %y, %exp, %y : (tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x64xf16>) -> tensor<64x256xf16>
  %neg = linalg.negf ins(%three : tensor<64x256xf16>) outs(%empty : tensor<64x256xf16>) -> tensor<64x256xf16>
  return %three, %neg : tensor<64x256xf16>, tensor<64x256xf16>
}

//--- waits.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @waits(%x: tensor<64x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %zero = arith.constant 0.0 : f16
  %rows = tensor.empty() : tensor<64xf16>
  %whole = tensor.empty() : tensor<64x128xf16>
  %large = tensor.empty() : tensor<64x256xf16>
  %begin = linalg.fill ins(%zero : f16) outs(%rows : tensor<64xf16>) -> tensor<64xf16>
  %sum = linalg.reduce ins(%x : tensor<64x128xf16>) outs(%begin : tensor<64xf16>) dimensions = [1] (%in: f16, %had: f16) {
    %s = arith.addf %in, %had : f16
    linalg.yield %s : f16
  }
  %column = tensor.expand_shape %sum [[0, 1]] output_shape [64, 1] : tensor<64xf16> into tensor<64x1xf16>
  %less = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %column : tensor<64x128xf16>, tensor<64x1xf16>) outs(%whole : tensor<64x128xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %s = arith.subf %a, %b : f16
    linalg.yield %s : f16
  } -> tensor<64x128xf16>
  %both = tensor.concat dim(1) %less, %x : (tensor<64x128xf16>, tensor<64x128xf16>) -> tensor<64x256xf16>
  %exp = linalg.exp ins(%both : tensor<64x256xf16>) outs(%large : tensor<64x256xf16>) -> tensor<64x256xf16>
  return %exp : tensor<64x256xf16>
}

// A grouped convolution reads one of two neighboring columns of an image whose groups are divided over cores. The files
// have columns and groups as one dimension, so a core's own image cannot be in LX: it would need a part of that dimension.
//--- grouped.mlir
func.func @main(%x: tensor<1x3x5x8x4xf32>, %w: tensor<1x3x4x8x2xf32>) -> tensor<1x5x3x8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0, 0] high[0, 1, 1, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
    tensor.yield %zero : f32
  } : tensor<1x3x5x8x4xf32> to tensor<1x5x7x8x4xf32>
  %e = tensor.empty() : tensor<1x3x4x8x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4x8x2xf32>) -> tensor<1x3x4x8x2xf32>
  %spread = tensor.insert_slice %w into %f[0, 0, 0, 0, 0] [1, 3, 4, 8, 2] [2, 1, 1, 1, 1] : tensor<1x3x4x8x2xf32> into tensor<1x3x4x8x2xf32>
  %empty = tensor.empty() : tensor<1x5x3x8x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x5x3x8x2xf32>) -> tensor<1x5x3x8x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 1 + d5 * 2, d2 * 2 + d6 * 1, d3, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d3, d4)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%padded, %spread : tensor<1x5x7x8x4xf32>, tensor<1x3x4x8x2xf32>) outs(%start : tensor<1x5x3x8x2xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x5x3x8x2xf32>
  return %y : tensor<1x5x3x8x2xf32>
}
