// Values that move between the LX of cores: from 32 slices of rows to 8 by 4 slices, to slices that four cores need each before a loop, and in a loop. Validated, checked, run with LX poisoned, and read back. Release 1.0.0 has no op for that.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/all --validate | FileCheck %s --check-prefix=COMPILED
// RUN: grep -l '"[0-9]*_shuffle"' %t/all/bundle_0/*.json | count 3
// RUN: grep -l '"[0-9]*_shuffle"' %t/all/bundle_0/*.json | xargs grep -L '"pass_name": "spyre-allocate-scratchpad"' | count 0
// RUN: spyre-translate --check-bundle %t/all
// RUN: spyre-translate --check-bundle --format=torch-spyre-2026-09 %t/all
// RUN: spyre-run %t/all --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/release --bundle-format=1.0 --validate > %t.log
// RUN: not grep -rl '"[0-9]*_shuffle"' %t/release
// RUN: spyre-compile %s -o %t/none --target %S/Inputs/no-shuffles.json --validate > %t.log
// RUN: not grep -rl '"[0-9]*_shuffle"' %t/none

// COMPILED: validated: the files and the imported program agree
// COMPILED: validated: the files and the program as written (MLIR's JIT) agree
// CHECK: result0: correct
// CHECK: result1: correct
func.func @moves(%x: tensor<512x1024xf16> {spyre.dims = ["A", "B"]}, %w: tensor<1024x256xf16> {spyre.dims = ["B", "C"]})
    -> (tensor<512x1024xf16>, tensor<512x256xf16>) {
  %e = tensor.empty() : tensor<512x1024xf16>
  %f = tensor.empty() : tensor<512x256xf16>
  %zero = arith.constant 0.0 : f16
  %rows = spyre.hint work_div(A = 32) {
    %y = linalg.exp ins(%x : tensor<512x1024xf16>) outs(%e : tensor<512x1024xf16>) -> tensor<512x1024xf16>
    spyre.yield %y : tensor<512x1024xf16>
  }
  %blocks = spyre.hint work_div(A = 8, B = 4) {
    %y = linalg.add ins(%rows, %x : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%e : tensor<512x1024xf16>) -> tensor<512x1024xf16>
    spyre.yield %y : tensor<512x1024xf16>
  }
  %init = linalg.fill ins(%zero : f16) outs(%f : tensor<512x256xf16>) -> tensor<512x256xf16>
  %product = spyre.hint tiles(C = 2) work_div(A = 8, C = 2) {
    %y = linalg.matmul ins(%rows, %w : tensor<512x1024xf16>, tensor<1024x256xf16>) outs(%init : tensor<512x256xf16>) -> tensor<512x256xf16>
    spyre.yield %y : tensor<512x256xf16>
  }
  %tiled = spyre.hint tiles(A = 2) {
    %s = spyre.hint work_div(A = 32) {
      %y = linalg.negf ins(%x : tensor<512x1024xf16>) outs(%e : tensor<512x1024xf16>) -> tensor<512x1024xf16>
      spyre.yield %y : tensor<512x1024xf16>
    }
    %t = spyre.hint work_div(A = 8, B = 4) {
      %y = linalg.add ins(%s, %blocks : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%e : tensor<512x1024xf16>) -> tensor<512x1024xf16>
      spyre.yield %y : tensor<512x1024xf16>
    }
    spyre.yield %t : tensor<512x1024xf16>
  }
  return %tiled, %product : tensor<512x1024xf16>, tensor<512x256xf16>
}
