// A matrix product in tiles of rows and columns. The knobs are the numbers of tiles; a tile has at least 64 rows for each of 8 cores.
//
//   spyre-compile examples/kernels/matmul.mlir -o out --validate --knobs matmul.M=2,matmul.N=4

func.func private @matmul(%a: tensor<256x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x512xf16> {spyre.dims = ["k", "n"]})
    -> tensor<256x512xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<M = 4 in pow2 1 to 8>,
                                             #spyre.knob<N = 1 in pow2 1 to 8, where "M * N <= 16">]} {
  %zero = arith.constant 0.0 : f16
  %c = spyre.hint tiles(m = M, n = N) {
    %empty = tensor.empty() : tensor<256x512xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
    %product = linalg.matmul ins(%a, %b : tensor<256x128xf16>, tensor<128x512xf16>) outs(%begin : tensor<256x512xf16>) -> tensor<256x512xf16>
    spyre.yield %product : tensor<256x512xf16>
  }
  return %c : tensor<256x512xf16>
}

func.func @main(%a: tensor<256x128xf16>, %b: tensor<128x512xf16>) -> tensor<256x512xf16> {
  %c = call @matmul(%a, %b) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
  return %c : tensor<256x512xf16>
}
