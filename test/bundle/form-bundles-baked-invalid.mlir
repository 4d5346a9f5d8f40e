// RUN: spyre-opt --spyre-form-bundles=addresses=baked --split-input-file --verify-diagnostics %s

// An op has three tensors, and there are two segments.
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
module attributes {spyre.target = {segments = 2 : i64}} {
  func.func @too_many_tensors(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
    %a = spyre.pointwise exp(%x) {work = #spyre.work<[1, 1]>, place = #spyre.place<lx, 0>} : tensor<64x64xf16, #layout>
    // expected-error @+1 {{expected at most 2 tensors (a pool counts as one) in a launch with baked addresses, found more in the launch that begins here; give --addresses symbolic}}
    %b = spyre.pointwise add(%a, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    return %b : tensor<64x64xf16, #layout>
  }
}
