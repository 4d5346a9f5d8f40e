// Heads of attention: narrower than a stick, rotated by halves, shared by several queries, masked.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 > %t.log && spyre-run %t/three --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/greedy --sticks greedy > %t.log && spyre-run %t/greedy --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/unplanned --lx-planner none > %t.log && spyre-run %t/unplanned --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
#heads = affine_map<(h, s, d) -> (h, s, d)>
#positions = affine_map<(h, s, d) -> (s, d)>
#query = affine_map<(b, q, m, n, k) -> (b, q, m, k)>
#key = affine_map<(b, q, m, n, k) -> (b, n, k)>
#value = affine_map<(b, q, m, n, k) -> (b, k, n)>
#scores = affine_map<(b, q, m, n, k) -> (b, q, m, n)>
#square = affine_map<(m, n) -> (m, n)>
#all = affine_map<(b, q, m, n) -> (b, q, m, n)>
#mask = affine_map<(b, q, m, n) -> (m, n)>
#row = affine_map<(b, q, m, n) -> (b, q, m)>

// Four query heads of 32, two key heads, 16 positions; queries lie as columns of their positions.
func.func @attention(%q: tensor<16x128xf16>, %k: tensor<2x16x32xf16>, %v: tensor<2x16x32xf16>, %cos: tensor<16x32xf16>,
                     %sin: tensor<16x32xf16>, %w: tensor<128x64xf16>)
    -> (tensor<4x16x32xf16>, tensor<2x2x16x16xf16>, tensor<16x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %minus_infinity = arith.constant 0xFC00 : f16
  %whole = tensor.empty() : tensor<4x16x32xf16>
  %half = tensor.empty() : tensor<4x16x16xf16>

  // Rotary embedding: q * cos + (-right half, left half) * sin.
  %split = tensor.expand_shape %q [[0], [1, 2]] output_shape [16, 4, 32] : tensor<16x128xf16> into tensor<16x4x32xf16>
  %by_head = linalg.transpose ins(%split : tensor<16x4x32xf16>) outs(%whole : tensor<4x16x32xf16>) permutation = [1, 0, 2]
  %left = tensor.extract_slice %by_head[0, 0, 0] [4, 16, 16] [1, 1, 1] : tensor<4x16x32xf16> to tensor<4x16x16xf16>
  %right = tensor.extract_slice %by_head[0, 0, 16] [4, 16, 16] [1, 1, 1] : tensor<4x16x32xf16> to tensor<4x16x16xf16>
  %negated = linalg.negf ins(%right : tensor<4x16x16xf16>) outs(%half : tensor<4x16x16xf16>) -> tensor<4x16x16xf16>
  %turned = tensor.concat dim(2) %negated, %left : (tensor<4x16x16xf16>, tensor<4x16x16xf16>) -> tensor<4x16x32xf16>
  %rotated = linalg.generic {indexing_maps = [#heads, #heads, #positions, #positions, #heads],
                             iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%by_head, %turned, %cos, %sin : tensor<4x16x32xf16>, tensor<4x16x32xf16>, tensor<16x32xf16>, tensor<16x32xf16>)
    outs(%whole : tensor<4x16x32xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %s: f16, %out: f16):
    %ac = arith.mulf %a, %c : f16
    %bs = arith.mulf %b, %s : f16
    %sum = arith.addf %ac, %bs : f16
    linalg.yield %sum : f16
  } -> tensor<4x16x32xf16>

  // Two queries share a key.
  %groups = tensor.expand_shape %rotated [[0, 1], [2], [3]] output_shape [2, 2, 16, 32] : tensor<4x16x32xf16> into tensor<2x2x16x32xf16>
  %scores = tensor.empty() : tensor<2x2x16x16xf16>
  %scores_0 = linalg.fill ins(%zero : f16) outs(%scores : tensor<2x2x16x16xf16>) -> tensor<2x2x16x16xf16>
  %products = linalg.generic {indexing_maps = [#query, #key, #scores],
                              iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%groups, %k : tensor<2x2x16x32xf16>, tensor<2x16x32xf16>) outs(%scores_0 : tensor<2x2x16x16xf16>) {
  ^bb0(%a: f16, %b: f16, %acc: f16):
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %acc, %p : f16
    linalg.yield %s : f16
  } -> tensor<2x2x16x16xf16>
  %square = tensor.empty() : tensor<16x16xf16>
  %causal = linalg.generic {indexing_maps = [#square], iterator_types = ["parallel", "parallel"]} outs(%square : tensor<16x16xf16>) {
  ^bb0(%out: f16):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %is_past = arith.cmpi ule, %n, %m : index
    %s = arith.select %is_past, %zero, %minus_infinity : f16
    linalg.yield %s : f16
  } -> tensor<16x16xf16>
  %masked = linalg.generic {indexing_maps = [#all, #mask, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%products, %causal : tensor<2x2x16x16xf16>, tensor<16x16xf16>) outs(%scores : tensor<2x2x16x16xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %s = arith.addf %a, %b : f16
    linalg.yield %s : f16
  } -> tensor<2x2x16x16xf16>
  %rows = tensor.empty() : tensor<2x2x16xf16>
  %lowest = linalg.fill ins(%minus_infinity : f16) outs(%rows : tensor<2x2x16xf16>) -> tensor<2x2x16xf16>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x2x16x16xf16>) outs(%lowest : tensor<2x2x16xf16>) dimensions = [3]
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%masked, %max : tensor<2x2x16x16xf16>, tensor<2x2x16xf16>) outs(%scores : tensor<2x2x16x16xf16>) {
  ^bb0(%a: f16, %m: f16, %out: f16):
    %d = arith.subf %a, %m : f16
    %e = math.exp %d : f16
    linalg.yield %e : f16
  } -> tensor<2x2x16x16xf16>
  %nothing = linalg.fill ins(%zero : f16) outs(%rows : tensor<2x2x16xf16>) -> tensor<2x2x16xf16>
  %sums = linalg.reduce { arith.addf } ins(%exp : tensor<2x2x16x16xf16>) outs(%nothing : tensor<2x2x16xf16>) dimensions = [3]
  %weights = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%exp, %sums : tensor<2x2x16x16xf16>, tensor<2x2x16xf16>) outs(%scores : tensor<2x2x16x16xf16>) {
  ^bb0(%a: f16, %m: f16, %out: f16):
    %d = arith.divf %a, %m : f16
    linalg.yield %d : f16
  } -> tensor<2x2x16x16xf16>

  // 16 positions fill no stick: the values are padded. The heads become columns again.
  %grouped = tensor.empty() : tensor<2x2x16x32xf16>
  %grouped_0 = linalg.fill ins(%zero : f16) outs(%grouped : tensor<2x2x16x32xf16>) -> tensor<2x2x16x32xf16>
  %context = linalg.generic {indexing_maps = [#query, #value, #scores],
                             iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%weights, %v : tensor<2x2x16x16xf16>, tensor<2x16x32xf16>) outs(%grouped_0 : tensor<2x2x16x32xf16>) {
  ^bb0(%a: f16, %b: f16, %acc: f16):
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %acc, %p : f16
    linalg.yield %s : f16
  } -> tensor<2x2x16x32xf16>
  %flat = tensor.collapse_shape %context [[0, 1], [2], [3]] : tensor<2x2x16x32xf16> into tensor<4x16x32xf16>
  %by_position = tensor.empty() : tensor<16x4x32xf16>
  %back = linalg.transpose ins(%flat : tensor<4x16x32xf16>) outs(%by_position : tensor<16x4x32xf16>) permutation = [1, 0, 2]
  %columns = tensor.collapse_shape %back [[0], [1, 2]] : tensor<16x4x32xf16> into tensor<16x128xf16>
  %out = tensor.empty() : tensor<16x64xf16>
  %out_0 = linalg.fill ins(%zero : f16) outs(%out : tensor<16x64xf16>) -> tensor<16x64xf16>
  %projected = linalg.matmul ins(%columns, %w : tensor<16x128xf16>, tensor<128x64xf16>) outs(%out_0 : tensor<16x64xf16>) -> tensor<16x64xf16>
  return %rotated, %weights, %projected : tensor<4x16x32xf16>, tensor<2x2x16x16xf16>, tensor<16x64xf16>
}
