// A softmax of rows that nothing divides, in two parts: in loops, with 3 cores, and with addresses that are baked.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --cores 8 --lx-bytes 16384 --validate | FileCheck %s --check-prefix=SAID
// RUN: spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-bytes 16384 --validate > %t.log && spyre-run %t/three --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/baked --cores 8 --lx-bytes 16384 --validate --addresses baked --loops unroll > %t.log && spyre-run %t/baked --check %s | FileCheck %s

// Without a search nothing is compared.
// RUN: spyre-compile %s -o %t/whole --cores 8 --lx-bytes 16384 --tile-search none | FileCheck %s --check-prefix=WHOLE

// SAID: peeling: 193 = 192 + 1 for ops 0-4
// WHOLE-NOT: peeling:
// CHECK: result0: correct
func.func @main(%x: tensor<193x1024xf16>) -> tensor<193x1024xf16> {
  %e = tensor.empty() : tensor<193x1024xf16>
  %s = linalg.softmax dimension(1) ins(%x : tensor<193x1024xf16>) outs(%e : tensor<193x1024xf16>) -> tensor<193x1024xf16>
  return %s : tensor<193x1024xf16>
}
