// Seed 004, example 2, from linalg and by options: the names are known after the layout has split what it had to.
// RUN: spyre-compile %s --dims 0=M@64:K --dims 1=K:N --dims 2=M:N --compile-to hint | FileCheck %s

// CHECK: attributes {spyre.dim_sizes = {K = 256 : i64, M = 64 : i64, N = 128 : i64}}
// CHECK: spyre.matmul({{.+}}) {dims = ["M", "N", "K"]}
// CHECK: spyre.pointwise add({{.+}}) {dims = ["M", "N"]}
func.func @kernel(%x: tensor<16384xf16>, %y: tensor<256x128xf16>, %z: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<64x128xf16>
  %filled = linalg.fill ins(%zero : f16) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  %m = tensor.expand_shape %x [[0, 1]] output_shape [64, 256] : tensor<16384xf16> into tensor<64x256xf16>
  %p = linalg.matmul ins(%m, %y : tensor<64x256xf16>, tensor<256x128xf16>) outs(%filled : tensor<64x128xf16>) -> tensor<64x128xf16>
  %sum = linalg.add ins(%p, %z : tensor<64x128xf16>, tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %sum : tensor<64x128xf16>
}
