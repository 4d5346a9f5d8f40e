// RUN: rm -rf %t && spyre-compile %s -o %t > %t.log && spyre-translate --check-bundle %t | count 0

// Every violation is printed, with its rule, its file and its place.
// RUN: sed -i 's/"numCoresUsed_": 32/"numCoresUsed_": 33/' %t/bundle_0/sdsc_0.json
// RUN: sed -i 's/symbol_ids"=\[-1, /symbol_ids"=[-3, /' %t/bundle_0/bundle.mlir
// RUN: not spyre-translate --check-bundle %t 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=COUNT --input-file=%t.err
// RUN: not spyre-translate --check-bundle %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not spyre-translate --check-bundle %t -o %t.out 2>&1 | FileCheck %s --check-prefix=OUTPUT

// CHECK-DAG: bundle_0/bundle.mlir:{{[0-9]+}}:{{[0-9]+}}: sdsc_r{{[0-9]+}}:
// CHECK-DAG: bundle_0/sdsc_0.json:/{{.*}}/numCoresUsed_: sdsc_r{{[0-9]+}}:
// COUNT: spyre-translate: error{{.*}}'{{.*}}' breaks rules of the format in {{[0-9]+}} places; see docs/reference/bundle-format.md
// MISSING: spyre-translate: error{{.*}}: {{.*}}.missing: neither 'bundle.mlir' nor 'program.json'
// OUTPUT: error{{.*}}the argument '--check-bundle' cannot be used with '-o <OUTPUT>'
func.func @exp(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %y = linalg.exp ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
