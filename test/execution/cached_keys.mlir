// A token behind 128 cached ones, whose keys and values PyTorch puts together with the new ones: the cached ones are read where they are, and
// the new key and value are multiplied by themselves. Two heads share a head of keys. No sum is parted where `strict` keeps f32.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/all --validate > %t.log && spyre-run %t/all --wipe-lx --check %s | FileCheck %s --check-prefixes=CHECK,PARTED
// RUN: spyre-compile %s -o %t/strict --precision=strict --validate > %t.log && spyre-run %t/strict --check %s | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: spyre-compile %s -o %t/odd --cores 3 --lx-bytes 2048 > %t.log && spyre-run %t/odd --check %s | FileCheck %s

// PARTED: 13 executes; HBM 68096 B read, 1536 B written
// STRICT: 15 executes; HBM 69760 B read, 3072 B written
// CHECK: result0: correct
#rows = affine_map<(h, g, t, d) -> (h, t, d)>
#all = affine_map<(h, g, t, d) -> (h, g, t, d)>
#query = affine_map<(h, m, n, k) -> (h, m, k)>
#key = affine_map<(h, m, n, k) -> (h, n, k)>
#score = affine_map<(h, m, n, k) -> (h, m, n)>
func.func @cached(%query: tensor<4x1x64xf16>, %keys: tensor<2x128x64xf16>, %values: tensor<2x128x64xf16>, %key: tensor<2x1x64xf16>,
                  %value: tensor<2x1x64xf16>) -> tensor<4x1x64xf16> {
  %zero = arith.constant 0.0 : f16
  %all_keys = tensor.concat dim(1) %keys, %key : (tensor<2x128x64xf16>, tensor<2x1x64xf16>) -> tensor<2x129x64xf16>
  %all_values = tensor.concat dim(1) %values, %value : (tensor<2x128x64xf16>, tensor<2x1x64xf16>) -> tensor<2x129x64xf16>
  %shared = tensor.empty() : tensor<2x2x129x64xf16>
  %shared_keys = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%all_keys : tensor<2x129x64xf16>) outs(%shared : tensor<2x2x129x64xf16>) {
    ^bb0(%a: f16, %out: f16):
      linalg.yield %a : f16
  } -> tensor<2x2x129x64xf16>
  %shared_values = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%all_values : tensor<2x129x64xf16>) outs(%shared : tensor<2x2x129x64xf16>) {
    ^bb0(%a: f16, %out: f16):
      linalg.yield %a : f16
  } -> tensor<2x2x129x64xf16>
  %head_keys = tensor.collapse_shape %shared_keys [[0, 1], [2], [3]] : tensor<2x2x129x64xf16> into tensor<4x129x64xf16>
  %head_values = tensor.collapse_shape %shared_values [[0, 1], [2], [3]] : tensor<2x2x129x64xf16> into tensor<4x129x64xf16>
  %of_scores = tensor.empty() : tensor<4x1x129xf16>
  %no_scores = linalg.fill ins(%zero : f16) outs(%of_scores : tensor<4x1x129xf16>) -> tensor<4x1x129xf16>
  %scores = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%query, %head_keys : tensor<4x1x64xf16>, tensor<4x129x64xf16>) outs(%no_scores : tensor<4x1x129xf16>) {
    ^bb0(%a: f16, %b: f16, %sum: f16):
      %product = arith.mulf %a, %b : f16
      %next = arith.addf %sum, %product : f16
      linalg.yield %next : f16
  } -> tensor<4x1x129xf16>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<4x1x129xf16>) outs(%of_scores : tensor<4x1x129xf16>) -> tensor<4x1x129xf16>
  %of_result = tensor.empty() : tensor<4x1x64xf16>
  %no_result = linalg.fill ins(%zero : f16) outs(%of_result : tensor<4x1x64xf16>) -> tensor<4x1x64xf16>
  %result = linalg.batch_matmul ins(%weights, %head_values : tensor<4x1x129xf16>, tensor<4x129x64xf16>) outs(%no_result : tensor<4x1x64xf16>) -> tensor<4x1x64xf16>
  return %result : tensor<4x1x64xf16>
}
