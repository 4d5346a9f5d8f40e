// Results without elements: the caller gets arrays without any, beside others, and alone.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/some.mlir -o %t/some --validate > %t.log && spyre-run %t/some --check %t/parts/some.mlir --output-dir %t/saved | FileCheck %s
// RUN: FileCheck %s --check-prefix=SHAPE --input-file=%t/some/program.json
// RUN: spyre-compile %t/parts/all.mlir -o %t/all --validate > %t.log && spyre-run %t/all --check %t/parts/all.mlir | FileCheck %s --check-prefix=ALL

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// SHAPE: "results": [
// SHAPE: "shape": [
// SHAPE-NEXT: 0,
// SHAPE-NEXT: 64
// ALL: result0: correct

//--- some.mlir
func.func @f(%x: tensor<4x64xf16>, %past: tensor<2x0x8xf16>) -> (tensor<0x64xf16>, tensor<4x64xf16>, tensor<2x0x8xf16>, tensor<0xi64>) {
  %none = tensor.extract_slice %x[0, 0] [0, 64] [1, 1] : tensor<4x64xf16> to tensor<0x64xf16>
  %y = arith.addf %x, %x : tensor<4x64xf16>
  %i = arith.constant dense<> : tensor<0xi64>
  return %none, %y, %past, %i : tensor<0x64xf16>, tensor<4x64xf16>, tensor<2x0x8xf16>, tensor<0xi64>
}

//--- all.mlir
func.func @f(%x: tensor<4x64xf16>) -> tensor<4x0xf16> {
  %none = tensor.extract_slice %x[0, 3] [4, 0] [1, 1] : tensor<4x64xf16> to tensor<4x0xf16>
  return %none : tensor<4x0xf16>
}
