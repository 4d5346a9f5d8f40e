// Files say from which source operation an op is, which passes derived it, and what was fused.
// RUN: spyre-compile %s -o %t -q && FileCheck %s --input-file=%t/bundle_0/sdsc_0.json --check-prefix=SUM
// RUN: FileCheck %s --input-file=%t/bundle_0/sdsc_3.json --check-prefix=EXP
// RUN: spyre-translate --bundle-to-mlir %t -o %t.mlir && FileCheck %s --input-file=%t.mlir --check-prefix=READ
// RUN: spyre-translate --mlir-to-bundle %t.mlir -o %t.again && diff -r %t/bundle_0 %t.again/bundle_0
// RUN: spyre-compile %s -o %t.release --bundle-format=1.0 -q && spyre-translate --check-bundle --format=1.0 %t.release

// With shared files, the handles of later ops are in the program.
// RUN: spyre-compile %s -o %t.shared --bundle-format=torch-spyre-2026-09 --tile-search none --cores 1 -q
// RUN: spyre-translate --check-bundle --format=torch-spyre-2026-09 %t.shared
// RUN: spyre-translate --bundle-to-mlir %t.shared -o %t.shared.mlir && spyre-translate --mlir-to-bundle --format=torch-spyre-2026-09 %t.shared.mlir -o %t.shared.again
// RUN: rm -f %t.shared/exact.json && diff -r %t.shared %t.shared.again

// IR without derived locations has no handles.
// RUN: spyre-translate --opspec-to-mlir %S/../golden/exp_symbolic/case.json -o %t.spec.mlir && spyre-translate --mlir-to-bundle %t.spec.mlir -o %t.spec && FileCheck %s --input-file=%t.spec/sdsc_0.json --check-prefix=NONE
// NONE: "debug_handle_": null

// The sum and its operand became one op: the body's locations are those of the model.
// SUM:      "debug_handle_": {
// SUM-NEXT:   "id": "{{[0-9]+}}",
// SUM-NEXT:   "source": {
// SUM-NEXT:     "file": "model.py",
// SUM-NEXT:     "start_line": 7,
// SUM-NEXT:     "start_col": 3,
// SUM-NEXT:     "end_line": 7,
// SUM-NEXT:     "end_col": 3
// SUM-NEXT:   },
// SUM-NEXT:   "aten_op": null,
// SUM-NEXT:   "ir_chain": [
// SUM-NEXT:     "arith.addf",
// SUM-NEXT:     "spyre.pointwise",
// SUM-NEXT:     "add"
// SUM-NEXT:   ],
// SUM-NEXT:   "fused_from": [],
// SUM-NEXT:   "transform_history": [
// SUM-NEXT:     {
// SUM-NEXT:       "kind": "decomposition",
// SUM-NEXT:       "pass_name": "spyre-import-linalg",
// SUM-NEXT:       "reason": null
// SUM-NEXT:     },
// SUM-NEXT:     {
// SUM-NEXT:       "kind": "rewrite",
// SUM-NEXT:       "pass_name": "spyre-lower-to-sdsc",

// EXP:      "debug_handle_": {
// EXP:        "file": "model.py",
// EXP-NEXT:   "start_line": 9,
// EXP:        "linalg.softmax",

// READ: sdsc.op "add" {{.*}}sdsc.debug_handle = {fused_from = [], id = "{{[0-9]+}}", ir_chain = ["arith.addf", "spyre.pointwise", "add"], source = {end_col = 3 : i64, end_line = 7 : i64, file = "model.py", start_col = 3 : i64, start_line = 7 : i64}
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<64x128xf16>, %y: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %e = tensor.empty() : tensor<64x128xf16>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x128xf16>, tensor<64x128xf16>) outs(%e : tensor<64x128xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %sum = arith.addf %a, %b : f16 loc("layers.0"("model.py":7:3))
    linalg.yield %sum : f16
  } -> tensor<64x128xf16> loc("model.py":7:1)
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<64x128xf16>) outs(%e : tensor<64x128xf16>) -> tensor<64x128xf16> loc(callsite("model.py":9:1 at "model.py":20:1))
  %2 = linalg.exp ins(%1 : tensor<64x128xf16>) outs(%e : tensor<64x128xf16>) -> tensor<64x128xf16>
  %3 = linalg.exp ins(%2 : tensor<64x128xf16>) outs(%e : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %3 : tensor<64x128xf16>
}
