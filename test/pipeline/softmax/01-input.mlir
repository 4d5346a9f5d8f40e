// OPTIONS: --cores 2
//
// Softmax over the last dimension, as a producer writes it that computes in f32 between two f16 tensors. With the scratchpad
// on, HBM moves the input once and the result once.

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @softmax(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<64x256xf32>
  %rows = tensor.empty() : tensor<64xf32>
  %x32 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<64x256xf16>) outs(%wide : tensor<64x256xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<64x256xf32>
  %max_init = linalg.fill ins(%low : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x32 : tensor<64x256xf32>) outs(%max_init : tensor<64xf32>) dimensions = [1]
  %shifted = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
    ins(%x32, %max : tensor<64x256xf32>, tensor<64xf32>) outs(%wide : tensor<64x256xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %0 = arith.subf %in, %m : f32
    linalg.yield %0 : f32
  } -> tensor<64x256xf32>
  %exp = linalg.exp ins(%shifted : tensor<64x256xf32>) outs(%wide : tensor<64x256xf32>) -> tensor<64x256xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<64x256xf32>) outs(%sum_init : tensor<64xf32>) dimensions = [1]
  %half = tensor.empty() : tensor<64x256xf16>
  %result = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum : tensor<64x256xf32>, tensor<64xf32>) outs(%half : tensor<64x256xf16>) {
  ^bb0(%e: f32, %s: f32, %out: f16):
    %0 = arith.divf %e, %s : f32
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<64x256xf16>
  return %result : tensor<64x256xf16>
}
