// Products of operands that are at one position of several dimensions: of three around the rows, and of one beside two batch dimensions.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/baked --addresses baked --cores 4 > %t.log && spyre-run %t/baked --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
func.func @products(%a: tensor<2x54x2x32xf16>, %b: tensor<32x64xf16>, %c: tensor<2x3x4x8x64xf16>, %d: tensor<2x3x64x64xf16>)
    -> (tensor<22x64xf16>, tensor<2x3x8x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %row = tensor.extract_slice %a[1, 11, 1, 0] [1, 22, 1, 32] [1, 2, 1, 1] : tensor<2x54x2x32xf16> to tensor<22x32xf16>
  %e = tensor.empty() : tensor<22x64xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<22x64xf16>) -> tensor<22x64xf16>
  %g = linalg.matmul ins(%row, %b : tensor<22x32xf16>, tensor<32x64xf16>) outs(%f : tensor<22x64xf16>) -> tensor<22x64xf16>
  %part = tensor.extract_slice %c[0, 0, 2, 0, 0] [2, 3, 1, 8, 64] [1, 1, 1, 1, 1] : tensor<2x3x4x8x64xf16> to tensor<2x3x8x64xf16>
  %h = tensor.empty() : tensor<2x3x8x64xf16>
  %i = linalg.fill ins(%zero : f16) outs(%h : tensor<2x3x8x64xf16>) -> tensor<2x3x8x64xf16>
  %j = linalg.generic {indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>, affine_map<(a, b, m, n, k) -> (a, b, k, n)>,
        affine_map<(a, b, m, n, k) -> (a, b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%part, %d : tensor<2x3x8x64xf16>, tensor<2x3x64x64xf16>) outs(%i : tensor<2x3x8x64xf16>) {
  ^bb0(%x: f16, %y: f16, %out: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %p, %out : f16
    linalg.yield %s : f16
  } -> tensor<2x3x8x64xf16>
  return %g, %j : tensor<22x64xf16>, tensor<2x3x8x64xf16>
}
