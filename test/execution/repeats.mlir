// Users of a repeated value view it with other dimensions than its producer: core views must be compared by bytes, or a core would read
// the slice of another core from LX.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/one --cores 1 > %t.log && spyre-run %t/one --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/clone --lx-planner first-fit > %t.log && spyre-run %t/clone --check %s | FileCheck %s

// CHECK:      result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

func.func @repeated(%x: tensor<2x4x80xf16>, %t: tensor<2x128xf16>, %u: tensor<4x64xf16>, %k: tensor<2x2x20x80xf16>)
    -> (tensor<2x12x80xf16>, tensor<4x320xf16>, tensor<2x8x20x1xf16>) {
  // A softmax of repeated rows of two sticks: the producer has as many columns of sticks as the users have batches.
  %low = arith.constant 0xFC00 : f16
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x4x3x80xf16>
  %repeated = linalg.generic {indexing_maps = [affine_map<(b, h, r, d) -> (b, h, d)>, affine_map<(b, h, r, d) -> (b, h, r, d)>],
                              iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x4x80xf16>) outs(%e : tensor<2x4x3x80xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x4x3x80xf16>
  %rows = tensor.collapse_shape %repeated [[0], [1, 2], [3]] : tensor<2x4x3x80xf16> into tensor<2x12x80xf16>
  %per_row = tensor.empty() : tensor<2x12xf16>
  %wide = tensor.empty() : tensor<2x12x80xf16>
  %lows = linalg.fill ins(%low : f16) outs(%per_row : tensor<2x12xf16>) -> tensor<2x12xf16>
  %max = linalg.reduce ins(%rows : tensor<2x12x80xf16>) outs(%lows : tensor<2x12xf16>) dimensions = [2]
    (%a: f16, %b: f16) { %m = arith.maximumf %a, %b : f16 linalg.yield %m : f16 }
  %max_wide = linalg.broadcast ins(%max : tensor<2x12xf16>) outs(%wide : tensor<2x12x80xf16>) dimensions = [2]
  %shifted = linalg.sub ins(%rows, %max_wide : tensor<2x12x80xf16>, tensor<2x12x80xf16>) outs(%wide : tensor<2x12x80xf16>) -> tensor<2x12x80xf16>
  %exp = linalg.exp ins(%shifted : tensor<2x12x80xf16>) outs(%wide : tensor<2x12x80xf16>) -> tensor<2x12x80xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%per_row : tensor<2x12xf16>) -> tensor<2x12xf16>
  %sum = linalg.reduce ins(%exp : tensor<2x12x80xf16>) outs(%zeros : tensor<2x12xf16>) dimensions = [2]
    (%a: f16, %b: f16) { %s = arith.addf %a, %b : f16 linalg.yield %s : f16 }
  %sum_wide = linalg.broadcast ins(%sum : tensor<2x12xf16>) outs(%wide : tensor<2x12x80xf16>) dimensions = [2]
  %softmax = linalg.div ins(%exp, %sum_wide : tensor<2x12x80xf16>, tensor<2x12x80xf16>) outs(%wide : tensor<2x12x80xf16>) -> tensor<2x12x80xf16>

  // Repeated tiles concatenated with another slice.
  %te = tensor.empty() : tensor<2x2x2x128xf16>
  %tiles = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (b, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t : tensor<2x128xf16>) outs(%te : tensor<2x2x2x128xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x2x2x128xf16>
  %tiled = tensor.collapse_shape %tiles [[0, 1], [2, 3]] : tensor<2x2x2x128xf16> into tensor<4x256xf16>
  %both = tensor.concat dim(1) %tiled, %u : (tensor<4x256xf16>, tensor<4x64xf16>) -> tensor<4x320xf16>

  // Keys repeated for their queries, and their norms.
  %ke = tensor.empty() : tensor<2x2x4x20x80xf16>
  %many = linalg.broadcast ins(%k : tensor<2x2x20x80xf16>) outs(%ke : tensor<2x2x4x20x80xf16>) dimensions = [2]
  %keys = tensor.collapse_shape %many [[0], [1, 2], [3], [4]] : tensor<2x2x4x20x80xf16> into tensor<2x8x20x80xf16>
  %keys_wide = tensor.empty() : tensor<2x8x20x80xf16>
  %squares = linalg.mul ins(%keys, %keys : tensor<2x8x20x80xf16>, tensor<2x8x20x80xf16>) outs(%keys_wide : tensor<2x8x20x80xf16>) -> tensor<2x8x20x80xf16>
  %per_key = tensor.empty() : tensor<2x8x20xf16>
  %key_zeros = linalg.fill ins(%zero : f16) outs(%per_key : tensor<2x8x20xf16>) -> tensor<2x8x20xf16>
  %key_sum = linalg.reduce ins(%squares : tensor<2x8x20x80xf16>) outs(%key_zeros : tensor<2x8x20xf16>) dimensions = [3]
    (%a: f16, %b: f16) { %s = arith.addf %a, %b : f16 linalg.yield %s : f16 }
  %norm = tensor.expand_shape %key_sum [[0], [1], [2, 3]] output_shape [2, 8, 20, 1] : tensor<2x8x20xf16> into tensor<2x8x20x1xf16>
  return %softmax, %both, %norm : tensor<2x12x80xf16>, tensor<4x320xf16>, tensor<2x8x20x1xf16>
}
