// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-materialize-views %s

func.func @a_diagonal_of_blocks(%x: tensor<2x4xf16>) -> tensor<4xf16> {
  // expected-error @+1 {{'spyre.view' op reads a diagonal: dimension 0 indexes dimensions 0 and 1 of 'tensor<2x4xf16>'; diagonals are supported for complete dimensions, float types and at most 2048 elements}}
  %view = spyre.view %x by affine_map<(d0) -> (d0 floordiv 2, d0 floordiv 2 + d0 mod 2)> : tensor<2x4xf16> -> tensor<4xf16>
  %neg = spyre.pointwise neg(%view) : tensor<4xf16>
  return %neg : tensor<4xf16>
}

// -----

func.func @a_diagonal_of_integers(%table: tensor<8x64xf16>, %index: tensor<4x4xi64>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'spyre.view' op reads a diagonal: dimension 0 indexes dimensions 0 and 1 of 'tensor<4x4xi64>'}}
  %view = spyre.view %index by affine_map<(d0) -> (d0, d0)> : tensor<4x4xi64> -> tensor<4xi64>
  %rows = spyre.gather(%table, %view) dim 0 : (tensor<8x64xf16>, tensor<4xi64>) -> tensor<4x64xf16>
  return %rows : tensor<4x64xf16>
}

// -----

func.func @a_long_diagonal(%x: tensor<2049x2049xf16>) -> tensor<2049xf16> {
  // expected-error @+1 {{'spyre.view' op reads a diagonal: dimension 0 indexes dimensions 0 and 1 of 'tensor<2049x2049xf16>'}}
  %view = spyre.view %x by affine_map<(d0) -> (d0, d0)> : tensor<2049x2049xf16> -> tensor<2049xf16>
  %neg = spyre.pointwise neg(%view) : tensor<2049xf16>
  return %neg : tensor<2049xf16>
}

// -----

func.func @one_column(%x: tensor<64x512xf16>, %y: tensor<512x1xf16>) -> tensor<64x1xf16> {
  // expected-error @+1 {{'spyre.matmul' op expected a matmul with more than one result column, found one, which does not fill a stick; multiply the transposed tensors, so that the result has one row}}
  %product = spyre.matmul(%x, %y) : (tensor<64x512xf16>, tensor<512x1xf16>) -> tensor<64x1xf16>
  return %product : tensor<64x1xf16>
}

// -----

func.func @one_summed(%a: tensor<8x1xf16>, %b: tensor<1x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{expected a matmul that sums more than one element, found one; multiply the tensors elementwise, with 'spyre.pointwise mul'}}
  %0 = spyre.matmul(%a, %b) : (tensor<8x1xf16>, tensor<1x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}
