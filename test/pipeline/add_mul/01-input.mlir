// OPTIONS: --dims 0=A:B --dims 1=A:B --dims 2=A:B --tiles A=2,B=4 --cores 4
//
// (a + b) * c, tiled by 2 along the rows and by 4 along the columns. Each file of this folder is the program after one
// more phase; `BLESS=pipeline/add_mul cargo test --test compiler -- pipeline::` rewrites them.

#matrix = affine_map<(row, column) -> (row, column)>

func.func @add_mul(%a: tensor<1024x4096xf16>, %b: tensor<1024x4096xf16>, %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %empty = tensor.empty() : tensor<1024x4096xf16>
  %sum = linalg.add ins(%a, %b : tensor<1024x4096xf16>, tensor<1024x4096xf16>) outs(%empty : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %product = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%sum, %c : tensor<1024x4096xf16>, tensor<1024x4096xf16>) outs(%empty : tensor<1024x4096xf16>) {
  ^bb0(%x: f16, %y: f16, %out: f16):
    %z = arith.mulf %x, %y : f16
    linalg.yield %z : f16
  } -> tensor<1024x4096xf16>
  return %product : tensor<1024x4096xf16>
}
