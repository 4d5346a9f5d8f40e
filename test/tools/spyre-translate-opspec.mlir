// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-translate --opspec-to-mlir %t/neg.json | FileCheck %s
// RUN: spyre-translate --opspec-to-mlir %t/neg.json | spyre-translate --mlir-to-bundle - -o %t/out
// RUN: spyre-translate --check-bundle %t/out
// RUN: not spyre-translate --opspec-to-mlir %t/size.json -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not spyre-translate --opspec-to-mlir %t/dim.json -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not spyre-translate --opspec-to-mlir %t/member.json -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=MEMBER
// RUN: not ls %t/none.mlir

// CHECK: sdsc.bundle @bundle_0() {
// CHECK-NEXT: sdsc.op "neg" dims [#c0, #c1] ins [#hbm] outs [#hbm1]
// SIZE: error{{.*}}'{{.*}}size.json': program[0].args[0].device_size[1]: invalid type: string "8"
// DIM: error{{.*}}'{{.*}}dim.json': program[0].args[0].device_coordinates[0]: 'c9 floordiv 64', character 1: 'c9' is no iteration dimension
// MEMBER: error{{.*}}'{{.*}}member.json': program[0].oops: unknown field `oops`

//--- neg.json
{"program": [
  {"op": "neg", "is_reduction": false,
   "iteration_space": [{"name": "c0", "range": 8, "split": 2}, {"name": "c1", "range": 64, "split": 1}],
   "args": [
    {"is_input": true, "arg_index": 0, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [1, 8, 64],
     "device_coordinates": ["c1 floordiv 64", "c0", "c1 mod 64"]},
    {"is_input": false, "arg_index": 1, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [1, 8, 64],
     "device_coordinates": ["c1 floordiv 64", "c0", "c1 mod 64"]}]}
]}
//--- size.json
{"program": [
  {"op": "neg", "is_reduction": false, "iteration_space": [],
   "args": [{"is_input": true, "arg_index": 0, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [1, "8"],
             "device_coordinates": []}]}
]}
//--- dim.json
{"program": [
  {"op": "neg", "is_reduction": false, "iteration_space": [{"name": "c0", "range": 64, "split": 1}],
   "args": [{"is_input": true, "arg_index": 0, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [1, 64],
             "device_coordinates": ["c9 floordiv 64", "c0 mod 64"]}]}
]}
//--- member.json
{"program": [{"op": "neg", "oops": 1}]}
