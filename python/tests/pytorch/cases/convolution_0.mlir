#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<32x16x3x3xf16>, %arg1: tensor<32xf16>, %arg2: tensor<1x16x16x16xf16>) -> tensor<1x32x16x16xf16> {
    %cst = arith.constant 0.000000e+00 : f16
    %padded = tensor.pad %arg2 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg3: index, %arg4: index, %arg5: index, %arg6: index):
      tensor.yield %cst : f16
    } : tensor<1x16x16x16xf16> to tensor<1x16x18x18xf16>
    %0 = tensor.empty() : tensor<1x32x16x16xf32>
    %1 = tensor.empty() : tensor<32xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg1 : tensor<32xf16>) outs(%1 : tensor<32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %6 = arith.extf %in : f16 to f32
      linalg.yield %6 : f32
    } -> tensor<32xf32>
    %broadcasted = linalg.broadcast ins(%2 : tensor<32xf32>) outs(%0 : tensor<1x32x16x16xf32>) dimensions = [0, 2, 3] 
    %3 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %arg0 : tensor<1x16x18x18xf16>, tensor<32x16x3x3xf16>) outs(%broadcasted : tensor<1x32x16x16xf32>) -> tensor<1x32x16x16xf32>
    %4 = tensor.empty() : tensor<1x32x16x16xf16>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<1x32x16x16xf32>) outs(%4 : tensor<1x32x16x16xf16>) {
    ^bb0(%in: f32, %out: f16):
      %6 = arith.truncf %in : f32 to f16
      linalg.yield %6 : f16
    } -> tensor<1x32x16x16xf16>
    return %5 : tensor<1x32x16x16xf16>
  }
}
