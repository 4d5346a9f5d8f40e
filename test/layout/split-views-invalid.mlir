// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-split-views %s

// Each operand alone could be split, but not both.
#x = #spyre.layout<[3, 1, 2, 64], [64, 64, 192, 1]>
#y = #spyre.layout<[2, 1, 3, 64], [64, 64, 128, 1]>
#rows = #spyre.layout<[1, 6, 64], [64, 64, 1]>
func.func @cuts_that_do_not_divide_each_other(%x: tensor<2x3x64xf16, #x>, %y: tensor<3x2x64xf16, #y>) -> tensor<6x64xf16, #rows> {
  %a = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 3, d0 mod 3, d1)> : tensor<2x3x64xf16, #x> -> tensor<6x64xf16>
  %b = spyre.view %y by affine_map<(d0, d1) -> (d0 floordiv 2, d0 mod 2, d1)> : tensor<3x2x64xf16, #y> -> tensor<6x64xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads views that cannot be split together: iteration dimension 0 would be split at 2 and at 3, but 2 does not divide 3}}
  %sum = spyre.pointwise add(%a, %b) : (tensor<6x64xf16>, tensor<6x64xf16>) -> tensor<6x64xf16, #rows>
  return %sum : tensor<6x64xf16, #rows>
}

// -----

func.func @operand_without_a_layout(%x: tensor<64x256xf16>) -> tensor<2x64x128xf16> {
  %heads = spyre.view %x by affine_map<(d0, d1, d2) -> (d1, d0 * 128 + d2)> : tensor<64x256xf16> -> tensor<2x64x128xf16>
  // expected-error @+1 {{'spyre.pointwise' op has an operand without a device layout; run spyre-propagate-layouts first}}
  %exp = spyre.pointwise exp(%heads) : tensor<2x64x128xf16>
  return %exp : tensor<2x64x128xf16>
}

// -----

#x = #spyre.layout<[16, 1, 4, 64], [64, 64, 1024, 1]>
func.func @result_without_a_layout(%x: tensor<4x16x64xf16, #x>) -> tensor<64x64xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 16, d0 mod 16, d1)> : tensor<4x16x64xf16, #x> -> tensor<64x64xf16>
  // expected-error @+1 {{'spyre.pointwise' op has a result without a device layout; run spyre-propagate-layouts first}}
  %exp = spyre.pointwise exp(%rows) : tensor<64x64xf16>
  return %exp : tensor<64x64xf16>
}

// -----

// Heads narrower than a stick must be moved before.
#x = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#heads = #spyre.layout<[64, 1, 2, 64], [32, 64, 2048, 1]>
func.func @heads_inside_a_stick(%x: tensor<64x64xf16, #x>) -> tensor<2x64x32xf16, #heads> {
  %heads = spyre.view %x by affine_map<(d0, d1, d2) -> (d1, d0 * 32 + d2)> : tensor<64x64xf16, #x> -> tensor<2x64x32xf16>
  // expected-error @+1 {{'spyre.pointwise' op cannot view a buffer with split dimensions: 32 elements along dimension 1 cut a stick of 64; run spyre-insert-restickify first}}
  %exp = spyre.pointwise exp(%heads) : (tensor<2x64x32xf16>) -> tensor<2x64x32xf16, #heads>
  return %exp : tensor<2x64x32xf16, #heads>
}

// -----

// A window of 32 of 64 rows, as tiles are.
#window = #spyre.layout<[4, 64, 64], [64, 256, 1], of = [64, 256]>
#heads = #spyre.layout<[32, 2, 2, 64], [128, 64, 4096, 1]>
func.func @heads_out_of_a_tile(%x: tensor<32x256xf16, #window>) -> tensor<2x32x128xf16, #heads> {
  %heads = spyre.view %x by affine_map<(d0, d1, d2) -> (d1, d0 * 128 + d2)> : tensor<32x256xf16, #window> -> tensor<2x32x128xf16>
  // expected-error @+1 {{'spyre.pointwise' op reads a tile through a reshape, which is not supported; reshape outside of the loop}}
  %exp = spyre.pointwise exp(%heads) : (tensor<2x32x128xf16>) -> tensor<2x32x128xf16, #heads>
  return %exp : tensor<2x32x128xf16, #heads>
}
