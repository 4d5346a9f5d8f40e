// A move changes no number, bit for bit: an exponential in front of a sum of rows of 100 columns, which end inside a stick (what is behind them must
// stay out of the sum), a quotient, whose rounding stays; and two outputs of different rank, one of which a consumer reads.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/fused | FileCheck %s
// RUN: spyre-compile %s --validate -o %t/separate --kernels separate | FileCheck %s --check-prefix=SEPARATE
// RUN: spyre-run %t/fused --output-dir %t/1 --check %s --wipe-lx | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-run %t/separate --output-dir %t/2 > %t.log && diff -r %t/1 %t/2

// CHECK:      kernel 'softmax_rows' with T = 4: INLINE exp; SEPARATE mul [E-COST]
// CHECK:      validated: the files and the imported program agree
// SEPARATE:   validated: the files and the imported program agree
// NUMBERS:    result0: correct
// NUMBERS:    result1: correct

#map = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d0)>

func.func private @softmax_rows(%x: tensor<64x100xf16> {spyre.dims = ["rows", ""]}) -> (tensor<64x100xf16>, tensor<64xf16>)
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>]} {
  %zero = arith.constant 0.0 : f16
  %y, %s = spyre.hint tiles(rows = T) {
    %row = tensor.empty() : tensor<64xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%row : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.reduce { arith.addf } ins(%x : tensor<64x100xf16>) outs(%begin : tensor<64xf16>) dimensions = [1]
    %empty = tensor.empty() : tensor<64x100xf16>
    %shares = linalg.generic {indexing_maps = [#map, #column, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<64x100xf16>, tensor<64xf16>) outs(%empty : tensor<64x100xf16>) {
    ^bb0(%in: f16, %all: f16, %out: f16):
      %share = arith.divf %in, %all : f16
      linalg.yield %share : f16
    } -> tensor<64x100xf16>
    spyre.yield %shares, %sum : tensor<64x100xf16>, tensor<64xf16>
  }
  return %y, %s : tensor<64x100xf16>, tensor<64xf16>
}

func.func @main(%x: tensor<64x100xf16>) -> (tensor<64x100xf16>, tensor<64xf16>) {
  %third = arith.constant 0.333 : f16
  %empty = tensor.empty() : tensor<64x100xf16>
  %exp = linalg.exp ins(%x : tensor<64x100xf16>) outs(%empty : tensor<64x100xf16>) -> tensor<64x100xf16>
  %y, %s = call @softmax_rows(%exp) : (tensor<64x100xf16>) -> (tensor<64x100xf16>, tensor<64xf16>)
  %scaled = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<64x100xf16>) outs(%empty : tensor<64x100xf16>) {
  ^bb0(%in: f16, %out: f16):
    %product = arith.mulf %in, %third : f16
    linalg.yield %product : f16
  } -> tensor<64x100xf16>
  return %scaled, %s : tensor<64x100xf16>, tensor<64xf16>
}
