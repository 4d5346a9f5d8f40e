// A bias and a GELU behind a product in tiles: the product stays in LX. With one tile every value does, and HBM has what it must have.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/out | FileCheck %s
// RUN: spyre-compile %s --validate -o %t/separate --kernels separate | FileCheck %s --check-prefix=SEPARATE
// RUN: spyre-run %t/out --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-compile %s --validate -o %t/one --knobs matmul.M=1 | FileCheck %s --check-prefix=ONE

// CHECK:      kernel 'matmul' with M = 4, N = 1: INLINE add, gelufwd
// CHECK:      HBM traffic 836.0 KiB (lower bound 449.0 KiB, 1.86 times)
// CHECK:      validated: the files and the imported program agree
// SEPARATE:   HBM traffic 1.31 MiB (lower bound 449.0 KiB, 3.00 times)
// SEPARATE:   validated: the files and the imported program agree
// ONE:        kernel 'matmul' with M = 1, N = 1: INLINE add, gelufwd
// ONE:        HBM traffic 449.0 KiB (lower bound 449.0 KiB)
// ONE:        validated: the files and the imported program agree
// NUMBERS:    correct

func.func private @matmul(%a: tensor<256x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x512xf16> {spyre.dims = ["k", "n"]})
    -> tensor<256x512xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<M = 4 in pow2 1 to 8>,
                                             #spyre.knob<N = 1 in pow2 1 to 8, where "M * N <= 16">]} {
  %zero = arith.constant 0.0 : f16
  %c = spyre.hint tiles(m = M, n = N) {
    %empty = tensor.empty() : tensor<256x512xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
    %product = linalg.matmul ins(%a, %b : tensor<256x128xf16>, tensor<128x512xf16>) outs(%begin : tensor<256x512xf16>) -> tensor<256x512xf16>
    spyre.yield %product : tensor<256x512xf16>
  }
  return %c : tensor<256x512xf16>
}

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

func.func @main(%a: tensor<256x128xf16>, %b: tensor<128x512xf16>, %bias: tensor<512xf16>) -> tensor<256x512xf16> {
  %half = arith.constant 0.5 : f16
  %one = arith.constant 1.0 : f16
  %root = arith.constant 0.70710678 : f16
  %empty = tensor.empty() : tensor<256x512xf16>
  %c = call @matmul(%a, %b) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
  %gelu = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : tensor<256x512xf16>, tensor<512xf16>) outs(%empty : tensor<256x512xf16>) {
  ^bb0(%in: f16, %add: f16, %out: f16):
    %x = arith.addf %in, %add : f16
    %scaled = arith.mulf %x, %root : f16
    %erf = math.erf %scaled : f16
    %shifted = arith.addf %erf, %one : f16
    %halved = arith.mulf %x, %half : f16
    %y = arith.mulf %halved, %shifted : f16
    linalg.yield %y : f16
  } -> tensor<256x512xf16>
  return %gelu : tensor<256x512xf16>
}
