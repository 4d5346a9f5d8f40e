// Values that are rounded and widened stay wide; users of the narrow format keep the rounding. Only the first functions change.
// RUN: spyre-opt --spyre-relax-roundings=precision=strict %s | FileCheck %s
// RUN: spyre-opt --spyre-relax-roundings %s | FileCheck %s --check-prefix=DEVICE

// In a body, through two widenings, one of which has two uses.
// CHECK-LABEL: func.func @in_a_body(
// CHECK-NOT:     arith.truncf
// CHECK:         ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.addf %[[A]], %[[A]] : f32
// CHECK-NEXT:      %[[Q:.*]] = arith.mulf %[[P]], %[[P]] : f32
// CHECK-NEXT:      %[[R:.*]] = arith.addf %[[Q]], %[[P]] : f32
// CHECK-NEXT:      linalg.yield %[[R]] : f32
// DEVICE-LABEL: func.func @in_a_body(
// DEVICE-NOT:     arith.truncf
// DEVICE:         linalg.yield
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @in_a_body(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %empty = tensor.empty() : tensor<64x128xf32>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<64x128xf32>) outs(%empty : tensor<64x128xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.addf %a, %a : f32
    %n = arith.truncf %p : f32 to f16
    %w = arith.extf %n : f16 to f32
    %v = arith.extf %n : f16 to f32
    %q = arith.mulf %w, %w : f32
    %r = arith.addf %q, %v : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  return %z : tensor<64x128xf32>
}

// From one body to another, through a reshape, a kernel and its scope. Unless precision=strict, the program is in 16 bits.
// CHECK-LABEL: func.func @between_ops(
// CHECK-NOT:     f16
// CHECK:         %[[N:.*]] = linalg.generic
// CHECK:         %[[S:.*]] = tensor.collapse_shape %[[N]] {{.*}} : tensor<2x32x128xf32> into tensor<64x128xf32>
// CHECK:         spyre.kernel "k"(%[[IN:.*]] = %[[S]] : tensor<64x128xf32>)
// CHECK:           spyre.hint
// CHECK:             linalg.generic {{.*}} ins(%[[IN]] : tensor<64x128xf32>)
// CHECK-NOT:     f16
// CHECK:         return
// DEVICE-LABEL: func.func @between_ops(
// DEVICE:         arith.truncf
// DEVICE:         arith.extf
// DEVICE:         return
#cube = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @between_ops(%x: tensor<2x32x128xf32>) -> tensor<64x128xf32> {
  %narrow = tensor.empty() : tensor<2x32x128xf16>
  %n = linalg.generic {indexing_maps = [#cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<2x32x128xf32>) outs(%narrow : tensor<2x32x128xf16>) {
  ^bb0(%a: f32, %out: f16):
    %p = arith.mulf %a, %a : f32
    %t = arith.truncf %p : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x32x128xf16>
  %s = tensor.collapse_shape %n [[0, 1], [2]] : tensor<2x32x128xf16> into tensor<64x128xf16>
  %y = spyre.kernel "k"(%in = %s : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 4) {
      %empty = tensor.empty() : tensor<64x128xf32>
      %w = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%in : tensor<64x128xf16>) outs(%empty : tensor<64x128xf32>) {
      ^bb0(%a: f16, %out: f32):
        %e = arith.extf %a : f16 to f32
        %q = arith.addf %e, %e : f32
        linalg.yield %q : f32
      } -> tensor<64x128xf32>
      spyre.yield %w : tensor<64x128xf32>
    }
    spyre.yield %h : tensor<64x128xf32>
  } {input_dims = [["rows", ""]]}
  return %y : tensor<64x128xf32>
}

// Tile by tile, and through loop-carried values.
// CHECK-LABEL: func.func @through_a_loop(
// CHECK-NOT:     arith.truncf
// CHECK:         spyre.loop 4 "rows" tiled({{.*}} : tensor<64x128xf32>) carried({{.*}} : tensor<1x128xf32>)
// CHECK:           spyre.yield {{.*}} : tensor<16x128xf32>, tensor<1x128xf32>
// CHECK-NOT:     arith.extf
// CHECK:         return
func.func @through_a_loop(%x: tensor<64x128xf32>, %s: tensor<1x128xf32>) -> (tensor<64x128xf32>, tensor<1x128xf32>) {
  %n = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xf16>
  %m = arith.truncf %s : tensor<1x128xf32> to tensor<1x128xf16>
  %y:2 = spyre.loop 4 "rows" tiled(%tile = %n[0] : tensor<64x128xf16>) carried(%same = %m : tensor<1x128xf16>) {
    %wide = arith.extf %tile : tensor<16x128xf16> to tensor<16x128xf32>
    %twice = arith.addf %wide, %wide : tensor<16x128xf32>
    %narrow = arith.truncf %twice : tensor<16x128xf32> to tensor<16x128xf16>
    spyre.yield %narrow[0], %same : tensor<16x128xf16>, tensor<1x128xf16>
  } : tensor<64x128xf16>, tensor<1x128xf16>
  %w = arith.extf %y#0 : tensor<64x128xf16> to tensor<64x128xf32>
  %v = arith.extf %y#1 : tensor<1x128xf16> to tensor<1x128xf32>
  return %w, %v : tensor<64x128xf32>, tensor<1x128xf32>
}

// Kept: the program also returns the rounded value.
// CHECK-LABEL: func.func @given_as_it_is(
// CHECK:         arith.truncf
// CHECK:         arith.extf
func.func @given_as_it_is(%x: tensor<64x128xf32>) -> (tensor<64x128xf16>, tensor<64x128xf32>) {
  %n = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xf16>
  %w = arith.extf %n : tensor<64x128xf16> to tensor<64x128xf32>
  return %n, %w : tensor<64x128xf16>, tensor<64x128xf32>
}

// Kept: an op computes in the narrow format.
// CHECK-LABEL: func.func @computed_with(
// CHECK:         arith.truncf
// CHECK:         arith.negf %{{.*}} : tensor<64x128xf16>
// CHECK:         arith.extf
func.func @computed_with(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %n = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xf16>
  %m = arith.negf %n : tensor<64x128xf16>
  %w = arith.extf %m : tensor<64x128xf16> to tensor<64x128xf32>
  return %w : tensor<64x128xf32>
}

// Kept: the value is widened to another format than it had before rounding.
// CHECK-LABEL: func.func @another_format(
// CHECK:         arith.truncf
// CHECK:         arith.extf %{{.*}} : tensor<64x128xf16> to tensor<64x128xf64>
func.func @another_format(%x: tensor<64x128xf32>) -> tensor<64x128xf64> {
  %n = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xf16>
  %w = arith.extf %n : tensor<64x128xf16> to tensor<64x128xf64>
  return %w : tensor<64x128xf64>
}

// Kept: rounding to 8 bits is intentional, and f64 is no format of the device.
// CHECK-LABEL: func.func @other_formats(
// CHECK:         arith.truncf %{{.*}} : tensor<64x128xf32> to tensor<64x128xf8E4M3FN>
// CHECK:         arith.truncf %{{.*}} : tensor<64x128xf64> to tensor<64x128xf32>
func.func @other_formats(%x: tensor<64x128xf32>, %y: tensor<64x128xf64>) -> (tensor<64x128xf32>, tensor<64x128xf64>) {
  %n = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xf8E4M3FN>
  %w = arith.extf %n : tensor<64x128xf8E4M3FN> to tensor<64x128xf32>
  %m = arith.truncf %y : tensor<64x128xf64> to tensor<64x128xf32>
  %v = arith.extf %m : tensor<64x128xf32> to tensor<64x128xf64>
  return %w, %v : tensor<64x128xf32>, tensor<64x128xf64>
}

// A rounding without a widening use is unchanged.
// CHECK-LABEL: func.func @not_widened(
// CHECK:         arith.truncf
func.func @not_widened(%x: tensor<64x128xf32>) -> tensor<64x128xf16> {
  %n = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xf16>
  return %n : tensor<64x128xf16>
}
