// Default effort of validation: the complete program, samples, or nothing; and the reason if the program as written is not compared.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/samples.mlir -o %t/out | FileCheck %t/samples.mlir
// RUN: spyre-compile %t/large.mlir --cores 4 -o '%t/a b' --report %t/report.json | FileCheck %t/large.mlir
// RUN: FileCheck %t/large.mlir --check-prefix=REPORT < %t/report.json
// RUN: ls %t/out/program.json '%t/a b/program.json'
// RUN: spyre-compile %t/ours.mlir -o %t/out | FileCheck %t/ours.mlir

//--- samples.mlir
// CHECK:      validated by samples: the files and the imported program agree on {{[0-9]+}} of 4194304 result elements
// CHECK-NEXT: not compared with the program as written: 17184063488 operations on arguments of {{[0-9]+}} elements exceed the default limit; '--validate' has a higher limit
func.func @linear(%a: tensor<2048x4096xf16>, %b: tensor<4096x2048xf16>, %e: tensor<2048x2048xf16>) -> tensor<2048x2048xf16> {
  %c = linalg.matmul ins(%a, %b : tensor<2048x4096xf16>, tensor<4096x2048xf16>) outs(%e : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  return %c : tensor<2048x2048xf16>
}

//--- large.mlir
// Each result element depends on a complete matmul.
// CHECK:      not validated: {{[0-9]+}} element operations; to validate: spyre-compile {{.*}}large.mlir --cores 4 -o '{{.*}}/a b' --report {{.*}}/report.json --validate
// CHECK-NEXT: files written
// REPORT:      "not_validated": {
// REPORT-NEXT:   "element_operations": {{[0-9]+}},
// REPORT-NEXT:   "is_too_large": true,
// REPORT-NEXT:   "reason": "cannot be validated: it takes
func.func @product(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<1x1xf16> {
  %c = spyre.matmul(%a, %b) : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %d = spyre.reduce sum(%c) dims [0, 1] : tensor<4096x4096xf16> -> tensor<1x1xf16>
  return %d : tensor<1x1xf16>
}

//--- ours.mlir
// CHECK:      validated: the files and the imported program agree
// CHECK-NEXT: not compared with the program as written: it has 'spyre.pointwise', which MLIR's JIT does not run
func.func @twice(%x: tensor<2x64xf16>) -> tensor<2x64xf16> {
  %y = spyre.pointwise add(%x, %x) : tensor<2x64xf16>
  return %y : tensor<2x64xf16>
}
