// RUN: spyre-opt --spyre-form-bundles=addresses=baked --spyre-lower-to-sdsc --verify-diagnostics %s

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
module attributes {spyre.target = {segments = 3 : i64, segment_bytes = 8192 : i64}} {
  // expected-error @+1 {{has no space for temp1: buffers between launches have 8192 bytes in all; use smaller tensors}}
  func.func @full(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
    %a = spyre.pointwise add(%x, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %b = spyre.pointwise sub(%a, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %c = spyre.pointwise mul(%b, %x) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    return %c : tensor<64x64xf16, #layout>
  }
}
