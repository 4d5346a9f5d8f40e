// Restickifies between values in LX: of rows that 32 cores have, of blocks, and in a loop. Validated, checked, and run with LX poisoned. Not in release 1.0.0.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/all --validate --report %t/report.json | FileCheck %s --check-prefix=COMPILED
// RUN: spyre-translate --check-bundle %t/all
// RUN: spyre-translate --check-bundle --format=torch-spyre-2026-09 %t/all
// RUN: spyre-run %t/all --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/release --bundle-format=1.0 --validate | FileCheck %s --check-prefix=RELEASE
// RUN: spyre-translate --check-bundle --format=1.0 %t/release

// COMPILED: HBM traffic 1.50 MiB
// COMPILED: validated: the files and the imported program agree
// COMPILED: validated: the files and the program as written (MLIR's JIT) agree
// RELEASE: HBM traffic 3.
// RELEASE: validated: the files and the imported program agree
// CHECK: result0: correct
func.func @turned(%x: tensor<512x512xf16>, %y: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %e = tensor.empty() : tensor<512x512xf16>
  %exp = linalg.exp ins(%x : tensor<512x512xf16>) outs(%e : tensor<512x512xf16>) -> tensor<512x512xf16>
  %t = linalg.transpose ins(%exp : tensor<512x512xf16>) outs(%e : tensor<512x512xf16>) permutation = [1, 0]
  %sum = linalg.add ins(%t, %y : tensor<512x512xf16>, tensor<512x512xf16>) outs(%e : tensor<512x512xf16>) -> tensor<512x512xf16>
  %product = linalg.mul ins(%sum, %exp : tensor<512x512xf16>, tensor<512x512xf16>) outs(%e : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %product : tensor<512x512xf16>
}
