// RUN: spyre-opt --spyre-form-bundles=addresses=baked --spyre-lower-to-sdsc %s | FileCheck %s

// Every op is a launch of its own. The second and the third value use the bytes of others that are dead; the first is kept for the last
// launch. A launch that reads one and writes another has both.
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
module attributes {spyre.target = {segments = 3 : i64}} {
  // CHECK-LABEL: sdsc.program @shared
  // CHECK: sdsc.buffer @temp0 temporary 0 {life = array<i64: 0, 4>, offset = 16384 : i64}
  // CHECK: sdsc.buffer @temp1 temporary 1 {life = array<i64: 1, 2>, offset = 0 : i64}
  // CHECK: sdsc.buffer @temp2 temporary 2 {life = array<i64: 2, 3>, offset = 8192 : i64}
  // CHECK: sdsc.buffer @temp3 temporary 3 {life = array<i64: 3, 4>, offset = 0 : i64}
  // CHECK: sdsc.buffer @result0 output 0 :
  // CHECK: sdsc.bundle @bundle_4(@temp0, @temp3, @result0)
  func.func @shared(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
    %a = spyre.pointwise add(%x, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %b = spyre.pointwise sub(%a, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %c = spyre.pointwise mul(%b, %y) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %d = spyre.pointwise add(%c, %x) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    %e = spyre.pointwise add(%d, %a) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
    return %e : tensor<64x64xf16, #layout>
  }
}
