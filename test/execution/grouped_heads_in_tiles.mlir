// Eight heads of queries, two of keys: the product has the heads as [2, 4], what follows as [8]. A loop over both cuts the same bytes.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --lx-bytes 16384 --validate -o %t/searched > %t.log && FileCheck %s --check-prefix=SEARCHED < %t.log
// RUN: spyre-run %t/searched --check %s | FileCheck %s --check-prefix=AGREES
// SEARCHED: tiling: ops 0-5 in 2 tiles of axis0
// SEARCHED: validated:

// By hand, one of two groups an iteration.
// RUN: spyre-compile %s --tiles G=2 --dims 0=G:H@4:S:D,1=G:T:D --validate -o %t/tiled > %t.log && FileCheck %s --check-prefix=TILED < %t.log
// RUN: spyre-run %t/tiled --check %s | FileCheck %s --check-prefix=AGREES
// The ops between share one loop: nothing of them goes through HBM.
// TILED: loop of 2 over 'G': 6 ops
// AGREES: result0: correct
func.func @attention(%q: tensor<8x128x64xf16>, %k: tensor<2x256x64xf16>) -> tensor<8x128x256xf16> {
  %zero = arith.constant 0.0 : f16
  %low = arith.constant 0xFC00 : f16
  %groups = tensor.expand_shape %q [[0, 1], [2], [3]] output_shape [2, 4, 128, 64] : tensor<8x128x64xf16> into tensor<2x4x128x64xf16>
  %empty = tensor.empty() : tensor<2x4x128x256xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x4x128x256xf16>) -> tensor<2x4x128x256xf16>
  %products = linalg.generic {
      indexing_maps = [affine_map<(g, h, s, t, d) -> (g, h, s, d)>, affine_map<(g, h, s, t, d) -> (g, t, d)>, affine_map<(g, h, s, t, d) -> (g, h, s, t)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%groups, %k : tensor<2x4x128x64xf16>, tensor<2x256x64xf16>) outs(%start : tensor<2x4x128x256xf16>) {
    ^bb0(%a: f16, %b: f16, %sum: f16):
      %p = arith.mulf %a, %b : f16
      %r = arith.addf %sum, %p : f16
      linalg.yield %r : f16
    } -> tensor<2x4x128x256xf16>
  %scores = tensor.collapse_shape %products [[0, 1], [2], [3]] : tensor<2x4x128x256xf16> into tensor<8x128x256xf16>
  %row = tensor.empty() : tensor<8x128xf16>
  %lowest = linalg.fill ins(%low : f16) outs(%row : tensor<8x128xf16>) -> tensor<8x128xf16>
  %max = linalg.reduce ins(%scores : tensor<8x128x256xf16>) outs(%lowest : tensor<8x128xf16>) dimensions = [2] (%a: f16, %m: f16) {
    %r = arith.maximumf %a, %m : f16
    linalg.yield %r : f16
  }
  %out = tensor.empty() : tensor<8x128x256xf16>
  %exp = linalg.generic {
      indexing_maps = [affine_map<(h, s, t) -> (h, s, t)>, affine_map<(h, s, t) -> (h, s)>, affine_map<(h, s, t) -> (h, s, t)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %max : tensor<8x128x256xf16>, tensor<8x128xf16>) outs(%out : tensor<8x128x256xf16>) {
    ^bb0(%a: f16, %m: f16, %o: f16):
      %d = arith.subf %a, %m : f16
      %e = math.exp %d : f16
      linalg.yield %e : f16
    } -> tensor<8x128x256xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%row : tensor<8x128xf16>) -> tensor<8x128xf16>
  %total = linalg.reduce ins(%exp : tensor<8x128x256xf16>) outs(%zeros : tensor<8x128xf16>) dimensions = [2] (%a: f16, %m: f16) {
    %r = arith.addf %a, %m : f16
    linalg.yield %r : f16
  }
  %softmax = linalg.generic {
      indexing_maps = [affine_map<(h, s, t) -> (h, s, t)>, affine_map<(h, s, t) -> (h, s)>, affine_map<(h, s, t) -> (h, s, t)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %total : tensor<8x128x256xf16>, tensor<8x128xf16>) outs(%out : tensor<8x128x256xf16>) {
    ^bb0(%a: f16, %m: f16, %o: f16):
      %d = arith.divf %a, %m : f16
      linalg.yield %d : f16
    } -> tensor<8x128x256xf16>
  return %softmax : tensor<8x128x256xf16>
}
