// RUN: rm -rf %t && spyre-opt --spyre-compile --spyre-emit-bundle=output=%t %s
// RUN: FileCheck %s --check-prefix=PROGRAM --input-file=%t/program.json
// RUN: FileCheck %s --check-prefix=BUNDLE --input-file=%t/bundle_0/bundle.mlir
// RUN: FileCheck %s --check-prefix=SDSC --input-file=%t/bundle_0/sdsc_0.json
// RUN: spyre-opt --verify-roundtrip %t/bundle_0/bundle.mlir

// PROGRAM: "name": "exp"
// PROGRAM: "name": "arg0"
// PROGRAM: "element_type": "f16"
// PROGRAM: "format": "SEN169_FP16"
// PROGRAM: "bytes": 8192
// PROGRAM: "name": "result0"
// PROGRAM: "bundle": "bundle_0"
// PROGRAM-NEXT: "arguments": [
// PROGRAM-NEXT: "arg0",
// PROGRAM-NEXT: "result0"

// BUNDLE: func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>) {
// BUNDLE: sdscbundle.sdsc_execute ({{.*}}) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2,

// SDSC: "0_exp"
// SDSC: "opFuncName": "exp"
func.func @exp(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
