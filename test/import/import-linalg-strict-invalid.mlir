// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg=precision=strict %s

// The device compares and chooses in one format, which precision=strict does not change.
func.func @truth_in_two_formats(%x: tensor<64x64xf16>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f16, %b: f32, %c: f32, %o: f32):
    %zero = arith.constant 0.0 : f16
    %p = arith.cmpf ogt, %a, %zero : f16
    // expected-error @+1 {{uses truth values of numbers of f16 beside numbers of f32: an op of the device has one format, and a conversion is not supported yet; compare and choose in one format}}
    %s = arith.select %p, %b, %c : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
