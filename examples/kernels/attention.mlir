// Attention in tiles of heads, and of keys: the loop over keys carries the maximum of each row, the sum and the product with the values, and
// corrects them when the maximum grows (an online softmax). The program scales the queries; the kernel only knows products and a softmax.
//
//   spyre-compile examples/kernels/attention.mlir -o out --validate
//   spyre-compile examples/kernels/attention.mlir -o out --knobs attention.H=4,attention.K=1

func.func private @attention(%q: tensor<4x256x64xf16> {spyre.dims = ["heads", "queries", ""]},
                             %k: tensor<4x256x64xf16> {spyre.dims = ["heads", "keys", ""]},
                             %v: tensor<4x256x64xf16> {spyre.dims = ["heads", "keys", ""]}) -> tensor<4x256x64xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<H = 2 in [1, 2, 4]>, #spyre.knob<K = 2 in [1, 2, 4], where "H * K <= 8">]} {
  %zero = arith.constant 0.0 : f16
  %y = spyre.hint tiles(heads = H, keys = K) {
    %turned_empty = tensor.empty() : tensor<4x64x256xf16>
    %turned = linalg.transpose ins(%k : tensor<4x256x64xf16>) outs(%turned_empty : tensor<4x64x256xf16>) permutation = [0, 2, 1]
    %scores_empty = tensor.empty() : tensor<4x256x256xf16>
    %scores_begin = linalg.fill ins(%zero : f16) outs(%scores_empty : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
    %scores = linalg.batch_matmul ins(%q, %turned : tensor<4x256x64xf16>, tensor<4x64x256xf16>)
      outs(%scores_begin : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
    %weights = linalg.softmax dimension(2) ins(%scores : tensor<4x256x256xf16>) outs(%scores_empty : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
    %out_empty = tensor.empty() : tensor<4x256x64xf16>
    %out_begin = linalg.fill ins(%zero : f16) outs(%out_empty : tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %out = linalg.batch_matmul ins(%weights, %v : tensor<4x256x256xf16>, tensor<4x256x64xf16>)
      outs(%out_begin : tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    spyre.yield %out : tensor<4x256x64xf16>
  }
  return %y : tensor<4x256x64xf16>
}

func.func @main(%q: tensor<4x256x64xf16>, %k: tensor<4x256x64xf16>, %v: tensor<4x256x64xf16>) -> tensor<4x256x64xf16> {
  %scale = arith.constant 0.125 : f16
  %empty = tensor.empty() : tensor<4x256x64xf16>
  %scaled = linalg.generic {indexing_maps = [affine_map<(h, s, d) -> (h, s, d)>, affine_map<(h, s, d) -> (h, s, d)>],
                            iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%q : tensor<4x256x64xf16>) outs(%empty : tensor<4x256x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %product = arith.mulf %in, %scale : f16
    linalg.yield %product : f16
  } -> tensor<4x256x64xf16>
  %y = call @attention(%scaled, %k, %v) : (tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
  return %y : tensor<4x256x64xf16>
}
