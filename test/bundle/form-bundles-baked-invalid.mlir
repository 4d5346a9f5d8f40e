// RUN: spyre-opt --spyre-form-bundles=addresses=baked --split-input-file --verify-diagnostics %s

// An op has three tensors, and there are two segments.
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
module attributes {spyre.target = {segments = 2 : i64}} {
  func.func @too_many_tensors(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
    %a = spyre.pointwise exp(%x) {work = #spyre.work<[1, 1]>, place = #spyre.place<lx, 0>} : tensor<64x64xf16, #layout>
    // expected-error @+1 {{'spyre.pointwise' op a launch with baked addresses has at most 2 tensors, beside which a pool counts as one, but step 1 needs more}}
    %b = spyre.pointwise add(%a, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    return %b : tensor<64x64xf16, #layout>
  }
}
