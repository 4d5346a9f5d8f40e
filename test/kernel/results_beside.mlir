// A block with a residual: what is made in front of a norm is a result of its kernel as well, chosen rows are chosen in its loops, and a product in the
// same loops joins it.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/out | FileCheck %s
// RUN: spyre-compile %s --validate -o %t/separate --kernels separate | FileCheck %s --check-prefix=SEPARATE
// RUN: spyre-run %t/out --check %s --wipe-lx | FileCheck %s --check-prefix=NUMBERS

// CHECK:      kernel 'rms_norm' with T = 4: INLINE add, add, batchmatmul; SEPARATE identity [P-COST]
// CHECK:      validated: the files and the imported program agree
// SEPARATE:   validated: the files and the imported program agree
// NUMBERS:    result0: correct
// NUMBERS:    result1: correct

#map = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d0)>

func.func private @rms_norm(%x: tensor<256x512xf16> {spyre.dims = ["rows", "columns"]}) -> tensor<256x512xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 64>]} {
  %zero = arith.constant 0.0 : f16
  %count = arith.constant 512.0 : f16
  %eps = arith.constant 1.0e-03 : f16
  %y = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<256x512xf16>
    %square = linalg.mul ins(%x, %x : tensor<256x512xf16>, tensor<256x512xf16>) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
    %row = tensor.empty() : tensor<256xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%row : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.reduce { arith.addf } ins(%square : tensor<256x512xf16>) outs(%begin : tensor<256xf16>) dimensions = [1]
    %scaled = linalg.generic {indexing_maps = [#map, #column, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<256x512xf16>, tensor<256xf16>) outs(%empty : tensor<256x512xf16>) {
    ^bb0(%in: f16, %all: f16, %out: f16):
      %mean = arith.divf %all, %count : f16
      %shifted = arith.addf %mean, %eps : f16
      %inverse = math.rsqrt %shifted : f16
      %normal = arith.mulf %in, %inverse : f16
      linalg.yield %normal : f16
    } -> tensor<256x512xf16>
    spyre.yield %scaled : tensor<256x512xf16>
  }
  return %y : tensor<256x512xf16>
}

func.func private @linear(%x: tensor<256x512xf16> {spyre.dims = ["m", "k"]}, %w: tensor<512x512xf16> {spyre.dims = ["k", "n"]}) -> tensor<256x512xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 64>]} {
  %zero = arith.constant 0.0 : f16
  %y = spyre.hint tiles(m = T) {
    %empty = tensor.empty() : tensor<256x512xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
    %product = linalg.matmul ins(%x, %w : tensor<256x512xf16>, tensor<512x512xf16>) outs(%begin : tensor<256x512xf16>) -> tensor<256x512xf16>
    spyre.yield %product : tensor<256x512xf16>
  }
  return %y : tensor<256x512xf16>
}

func.func @main(%table: tensor<1000x512xf16>, %words: tensor<256xi64>, %before: tensor<256x512xf16>, %w: tensor<512x512xf16>)
    -> (tensor<256x512xf16>, tensor<256x512xf16>) {
  %empty = tensor.empty() : tensor<256x512xf16>
  %chosen = linalg.generic {indexing_maps = [#column, #map], iterator_types = ["parallel", "parallel"]}
    ins(%words : tensor<256xi64>) outs(%empty : tensor<256x512xf16>) {
  ^bb0(%word: i64, %out: f16):
    %place = arith.index_cast %word : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%place, %column] : tensor<1000x512xf16>
    linalg.yield %element : f16
  } -> tensor<256x512xf16>
  %x = linalg.add ins(%chosen, %before : tensor<256x512xf16>, tensor<256x512xf16>) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
  %normal = call @rms_norm(%x) : (tensor<256x512xf16>) -> tensor<256x512xf16>
  %product = call @linear(%normal, %w) : (tensor<256x512xf16>, tensor<512x512xf16>) -> tensor<256x512xf16>
  %sum = linalg.add ins(%product, %x : tensor<256x512xf16>, tensor<256x512xf16>) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
  return %x, %sum : tensor<256x512xf16>, tensor<256x512xf16>
}
