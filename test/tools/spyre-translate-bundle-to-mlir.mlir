// RUN: rm -rf %t && mkdir %t && spyre-compile %s --dims 0=A:B --tiles A=2 -o %t/out > %t.log
// RUN: spyre-translate --bundle-to-mlir %t/out | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/out/bundle_0 -o %t/bundle.mlir && FileCheck %s --check-prefix=BUNDLE --input-file=%t/bundle.mlir

// Written again, the IR gives the files that it was read from.
// RUN: spyre-translate --bundle-to-mlir %t/out | spyre-translate --mlir-to-bundle - -o %t/again && diff -r %t/out %t/again
// RUN: rm %t/out/bundle_0/launch_spec.json && spyre-translate --mlir-to-bundle %t/bundle.mlir -o %t/bare && diff -r %t/out/bundle_0 %t/bare

// RUN: not spyre-translate --bundle-to-mlir %t/nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: sed -i 's/"SEN169_FP16"/"SEN170"/' %t/again/bundle_0/sdsc_1.json
// RUN: not spyre-translate --bundle-to-mlir %t/again 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: sed -i 's/arith.constant 2 :/arith.constant two :/' %t/bare/bundle.mlir
// RUN: not spyre-translate --bundle-to-mlir %t/bare 2>&1 | FileCheck %s --check-prefix=TEXT

// CHECK: sdsc.program @add_mul {
// CHECK-NEXT: sdsc.buffer @arg0 input 0 : tensor<64x512xf16, #layout>
// CHECK: sdsc.buffer @result0 output 0 : tensor<64x512xf16, #layout>
// CHECK-NEXT: sdsc.bundle @bundle_0(@arg0, @arg1, @arg2, @result0){{.*}} {
// CHECK-NEXT: sdsc.loop 2 {
// CHECK-NEXT: sdsc.op "add" dims
// CHECK-NEXT: sdsc.op "mul" dims

// BUNDLE-NOT: sdsc.program
// BUNDLE: sdsc.bundle @bundle_0() {

// NOTHING: spyre-translate: error{{.*}}cannot read '{{.*}}nothing/bundle.mlir'
// FORMAT: spyre-translate: error{{.*}}: {{.*}}sdsc_1.json: {{.*}}SEN170
// TEXT: spyre-translate: error{{.*}}: {{.*}}bare: bundle.mlir: {{[0-9]+}}:{{[0-9]+}}: {{.*}}two
func.func @add_mul(%a: tensor<64x512xf16>, %b: tensor<64x512xf16>, %c: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %empty = tensor.empty() : tensor<64x512xf16>
  %sum = linalg.add ins(%a, %b : tensor<64x512xf16>, tensor<64x512xf16>) outs(%empty : tensor<64x512xf16>) -> tensor<64x512xf16>
  %product = linalg.mul ins(%sum, %c : tensor<64x512xf16>, tensor<64x512xf16>) outs(%empty : tensor<64x512xf16>) -> tensor<64x512xf16>
  return %product : tensor<64x512xf16>
}
