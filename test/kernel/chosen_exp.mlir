// Rows that are chosen in front of a kernel that takes their exponential: in the kernel's loop the gather computes it, so that what is chosen is neither written
// nor read. With one tile HBM has what it must have; with four each reads the table's rows again.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/out --knobs choose.T=1 | FileCheck %s
// RUN: spyre-compile %s --validate -o %t/four | FileCheck %s --check-prefix=FOUR
// RUN: spyre-compile %s --validate -o %t/separate --kernels separate | FileCheck %s --check-prefix=SEPARATE
// RUN: spyre-run %t/out --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-run %t/four --check %s | FileCheck %s --check-prefix=NUMBERS

// CHECK:    kernel 'choose' with T = 1: INLINE identity
// CHECK:    HBM traffic 1.50 MiB (lower bound 1.50 MiB)
// CHECK:    validated: the files and the imported program agree
// FOUR:     HBM traffic 2.00 MiB (lower bound 1.50 MiB, 1.33 times)
// FOUR:     validated: the files and the imported program agree
// SEPARATE: HBM traffic 3.50 MiB
// SEPARATE: validated: the files and the imported program agree
// NUMBERS:  correct

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @choose(%x: tensor<512x1024xf16> {spyre.dims = ["rows", ""]}) -> tensor<512x1024xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>]} {
  %y = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<512x1024xf16>
    %e = linalg.exp ins(%x : tensor<512x1024xf16>) outs(%empty : tensor<512x1024xf16>) -> tensor<512x1024xf16>
    spyre.yield %e : tensor<512x1024xf16>
  }
  return %y : tensor<512x1024xf16>
}
func.func @main(%table: tensor<256x1024xf16>, %list: tensor<512xi64>) -> tensor<512x1024xf16> {
  %empty = tensor.empty() : tensor<512x1024xf16>
  %chosen = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #map], iterator_types = ["parallel", "parallel"]}
    ins(%list : tensor<512xi64>) outs(%empty : tensor<512x1024xf16>) {
  ^bb0(%row: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<256x1024xf16>
    linalg.yield %element : f16
  } -> tensor<512x1024xf16>
  %y = call @choose(%chosen) : (tensor<512x1024xf16>) -> tensor<512x1024xf16>
  return %y : tensor<512x1024xf16>
}
