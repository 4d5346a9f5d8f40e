// Comparisons that hold, or do not, where a number is NaN: `ueq` and those with `u` hold, `one` and those with `o` do not.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s --validate -o %t > %t.log

// CHECK-COUNT-8: correct
#map = affine_map<(d0) -> (d0)>
func.func @comparisons_of_nan(%x: tensor<256xf16>, %y: tensor<256xf16>)
    -> (tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>) {
  // The logarithm of a negative number is NaN.
  %a = math.log %x : tensor<256xf16>
  %e = tensor.empty() : tensor<256xf16>
  %r:8 = linalg.generic {indexing_maps = [#map, #map, #map, #map, #map, #map, #map, #map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %y : tensor<256xf16>, tensor<256xf16>)
      outs(%e, %e, %e, %e, %e, %e, %e, %e : tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>,
           tensor<256xf16>, tensor<256xf16>) {
  ^bb0(%p: f16, %q: f16, %o0: f16, %o1: f16, %o2: f16, %o3: f16, %o4: f16, %o5: f16, %o6: f16, %o7: f16):
    %one = arith.constant 1.0 : f16
    %two = arith.constant 2.0 : f16
    %c0 = arith.cmpf ueq, %p, %q : f16
    %s0 = arith.select %c0, %one, %two : f16
    %c1 = arith.cmpf one, %p, %q : f16
    %s1 = arith.select %c1, %one, %two : f16
    %c2 = arith.cmpf ugt, %p, %q : f16
    %s2 = arith.select %c2, %one, %two : f16
    %c3 = arith.cmpf uge, %p, %q : f16
    %s3 = arith.select %c3, %one, %two : f16
    %c4 = arith.cmpf ult, %p, %q : f16
    %s4 = arith.select %c4, %one, %two : f16
    %c5 = arith.cmpf ule, %p, %q : f16
    %s5 = arith.select %c5, %one, %two : f16
    %c6 = arith.cmpf une, %p, %p : f16
    %s6 = arith.select %c6, %one, %two : f16
    %c7 = arith.cmpf ueq, %p, %p : f16
    %s7 = arith.select %c7, %p, %q : f16
    linalg.yield %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7 : f16, f16, f16, f16, f16, f16, f16, f16
  } -> (tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7
    : tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>
}
