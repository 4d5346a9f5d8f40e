// RUN: spyre-opt --spyre-form-bundles=addresses=baked --split-input-file %s | FileCheck %s
// RUN: spyre-opt --spyre-form-bundles --split-input-file %s | FileCheck %s --check-prefix=SYMBOLIC

// The sum is in LX, and LX does not outlast a launch. Three segments end the launch behind the sum, so it moves to HBM.
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
module attributes {spyre.target = {segments = 3 : i64}} {
  // CHECK-LABEL: func @moves
  // CHECK: spyre.pointwise add({{.*}}place = #spyre.place<hbm, "launches share it">, spyre.bundle = 0
  // CHECK: spyre.pointwise mul({{.*}}spyre.bundle = 1
  // SYMBOLIC-LABEL: func @moves
  // SYMBOLIC: spyre.pointwise add({{.*}}place = #spyre.place<lx, 0>, spyre.bundle = 0
  // SYMBOLIC: spyre.pointwise mul({{.*}}spyre.bundle = 0
  func.func @moves(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>, %z: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
    %a = spyre.pointwise add(%x, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<lx, 0>} : tensor<64x64xf16, #layout>
    %b = spyre.pointwise mul(%a, %z) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    return %b : tensor<64x64xf16, #layout>
  }
}

// -----

// Behind the first op nothing is alive in LX: the launch ends there, and all stays in LX.
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
module attributes {spyre.target = {segments = 4 : i64}} {
  // CHECK-LABEL: func @stays
  // CHECK: spyre.pointwise exp({{.*}}spyre.bundle = 0
  // CHECK: spyre.pointwise abs({{.*}}place = #spyre.place<lx, 0>, spyre.bundle = 1
  // CHECK: spyre.pointwise mul({{.*}}spyre.bundle = 1
  func.func @stays(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>, %z: tensor<64x64xf16, #layout>) -> (tensor<64x64xf16, #layout>, tensor<64x64xf16, #layout>) {
    %a = spyre.pointwise exp(%x) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %b = spyre.pointwise abs(%y) {work = #spyre.work<[1, 1]>, place = #spyre.place<lx, 0>} : tensor<64x64xf16, #layout>
    %c = spyre.pointwise mul(%b, %z) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    return %a, %c : tensor<64x64xf16, #layout>, tensor<64x64xf16, #layout>
  }
}
