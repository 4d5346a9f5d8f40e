// A hint scope becomes a kernel, and its neighbours move into the loop; a product without a scope is a kernel that changes nothing.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/formed --kernels form | FileCheck %s
// RUN: spyre-compile %s --validate -o %t/plain | FileCheck %s --check-prefix=PLAIN
// RUN: spyre-run %t/formed --output-dir %t/1 --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-run %t/plain --output-dir %t/2 > %t.log && diff -r %t/1 %t/2

// CHECK:      kernel 'scope': INLINE neg, relufwd
// CHECK:      HBM traffic
// CHECK:      validated: the files and the imported program agree
// PLAIN-NOT:  kernel
// PLAIN:      HBM traffic
// PLAIN:      validated: the files and the imported program agree
// NUMBERS:    correct

func.func @main(%x: tensor<256x512xf16> {spyre.dims = ["rows", ""]}) -> tensor<256x512xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<256x512xf16>
  %neg = linalg.negf ins(%x : tensor<256x512xf16>) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
  %y = spyre.hint tiles(rows = 4) {
    %exp = linalg.exp ins(%neg : tensor<256x512xf16>) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
    spyre.yield %exp : tensor<256x512xf16>
  }
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
  %relu = linalg.max ins(%y, %zeros : tensor<256x512xf16>, tensor<256x512xf16>) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
  return %relu : tensor<256x512xf16>
}
