// An operand that is read from in front of its first position: no core begins where the argument does, and its address is still declared.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-translate --opspec-to-mlir %t/spec.json -o %t/spec.mlir && spyre-opt --spyre-lower-to-sdscbundle %t/spec.mlir | FileCheck %s

// CHECK: func.func @sdsc_bundle
// CHECK: sdscbundle.sdsc_execute

//--- spec.json
{"program": [
  {"op": "neg", "is_reduction": false,
   "iteration_space": [{"name": "c0", "range": 64, "split": 2}, {"name": "c1", "range": 1, "split": 1}],
   "args": [
    {"is_input": true, "arg_index": 0, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [65, 127, 64],
     "device_coordinates": ["c1 - 1", "c0", "c1 mod 64"]},
    {"is_input": false, "arg_index": 1, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16", "device_size": [1, 127, 64],
     "device_coordinates": ["c0 floordiv 64", "c0", "c1 mod 64"]}]}
]}
