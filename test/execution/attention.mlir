// Attention as one op, as torch-mlir writes it: plain, with a mask that is added, and one of truth values that leaves some rows nothing.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/f16.mlir -o %t/half --validate > %t/log && spyre-run %t/half --wipe-lx --check %t/f16.mlir | FileCheck %s
// RUN: spyre-compile %t/f32.mlir -o %t/single --validate > %t/log && spyre-run %t/single --wipe-lx --check %t/f32.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

//--- f16.mlir
func.func @main(%q: tensor<2x2x5x64xf16>, %k: tensor<2x2x9x64xf16>, %v: tensor<2x2x9x33xf16>, %added: tensor<2x2x5x9xf16>, %seen: tensor<2x2x5x9xi1>)
    -> (tensor<2x2x5x33xf16>, tensor<2x2x5x33xf16>, tensor<2x2x5x33xf16>) {
  %e = tensor.empty() : tensor<2x2x5x33xf16>
  %plain = tm_tensor.attention ins(%q, %k, %v : tensor<2x2x5x64xf16>, tensor<2x2x9x64xf16>, tensor<2x2x9x33xf16>)
      outs(%e : tensor<2x2x5x33xf16>) -> tensor<2x2x5x33xf16>
  %masked = tm_tensor.attention ins(%q, %k, %v, %added : tensor<2x2x5x64xf16>, tensor<2x2x9x64xf16>, tensor<2x2x9x33xf16>, tensor<2x2x5x9xf16>)
      outs(%e : tensor<2x2x5x33xf16>) -> tensor<2x2x5x33xf16>
  // Of the second row of each head nothing is seen.
  %rows = arith.constant dense<[[true], [false], [true], [true], [true]]> : tensor<5x1xi1>
  %eb = tensor.empty() : tensor<2x2x5x9xi1>
  %some = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, 0)>,
      affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%seen, %rows : tensor<2x2x5x9xi1>, tensor<5x1xi1>) outs(%eb : tensor<2x2x5x9xi1>) {
  ^bb0(%one: i1, %other: i1, %out: i1):
    %both = arith.andi %one, %other : i1
    linalg.yield %both : i1
  } -> tensor<2x2x5x9xi1>
  %left = tm_tensor.attention ins(%q, %k, %v, %some : tensor<2x2x5x64xf16>, tensor<2x2x9x64xf16>, tensor<2x2x9x33xf16>, tensor<2x2x5x9xi1>)
      outs(%e : tensor<2x2x5x33xf16>) -> tensor<2x2x5x33xf16>
  return %plain, %masked, %left : tensor<2x2x5x33xf16>, tensor<2x2x5x33xf16>, tensor<2x2x5x33xf16>
}

//--- f32.mlir
func.func @main(%q: tensor<2x2x5x64xf32>, %k: tensor<2x2x9x64xf32>, %v: tensor<2x2x9x33xf32>, %added: tensor<2x2x5x9xf32>, %seen: tensor<2x2x5x9xi1>)
    -> (tensor<2x2x5x33xf32>, tensor<2x2x5x33xf32>, tensor<2x2x5x33xf32>) {
  %e = tensor.empty() : tensor<2x2x5x33xf32>
  %plain = tm_tensor.attention ins(%q, %k, %v : tensor<2x2x5x64xf32>, tensor<2x2x9x64xf32>, tensor<2x2x9x33xf32>)
      outs(%e : tensor<2x2x5x33xf32>) -> tensor<2x2x5x33xf32>
  %masked = tm_tensor.attention ins(%q, %k, %v, %added : tensor<2x2x5x64xf32>, tensor<2x2x9x64xf32>, tensor<2x2x9x33xf32>, tensor<2x2x5x9xf32>)
      outs(%e : tensor<2x2x5x33xf32>) -> tensor<2x2x5x33xf32>
  // Of the second row of each head nothing is seen.
  %rows = arith.constant dense<[[true], [false], [true], [true], [true]]> : tensor<5x1xi1>
  %eb = tensor.empty() : tensor<2x2x5x9xi1>
  %some = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, 0)>,
      affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%seen, %rows : tensor<2x2x5x9xi1>, tensor<5x1xi1>) outs(%eb : tensor<2x2x5x9xi1>) {
  ^bb0(%one: i1, %other: i1, %out: i1):
    %both = arith.andi %one, %other : i1
    linalg.yield %both : i1
  } -> tensor<2x2x5x9xi1>
  %left = tm_tensor.attention ins(%q, %k, %v, %some : tensor<2x2x5x64xf32>, tensor<2x2x9x64xf32>, tensor<2x2x9x33xf32>, tensor<2x2x5x9xi1>)
      outs(%e : tensor<2x2x5x33xf32>) -> tensor<2x2x5x33xf32>
  return %plain, %masked, %left : tensor<2x2x5x33xf32>, tensor<2x2x5x33xf32>, tensor<2x2x5x33xf32>
}
