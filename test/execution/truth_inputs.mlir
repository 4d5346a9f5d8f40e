// A Boolean mask as an argument, with selects in three spellings, and a Boolean result.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/tiled --dims 0=A:B --dims 1=A:B --dims 2=A:B --tiles A=2 > %t.log && spyre-run %t/tiled --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/baked --addresses baked --lx-planner none > %t.log && spyre-run %t/baked --check %s | FileCheck %s
// RUN: spyre-run %t/out --output-dir %t/first > %t.log
// RUN: cp %t/first/result1.npy %t/mask.npy
// RUN: spyre-run %t/out --input arg0=%t/mask.npy --output-dir %t/second > %t.log && diff %t/second/result1.npy %t/mask.npy

// A result is valid as an input: the second result is the mask, and is unchanged if it is given as the mask.
// CHECK: result0: correct
// CHECK: result1: correct
func.func @truth(%mask: tensor<64x128xi1>, %x: tensor<64x128xf16>, %y: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xi1>) {
  %e = tensor.empty() : tensor<64x128xf16>
  %chosen = linalg.select ins(%mask, %x, %y : tensor<64x128xi1>, tensor<64x128xf16>, tensor<64x128xf16>) outs(%e : tensor<64x128xf16>) -> tensor<64x128xf16>
  %b = tensor.empty() : tensor<64x128xi1>
  %same = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%mask : tensor<64x128xi1>) outs(%b : tensor<64x128xi1>) {
  ^bb0(%m: i1, %out: i1):
    %one = arith.constant true
    %both = arith.andi %m, %one : i1
    linalg.yield %both : i1
  } -> tensor<64x128xi1>
  return %chosen, %same : tensor<64x128xf16>, tensor<64x128xi1>
}
