// RUN: rm -rf %t && not spyre-compile %s --dims 0=A:B --tiles A=2,B=4 -o %t/out --report %t.json 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: mkdir -p %t && spyre-compile %s --validate=auto --dims 0=A:B --tiles A=2,B=4 -o %t/out --report %t.json | FileCheck %s --check-prefix=SUMMARY
// RUN: FileCheck %s --check-prefix=BUNDLE --input-file=%t/out/bundle_0/bundle.mlir
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: spyre-compile %s --compile-to import | FileCheck %s --check-prefix=IMPORT
// RUN: cat %s | spyre-compile - --compile-to layout -o %t.layout.mlir && FileCheck %s --check-prefix=LAYOUT --input-file=%t.layout.mlir

// The folder above the directory must be there.
// WRITTEN: error{{.*}}: {{.*}}cannot write

// SUMMARY: add_mul: 2 ops in 1 launch
// SUMMARY-NEXT: bundle_0: 2 ops, 16 executes; HBM 24.00 MiB read, 8.00 MiB written; LX 16.00 MiB moved, peak 32768 of 1625344 B per core
// SUMMARY-NEXT: loop of 2 over 'A': 2 ops; an iteration: HBM 12.00 MiB read, 4.00 MiB written; LX 8.00 MiB moved
// SUMMARY-NEXT:   loop of 4 over 'B': 2 ops; an iteration: HBM 3.00 MiB read, 1.00 MiB written; LX 2.00 MiB moved
// SUMMARY-NEXT: HBM traffic 32.00 MiB (lower bound 32.00 MiB)
// SUMMARY-NEXT: modeled time: {{[0-9.]+}} us ({{[0-9.]+}}-{{[0-9.]+}} us), {{[0-9.]+}}x the lower bound of {{[0-9.]+}} us (HBM-bound)
// SUMMARY-NEXT: largest contribution to the gap: op 1 'mul', {{[0-9.]+}} us (moves 16777216 bytes of HBM)
// SUMMARY-NEXT: validated by samples: the files and the imported program agree on 4096 of 4194304 result elements
// SUMMARY-NEXT: not compared with the program as written: 8388608 operations on arguments of 12582912 elements exceed the default limit
// SUMMARY-NEXT: 5 files written to

// 512 rows are 65536 bytes further on, 1024 columns 16 sticks of 1024 rows.
// BUNDLE: affine_map<(d0, d1)[s0] -> (s0 + 65536*d0 + 2097152*d1)>
// BUNDLE: %loop_bound_0 = arith.constant 2 : index
// BUNDLE: %loop_bound_1 = arith.constant 4 : index
// BUNDLE: scf.for
// BUNDLE-NEXT: scf.for
// BUNDLE-COUNT-2: sdscbundle.sdsc_execute
// BUNDLE-NOT: sdscbundle.sdsc_execute

// REPORT: "function": "add"
// REPORT: "memory": "lx"
// REPORT: "function": "mul"
// REPORT: "reason": "its address would advance with a loop"
// REPORT: "lower_bound"

// IMPORT: spyre.pointwise add(
// IMPORT-NOT: #spyre.layout
// LAYOUT: #spyre.layout<[64, 1024, 64], [64, 4096, 1]>
func.func @add_mul(%a: tensor<1024x4096xf16>, %b: tensor<1024x4096xf16>, %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %empty = tensor.empty() : tensor<1024x4096xf16>
  %sum = linalg.add ins(%a, %b : tensor<1024x4096xf16>, tensor<1024x4096xf16>) outs(%empty : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %product = linalg.mul ins(%sum, %c : tensor<1024x4096xf16>, tensor<1024x4096xf16>) outs(%empty : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %product : tensor<1024x4096xf16>
}
