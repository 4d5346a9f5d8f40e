#layout = #spyre.layout<[4, 64, 64], [64, 256, 1]>
#layout1 = #spyre.layout<[1, 64, 64], [-1, 1, -1]>
module attributes {spyre.phase = "lx", spyre.target = {cores = 2 : i64}} {
  func.func @softmax(%arg0: tensor<64x256xf16, #layout>) -> tensor<64x256xf16, #layout> {
    %0 = spyre.copy %arg0 {place = #spyre.place<lx, 4096>, work = #spyre.work<[2, 1]>} : tensor<64x256xf16, #layout> -> tensor<64x256xf16, #layout>
    %1 = spyre.reduce max(%0) dims [1] {place = #spyre.place<lx, 0>, work = #spyre.work<[2, 1]>} : tensor<64x256xf16, #layout> -> tensor<64x1xf16, #layout1>
    %2 = spyre.pointwise sub(%0, %1) {place = #spyre.place<lx, 4096>, work = #spyre.work<[2, 1]>} : (tensor<64x256xf16, #layout>, tensor<64x1xf16, #layout1>) -> tensor<64x256xf16, #layout>
    %3 = spyre.pointwise exp(%2) {place = #spyre.place<lx, 4096>, work = #spyre.work<[2, 1]>} : tensor<64x256xf16, #layout>
    %4 = spyre.reduce sum(%3) dims [1] {place = #spyre.place<lx, 0>, work = #spyre.work<[2, 1]>} : tensor<64x256xf16, #layout> -> tensor<64x1xf16, #layout1>
    %5 = spyre.pointwise realdiv(%3, %4) {place = #spyre.place<hbm, "it is a result of the graph and has no copy in LX">, work = #spyre.work<[2, 1]>} : (tensor<64x256xf16, #layout>, tensor<64x1xf16, #layout1>) -> tensor<64x256xf16, #layout>
    return %5 : tensor<64x256xf16, #layout>
  }
}

