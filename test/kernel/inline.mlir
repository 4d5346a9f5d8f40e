// Weights that are scaled in front of a product in tiles of rows and columns. With two tiles of rows they are scaled again in each of these, with more in
// front of all; with whole columns they are scaled once, outside of the loop over rows, and kept. The model chooses.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/inline --report %t/report.json | FileCheck %s --check-prefix=INLINE
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// RUN: spyre-run %t/inline --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-compile %s --validate -o %t/stage --knobs matmul.M=4,matmul.N=1 --report %t/stage.json | FileCheck %s --check-prefix=STAGE
// RUN: FileCheck %s --check-prefix=STAGED < %t/stage.json
// RUN: spyre-run %t/stage --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-compile %s --validate -o %t/separate --knobs matmul.M=4 --report %t/separate.json | FileCheck %s --check-prefix=SEPARATE
// RUN: FileCheck %s --check-prefix=BESIDE < %t/separate.json
// RUN: spyre-run %t/separate --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-compile %s --compile-to import | FileCheck %s --check-prefix=HINTS
// RUN: spyre-compile %s --compile-to tile | FileCheck %s --check-prefix=LOOPS

// INLINE:        kernel 'matmul' with M = 2, N = 2: INLINE mul (2 times, {{[0-9.]+}} us more)
// INLINE-NEXT:   with fusion {{[0-9.]+}} us ({{[0-9.]+}} us of recomputation) and 655872 bytes of HBM traffic, without {{[0-9.]+}} us and 917632 bytes; 5 compilations
// INLINE:        HBM traffic 640.5 KiB
// INLINE:        validated: the files and the imported program agree
// STAGE:         kernel 'matmul' with M = 4, N = 1: STAGE mul{{$}}
// STAGE:         validated: the files and the imported program agree
// SEPARATE:      kernel 'matmul' with M = 4, N = 2: SEPARATE mul [P-COST]
// SEPARATE:      validated: the files and the imported program agree
// NUMBERS:       correct
// REPORT:        "function": "mul",
// REPORT:        "side": "prologue",
// REPORT-NEXT:   "mode": "inline",
// REPORT-NEXT:   "loops": [
// REPORT-NEXT:     "m = 2",
// REPORT-NEXT:     "n = 2"
// REPORT-NEXT:   ],
// REPORT-NEXT:   "times": 2,
// REPORT-NEXT:   "again_us": {{[0-9.]+}},
// REPORT-NEXT:   "saved_us": {{[0-9.]+}},
// REPORT-NEXT:   "saved_hbm_bytes": 261760
// REPORT:        "again_us": {{[0-9.]+}},
// STAGED:        "mode": "stage",
// STAGED-NEXT:   "loops": [],
// STAGED-NEXT:   "times": 1,
// STAGED-NOT:    "again_us"
// BESIDE:        "mode": "separate",
// BESIDE-NEXT:   "code": "P-COST",
// HINTS:         spyre.pointwise mul{{.*}} {hints = [#spyre.tile_hint<0, m = 2, recompute>, #spyre.tile_hint<1, n = 2>]}
// LOOPS:         spyre.loop 2 "m"
// LOOPS-NEXT:      spyre.loop 2 "n"
// LOOPS-NEXT:        spyre.pointwise mul({{.*}}) {dims = ["k", "n"], spyre.times = 2 : i64}
// LOOPS-NEXT:        spyre.matmul

func.func private @matmul(%a: tensor<256x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x512xf16> {spyre.dims = ["k", "n"]})
    -> tensor<256x512xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<M = 2 in pow2 1 to 8>,
                                             #spyre.knob<N = 2 in pow2 1 to 8, where "M * N <= 16">]} {
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
func.func @main(%a: tensor<256x128xf16>, %b: tensor<128x512xf16>) -> tensor<256x512xf16> {
  %half = arith.constant 0.5 : f16
  %empty = tensor.empty() : tensor<128x512xf16>
  %scaled = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%b : tensor<128x512xf16>) outs(%empty : tensor<128x512xf16>) {
  ^bb0(%in: f16, %out: f16):
    %product = arith.mulf %in, %half : f16
    linalg.yield %product : f16
  } -> tensor<128x512xf16>
  %c = call @matmul(%a, %scaled) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
  return %c : tensor<256x512xf16>
}
