// A scale in front of an RMS norm, ReLU and a residual behind it: one kernel. Without the moves what is between the ops goes through memory.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/out --report %t/report.json | FileCheck %s
// RUN: spyre-compile %s --validate -o %t/separate --kernels separate | FileCheck %s --check-prefix=SEPARATE
// RUN: spyre-run %t/out --check %s | FileCheck %s --check-prefix=NUMBERS
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json

// CHECK:      kernel 'rms_norm' with T = 4: INLINE mul, relufwd, add
// CHECK-NEXT: with fusion {{[0-9.]+}} us and 1779200 bytes of HBM traffic, without {{[0-9.]+}} us and 4301568 bytes; 5 compilations
// CHECK:      HBM traffic 1.70 MiB (lower bound 1.50 MiB, 1.13 times)
// CHECK:      validated: the files and the imported program agree
// SEPARATE:   HBM traffic 4.10 MiB (lower bound 1.50 MiB, 2.73 times)
// SEPARATE:   validated: the files and the imported program agree
// NUMBERS:    result0: correct
// NUMBERS:    result1: correct
// REPORT:      "kernels": [
// REPORT:          "name": "rms_norm",
// REPORT-NEXT:     "key": "{{[0-9a-f]+}}",
// REPORT:          "fused": [
// REPORT:              "function": "mul",
// REPORT-NEXT:         "location": "{{.+}}rms_norm_fused.mlir:{{[0-9:]+}}",
// REPORT-NEXT:         "side": "prologue",
// REPORT-NEXT:         "mode": "inline",
// REPORT-NEXT:         "loops": [
// REPORT-NEXT:           "rows = 4"
// REPORT-NEXT:         ],
// REPORT-NEXT:         "times": 1,
// REPORT:              "saved_us": {{[0-9.]+}},
// REPORT-NEXT:         "saved_hbm_bytes": {{[0-9]+}}

func.func private @rms_norm(%x: tensor<256x1024xf16> {spyre.dims = ["rows", "columns"]}, %weight: tensor<1024xf16>)
    -> (tensor<256x1024xf16>, tensor<256x1xf16>)
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 64>]} {
  %zero = arith.constant 0.0 : f16
  %count = arith.constant 1024.0 : f16
  %eps = arith.constant 1.0e-03 : f16
  %y, %r = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<256x1024xf16>
    %square = linalg.mul ins(%x, %x : tensor<256x1024xf16>, tensor<256x1024xf16>) outs(%empty : tensor<256x1024xf16>) -> tensor<256x1024xf16>
    %row = tensor.empty() : tensor<256xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%row : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.reduce ins(%square : tensor<256x1024xf16>) outs(%begin : tensor<256xf16>) dimensions = [1]
      (%in: f16, %acc: f16) {
        %added = arith.addf %in, %acc : f16
        linalg.yield %added : f16
      }
    %rms = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<256xf16>) outs(%row : tensor<256xf16>) {
    ^bb0(%in: f16, %out: f16):
      %mean = arith.divf %in, %count : f16
      %shifted = arith.addf %mean, %eps : f16
      %inverse = math.rsqrt %shifted : f16
      linalg.yield %inverse : f16
    } -> tensor<256xf16>
    %scaled = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rms, %weight : tensor<256x1024xf16>, tensor<256xf16>, tensor<1024xf16>) outs(%empty : tensor<256x1024xf16>) {
    ^bb0(%in: f16, %inverse: f16, %w: f16, %out: f16):
      %normal = arith.mulf %in, %inverse : f16
      %weighted = arith.mulf %normal, %w : f16
      linalg.yield %weighted : f16
    } -> tensor<256x1024xf16>
    %column = tensor.expand_shape %rms [[0, 1]] output_shape [256, 1] : tensor<256xf16> into tensor<256x1xf16>
    spyre.yield %scaled, %column : tensor<256x1024xf16>, tensor<256x1xf16>
  }
  return %y, %r : tensor<256x1024xf16>, tensor<256x1xf16>
}

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

func.func @main(%x: tensor<256x1024xf16>, %weight: tensor<1024xf16>, %residual: tensor<256x1024xf16>)
    -> (tensor<256x1024xf16>, tensor<256x1xf16>) {
  %half = arith.constant 0.5 : f16
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<256x1024xf16>
  %scaled = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<256x1024xf16>) outs(%empty : tensor<256x1024xf16>) {
  ^bb0(%in: f16, %out: f16):
    %product = arith.mulf %in, %half : f16
    linalg.yield %product : f16
  } -> tensor<256x1024xf16>
  %y, %r = call @rms_norm(%scaled, %weight) : (tensor<256x1024xf16>, tensor<1024xf16>) -> (tensor<256x1024xf16>, tensor<256x1xf16>)
  %relu = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<256x1024xf16>) outs(%empty : tensor<256x1024xf16>) {
  ^bb0(%in: f16, %out: f16):
    %positive = arith.maximumf %in, %zero : f16
    linalg.yield %positive : f16
  } -> tensor<256x1024xf16>
  %sum = linalg.add ins(%relu, %residual : tensor<256x1024xf16>, tensor<256x1024xf16>) outs(%empty : tensor<256x1024xf16>) -> tensor<256x1024xf16>
  return %sum, %r : tensor<256x1024xf16>, tensor<256x1xf16>
}
