#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<32xi64>, %arg1: tensor<32x64xf16>) -> tensor<32x64xf16> {
    %cst = arith.constant 3.200000e+01 : f32
    %cst_0 = arith.constant 1.000000e+04 : f32
    %expanded = tensor.expand_shape %arg0 [[0, 1]] output_shape [32, 1] : tensor<32xi64> into tensor<32x1xi64>
    %0 = tensor.empty() : tensor<32xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<32xi64>) {
    ^bb0(%out: i64):
      %19 = linalg.index 0 : index
      %20 = arith.index_cast %19 : index to i64
      linalg.yield %20 : i64
    } -> tensor<32xi64>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<32xi64>) outs(%0 : tensor<32xi64>) {
    ^bb0(%in: i64, %out: i64):
      %19 = arith.sitofp %in : i64 to f32
      %20 = arith.negf %19 : f32
      %21 = arith.fptosi %20 : f32 to i64
      linalg.yield %21 : i64
    } -> tensor<32xi64>
    %3 = tensor.empty() : tensor<32xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%2 : tensor<32xi64>) outs(%3 : tensor<32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %19 = arith.sitofp %in : i64 to f32
      %20 = arith.divf %19, %cst : f32
      linalg.yield %20 : f32
    } -> tensor<32xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%4 : tensor<32xf32>) outs(%3 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.powf %cst_0, %in : f32
      linalg.yield %19 : f32
    } -> tensor<32xf32>
    %6 = tensor.empty() : tensor<32x32xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%expanded, %5 : tensor<32x1xi64>, tensor<32xf32>) outs(%6 : tensor<32x32xf32>) {
    ^bb0(%in: i64, %in_2: f32, %out: f32):
      %19 = arith.sitofp %in : i64 to f32
      %20 = arith.mulf %19, %in_2 : f32
      linalg.yield %20 : f32
    } -> tensor<32x32xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<32x32xf32>) outs(%6 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.cos %in : f32
      linalg.yield %19 : f32
    } -> tensor<32x32xf32>
    %9 = tensor.empty() : tensor<32x32xf16>
    %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<32x32xf32>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %19 = arith.truncf %in : f32 to f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %11 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<32x32xf32>) outs(%6 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.sin %in : f32
      linalg.yield %19 : f32
    } -> tensor<32x32xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<32x32xf32>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %19 = arith.truncf %in : f32 to f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %extracted_slice = tensor.extract_slice %arg1[0, 0] [32, 32] [1, 1] : tensor<32x64xf16> to tensor<32x32xf16>
    %extracted_slice_1 = tensor.extract_slice %arg1[0, 32] [32, 32] [1, 1] : tensor<32x64xf16> to tensor<32x32xf16>
    %13 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice, %10 : tensor<32x32xf16>, tensor<32x32xf16>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %19 = arith.mulf %in, %in_2 : f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_1, %12 : tensor<32x32xf16>, tensor<32x32xf16>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %19 = arith.mulf %in, %in_2 : f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %15 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%13, %14 : tensor<32x32xf16>, tensor<32x32xf16>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %19 = arith.subf %in, %in_2 : f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %16 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_1, %10 : tensor<32x32xf16>, tensor<32x32xf16>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %19 = arith.mulf %in, %in_2 : f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %17 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice, %12 : tensor<32x32xf16>, tensor<32x32xf16>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %19 = arith.mulf %in, %in_2 : f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %18 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%16, %17 : tensor<32x32xf16>, tensor<32x32xf16>) outs(%9 : tensor<32x32xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %19 = arith.addf %in, %in_2 : f16
      linalg.yield %19 : f16
    } -> tensor<32x32xf16>
    %concat = tensor.concat dim(1) %15, %18 : (tensor<32x32xf16>, tensor<32x32xf16>) -> tensor<32x64xf16>
    return %concat : tensor<32x64xf16>
  }
}
