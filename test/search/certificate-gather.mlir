// Ops without a time model, such as a gather, have time 0 in a certificate; all other ops have a positive time.
// RUN: spyre-compile %s -q -o %t.dir --certificate %t.json
// RUN: FileCheck %s < %t.json
// CHECK: "bound_us":{{[1-9]}}
// CHECK-SAME: "ops":[{"priced":null,
// CHECK-SAME: {"priced":{"kind":"pointwise",
// CHECK-NOT: "priced"
func.func @looked_up(%table: tensor<1024x256xf16>, %i: tensor<512xi32>, %x: tensor<512x256xf16>) -> tensor<512x256xf16> {
  %g = spyre.gather(%table, %i) dim 0 : (tensor<1024x256xf16>, tensor<512xi32>) -> tensor<512x256xf16>
  %y = spyre.pointwise add(%g, %x) : (tensor<512x256xf16>, tensor<512x256xf16>) -> tensor<512x256xf16>
  return %y : tensor<512x256xf16>
}
