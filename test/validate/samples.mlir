// Of a program that is too large to be executed, samples are: elements of each result with all that they depend on.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/out --report %t/report.json | FileCheck %s
// RUN: ls %t/out | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json

// CHECK: validated by samples: the files and the imported program agree on 4096 of 16777216 result elements and everything that they
// CHECK-SAME: depend on (16781312 of 68736253952 element operations), in 3 draws of random elements of a finite field; faults that do not
// CHECK-SAME: affect a sampled element are not found; a difference in them is hidden with probability 2^-{{[0-9]+}} at most
// CHECK-NEXT: not compared with the program as written: it has 'spyre.matmul', which MLIR's JIT does not run
// CHECK-NEXT: files written
// FILES: program.json
// REPORT: "sampled": {
// REPORT-NEXT: "elements": 4096,
// REPORT-NEXT: "of": 16777216,
// REPORT-NEXT: "element_operations": 16781312
func.func @linear(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %c = spyre.matmul(%a, %b) : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %d = spyre.pointwise relufwd(%c) : tensor<4096x4096xf16>
  return %d : tensor<4096x4096xf16>
}
