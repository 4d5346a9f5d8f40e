module attributes {spyre.phase = "import", spyre.target = {cores = 2 : i64}} {
  func.func @softmax(%arg0: tensor<64x256xf16>) -> tensor<64x256xf16> {
    %0 = spyre.reduce max(%arg0) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
    %1 = spyre.pointwise sub(%arg0, %0) : (tensor<64x256xf16>, tensor<64x1xf16>) -> tensor<64x256xf16>
    %2 = spyre.pointwise exp(%1) : tensor<64x256xf16>
    %3 = spyre.reduce sum(%2) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
    %4 = spyre.pointwise realdiv(%2, %3) : (tensor<64x256xf16>, tensor<64x1xf16>) -> tensor<64x256xf16>
    return %4 : tensor<64x256xf16>
  }
}

