// Elements without value: the range of a function leaves elements their values; results that are all 0 / 0 are not validated.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/cosine.mlir --validate -o %t/cosine | FileCheck %t/cosine.mlir --implicit-check-not="have no value"
// RUN: not spyre-compile %t/quotient.mlir --validate -o %t/quotient 2>&1 | FileCheck %t/quotient.mlir
// RUN: not ls %t/quotient

//--- cosine.mlir
// CHECK: validated: the files and the imported program agree in 3 draws
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

//--- quotient.mlir
// CHECK: error{{.*}}cannot be validated: no result element has a value in any draw; all are quotients such as 0 / 0
func.func @main(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %zero = spyre.pointwise sub(%x, %x) : tensor<64x64xf16>
  %none = spyre.pointwise realdiv(%zero, %zero) : tensor<64x64xf16>
  return %none : tensor<64x64xf16>
}
