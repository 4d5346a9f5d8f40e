#layout = #spyre.layout<[4, 64, 64], [64, 256, 1]>
#layout1 = #spyre.layout<[1, 64, 64], [-1, 1, -1]>
module attributes {spyre.phase = "work", spyre.target = {cores = 2 : i64}} {
  func.func @softmax(%arg0: tensor<64x256xf16, #layout>) -> tensor<64x256xf16, #layout> {
    %0 = spyre.reduce max(%arg0) dims [1] {work = #spyre.work<[2, 1]>} : tensor<64x256xf16, #layout> -> tensor<64x1xf16, #layout1>
    %1 = spyre.pointwise sub(%arg0, %0) {work = #spyre.work<[2, 1]>} : (tensor<64x256xf16, #layout>, tensor<64x1xf16, #layout1>) -> tensor<64x256xf16, #layout>
    %2 = spyre.pointwise exp(%1) {work = #spyre.work<[2, 1]>} : tensor<64x256xf16, #layout>
    %3 = spyre.reduce sum(%2) dims [1] {work = #spyre.work<[2, 1]>} : tensor<64x256xf16, #layout> -> tensor<64x1xf16, #layout1>
    %4 = spyre.pointwise realdiv(%2, %3) {work = #spyre.work<[2, 1]>} : (tensor<64x256xf16, #layout>, tensor<64x1xf16, #layout1>) -> tensor<64x256xf16, #layout>
    return %4 : tensor<64x256xf16, #layout>
  }
}

