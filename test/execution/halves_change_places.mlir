// Half of each row is turned, as rotary position embeddings do: both halves are written into LX by ops of their own, and read there as one value.
//
// RUN: spyre-compile %s -o %t --validate | FileCheck %s --check-prefix=PLAN
// RUN: spyre-run %t --wipe-lx --check %s | FileCheck %s
// PLAN:  HBM traffic 1.12 MiB (lower bound 1.12 MiB)
// CHECK: result0: correct
func.func @rotated(%x: tensor<8x512x64xf16>, %c: tensor<512x64xf16>, %s: tensor<512x64xf16>) -> tensor<8x512x64xf16> {
  %e = tensor.empty() : tensor<8x512x64xf16>
  %h = tensor.empty() : tensor<8x512x32xf16>
  %x0 = linalg.exp ins(%x : tensor<8x512x64xf16>) outs(%e : tensor<8x512x64xf16>) -> tensor<8x512x64xf16>
  %a = tensor.extract_slice %x0[0, 0, 0] [8, 512, 32] [1, 1, 1] : tensor<8x512x64xf16> to tensor<8x512x32xf16>
  %b = tensor.extract_slice %x0[0, 0, 32] [8, 512, 32] [1, 1, 1] : tensor<8x512x64xf16> to tensor<8x512x32xf16>
  %n = linalg.negf ins(%b : tensor<8x512x32xf16>) outs(%h : tensor<8x512x32xf16>) -> tensor<8x512x32xf16>
  %r = tensor.concat dim(2) %n, %a : (tensor<8x512x32xf16>, tensor<8x512x32xf16>) -> tensor<8x512x64xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(h, t, d) -> (h, t, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t, d)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x0, %c, %r, %s : tensor<8x512x64xf16>, tensor<512x64xf16>, tensor<8x512x64xf16>, tensor<512x64xf16>) outs(%e : tensor<8x512x64xf16>) {
  ^bb0(%0: f16, %1: f16, %2: f16, %3: f16, %o: f16):
    %4 = arith.mulf %0, %1 : f16
    %5 = arith.mulf %2, %3 : f16
    %6 = arith.addf %4, %5 : f16
    linalg.yield %6 : f16
  } -> tensor<8x512x64xf16>
  return %p : tensor<8x512x64xf16>
}
