// RMS norm with two results: the normalised rows, and 1 / rms of each row, which a backward pass reads.
//
//   spyre-compile examples/kernels/rms_norm.mlir -o out --validate
//   spyre-compile examples/kernels/rms_norm.mlir -o out --knobs rms_norm.T=8

func.func private @rms_norm(%x: tensor<256x1024xf16> {spyre.dims = ["rows", "columns"]}, %weight: tensor<1024xf16>)
    -> (tensor<256x1024xf16>, tensor<256x1xf16>)
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 64>]} {
  %zero = arith.constant 0.0 : f16
  %count = arith.constant 1024.0 : f16
  %eps = arith.constant 1.0e-03 : f16
  %y, %r = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<256x1024xf16>
    %square = linalg.mul ins(%x, %x : tensor<256x1024xf16>, tensor<256x1024xf16>) outs(%empty : tensor<256x1024xf16>) -> tensor<256x1024xf16>
    %row = tensor.empty() : tensor<256xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%row : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.reduce ins(%square : tensor<256x1024xf16>) outs(%begin : tensor<256xf16>) dimensions = [1]
      (%in: f16, %acc: f16) {
        %added = arith.addf %in, %acc : f16
        linalg.yield %added : f16
      }
    %rms = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<256xf16>) outs(%row : tensor<256xf16>) {
    ^bb0(%in: f16, %out: f16):
      %mean = arith.divf %in, %count : f16
      %shifted = arith.addf %mean, %eps : f16
      %inverse = math.rsqrt %shifted : f16
      linalg.yield %inverse : f16
    } -> tensor<256xf16>
    %scaled = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rms, %weight : tensor<256x1024xf16>, tensor<256xf16>, tensor<1024xf16>) outs(%empty : tensor<256x1024xf16>) {
    ^bb0(%in: f16, %inverse: f16, %w: f16, %out: f16):
      %normal = arith.mulf %in, %inverse : f16
      %weighted = arith.mulf %normal, %w : f16
      linalg.yield %weighted : f16
    } -> tensor<256x1024xf16>
    %column = tensor.expand_shape %rms [[0, 1]] output_shape [256, 1] : tensor<256xf16> into tensor<256x1xf16>
    spyre.yield %scaled, %column : tensor<256x1024xf16>, tensor<256x1xf16>
  }
  return %y, %r : tensor<256x1024xf16>, tensor<256x1xf16>
}

func.func @main(%x: tensor<256x1024xf16>, %weight: tensor<1024xf16>) -> (tensor<256x1024xf16>, tensor<256x1xf16>) {
  %y, %r = call @rms_norm(%x, %weight) : (tensor<256x1024xf16>, tensor<1024xf16>) -> (tensor<256x1024xf16>, tensor<256x1xf16>)
  return %y, %r : tensor<256x1024xf16>, tensor<256x1xf16>
}
