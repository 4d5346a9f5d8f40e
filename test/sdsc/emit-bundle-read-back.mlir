// Files with absolute addresses are read back, with a pool and without, and written again to the same bytes.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/baked --addresses baked --lx-planner none > %t/log
// RUN: FileCheck %s --check-prefix=POOL --input-file=%t/baked/program.json
// RUN: spyre-translate --check-bundle %t/baked | count 0
// RUN: spyre-translate --bundle-to-mlir %t/baked | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/baked | spyre-translate --mlir-to-bundle - -o %t/again && diff -r %t/baked %t/again
// RUN: spyre-compile %s -o %t/one --addresses baked --cores 1 > %t/log
// RUN: spyre-translate --bundle-to-mlir %t/one | spyre-translate --mlir-to-bundle - -o %t/one_again && diff -r %t/one %t/one_again
// RUN: spyre-compile %s -o %t/symbolic > %t/log
// RUN: spyre-translate --bundle-to-mlir %t/symbolic | spyre-translate --mlir-to-bundle - -o %t/written && diff -r %t/symbolic %t/written

// The check emits the file again, which finds errors that no other rule finds: an unused constant is valid, but never emitted.
// RUN: sed 's/%arg_0_core_offset_384 = .*/&\n%unused = arith.constant 384 : index/' %t/written/bundle_0/bundle.mlir > %t/symbolic/bundle_0/bundle.mlir
// RUN: not spyre-translate --check-bundle %t/symbolic | FileCheck %s --check-prefix=NET

// CHECK: sdsc.bundle @bundle_0
// CHECK-SAME: attributes {sdsc.addresses = "baked"{{.*}}}
// POOL: "pool_bytes"
// NET: bundle_0/bundle.mlir: sdsc_r98: {{.*}}'%unused' is not a name that spyre-compile writes
func.func @views(%x: tensor<128x96xf16>, %y: tensor<96x128xf16>) -> (tensor<96x128xf16>, tensor<96x64xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<128x96xf16>
  %turned = spyre.view %exp by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x96xf16> -> tensor<96x128xf16>
  %difference = spyre.pointwise sub(%turned, %y) : tensor<96x128xf16>
  %columns = spyre.view %difference by affine_map<(d0, d1) -> (d0, d1 + 64)> : tensor<96x128xf16> -> tensor<96x64xf16>
  %narrow = spyre.pointwise neg(%columns) : tensor<96x64xf16>
  return %difference, %narrow : tensor<96x128xf16>, tensor<96x64xf16>
}
