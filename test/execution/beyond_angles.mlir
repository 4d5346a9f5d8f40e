// Frequencies that are an argument: positions times frequencies beyond 1024 have no cosine, and the check says so.
// RUN: spyre-compile %s -o %t --validate > %t.log
// RUN: not spyre-run %t --check %s 2>&1 | FileCheck %s

// CHECK: error{{.*}}'result0' differs from the reference: element {{.*}} is NaN without rounding
// CHECK-SAME: functions that the device lacks are NaN outside of their ranges (docs/reference/functions.md); --input NAME=FILE.npy gives arguments that stay within

func.func @main(%x: tensor<16x64xf16>, %pos: tensor<16xi64>, %freq: tensor<64xf16>) -> tensor<16x64xf16> {
  %e = tensor.empty() : tensor<16x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %pos, %freq : tensor<16x64xf16>, tensor<16xi64>, tensor<64xf16>) outs(%e : tensor<16x64xf16>) {
  ^bb0(%a: f16, %p: i64, %f: f16, %o: f16):
    %pf = arith.sitofp %p : i64 to f16
    %t = arith.mulf %pf, %f : f16
    %c = math.cos %t : f16
    %y = arith.mulf %a, %c : f16
    linalg.yield %y : f16
  } -> tensor<16x64xf16>
  return %r : tensor<16x64xf16>
}
