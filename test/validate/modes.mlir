// Files are validated by default, on request, or not.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --report %t/report.json | FileCheck %s
// RUN: spyre-compile - -o %t/out < %s | FileCheck %s
// RUN: spyre-compile %s -o %t/out --validate | FileCheck %s
// RUN: spyre-compile %s -o %t/out --validate=on | FileCheck %s
// RUN: spyre-compile %s -o %t/out --validate=off | FileCheck %s --check-prefix=OFF
// RUN: not spyre-compile %s -o %t/out --validate=sometimes 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json

// CHECK:      validated: the files and the imported program agree in 3 draws
// CHECK-NEXT: validated: the files and the program as written (MLIR's JIT) agree in f64 for random inputs
// CHECK-NEXT: files written
// OFF-NOT:    validated
// OFF:        files written
// WRONG:      error{{.*}}invalid value 'sometimes' for '--validate[=<WHEN>]'
// WRONG:      possible values: auto, on, off
// REPORT:     "as_written": {
// REPORT-NEXT:  "agrees": {
// REPORT-NEXT:    "elements": 128,
// REPORT-NEXT:    "of": 128,
func.func @twice(%x: tensor<2x64xf16>) -> tensor<2x64xf16> {
  %empty = tensor.empty() : tensor<2x64xf16>
  %y = linalg.add ins(%x, %x : tensor<2x64xf16>, tensor<2x64xf16>) outs(%empty : tensor<2x64xf16>) -> tensor<2x64xf16>
  return %y : tensor<2x64xf16>
}
