// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-clone-inputs %s

// expected-error @+1 {{'func.func' op has an operand without a device layout}}
func.func @tensors_without_layouts(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %square = spyre.pointwise mul(%x, %x) : tensor<8x64xf16>
  return %square : tensor<8x64xf16>
}

// -----

#rows = #spyre.layout<[1, 8, 64], [64, 64, 1]>
// expected-error @+1 {{'func.func' op has no 'work'; run spyre-divide-work first}}
func.func @work_that_is_not_divided(%x: tensor<8x64xf16, #rows>) -> tensor<8x64xf16, #rows> {
  %square = spyre.pointwise mul(%x, %x) : tensor<8x64xf16, #rows>
  return %square : tensor<8x64xf16, #rows>
}

// -----

// The mistake is in the body of a loop.
#full = #spyre.layout<[1, 8, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 8, 64], [64, 64, 1], of = [8, 64]>
func.func @loop_that_is_not_divided(%x: tensor<8x64xf16, #full>) -> tensor<8x64xf16, #full> {
  // expected-error @+1 {{'spyre.loop' op has no 'work'; run spyre-divide-work first}}
  %result = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<8x64xf16, #full>) {
    %square = spyre.pointwise mul(%tile, %tile) : tensor<4x64xf16, #window>
    spyre.yield %square[0] : tensor<4x64xf16, #window>
  } : tensor<8x64xf16, #full>
  return %result : tensor<8x64xf16, #full>
}

// -----

// expected-error @+1 {{'builtin.module' op 'spyre.target' must hold numbers, found lx_bytes = "all"}}
module attributes {spyre.target = {lx_bytes = "all"}} {
}
