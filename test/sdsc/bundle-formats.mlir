// The forms of the files: release 1.0.0, whose files keep its rules and compute the same, and torch-spyre of September 2026, in which equal ops
// share a file.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/program.mlir -o %t/release --bundle-format=1.0 --validate=on > %t.log
// RUN: spyre-translate --check-bundle --format=1.0 %t/release && spyre-run %t/release --check %t/program.mlir | FileCheck %s --check-prefix=RESULT
// RUN: not grep location %t/release/bundle_0/sdsc_0.json
// RUN: spyre-translate --bundle-to-mlir %t/release | spyre-translate --mlir-to-bundle --format=1.0 - -o %t/again && diff -r %t/release %t/again
// RUN: spyre-compile %t/program.mlir -o %t/usual -q
// RUN: not spyre-translate --check-bundle --format=1.0 %t/usual 2>&1 | FileCheck %s --check-prefix=LOCATION
// RUN: spyre-compile %t/program.mlir -o %t/shared --bundle-format=torch-spyre-2026-09 --tile-search none -q
// RUN: spyre-translate --check-bundle --format=torch-spyre-2026-09 %t/shared && spyre-run %t/shared --check %t/program.mlir | FileCheck %s --check-prefix=RESULT
// RUN: not spyre-compile %t/product.mlir -o %t/out --bundle-format=1.0 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: spyre-translate --opspec-to-mlir %t/split.json -o %t/split.mlir && not spyre-translate --mlir-to-bundle --format=1.0 %t/split.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not ls %t/out

// RESULT: result0: correct
// LOCATION: computeOp_/0/location: sdsc_r2: the member is there; profile '1.0' has no such member
// REFUSED: error[SPY09{{[0-9]+}}]: {{.*}}has no form in format '1.0': 'prod{{.*}}' is no function of release 1.0.0; choose another with '--bundle-format'
// SPLIT: error{{.*}}splits the symbolic size 's0' over cores, for which format '1.0' requires starts that depend on the size; split another dimension, or give one size

//--- split.json
{"name": "split", "family": "symbolic", "description": "", "origin": "", "pool_bytes": 0,
 "args": [{"index": 0, "dtype": "SEN169_FP16", "device_size": [2, 64, 64]}, {"index": 1, "dtype": "SEN169_FP16", "device_size": [2, 64, 64]}],
 "program": [{"op": "exp", "is_reduction": false,
   "iteration_space": [{"name": "c0", "range": 64, "split": 4, "symbolic": {"symbol": "s0", "max": 64, "granularity": 32}}, {"name": "c1", "range": 128, "split": 1}],
   "args": [{"is_input": true, "arg_index": 0, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [2, 64, 64], "device_coordinates": ["c1 floordiv 64", "c0", "c1 mod 64"]},
            {"is_input": false, "arg_index": 1, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [2, 64, 64], "device_coordinates": ["c1 floordiv 64", "c0", "c1 mod 64"]}]}]}

//--- program.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<31x100xf16>, %y: tensor<31x100xf16>) -> tensor<31x100xf16> {
  %e = tensor.empty() : tensor<31x100xf16>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<31x100xf16>, tensor<31x100xf16>) outs(%e : tensor<31x100xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %is_larger = arith.cmpf ogt, %a, %b : f16
    %chosen = arith.select %is_larger, %b, %a : f16
    %exp = math.exp %chosen : f16
    %again = math.exp %exp : f16
    linalg.yield %again : f16
  } -> tensor<31x100xf16>
  return %0 : tensor<31x100xf16>
}

//--- product.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<64x128xf16>) -> tensor<64xf16> {
  %one = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<64xf16>
  %ones = linalg.fill ins(%one : f16) outs(%e : tensor<64xf16>) -> tensor<64xf16>
  %0 = linalg.reduce ins(%x : tensor<64x128xf16>) outs(%ones : tensor<64xf16>) dimensions = [1] (%in: f16, %so_far: f16) {
    %next = arith.mulf %in, %so_far : f16
    linalg.yield %next : f16
  }
  return %0 : tensor<64xf16>
}
