#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x32x128xf16>, %arg1: tensor<384xf16>, %arg2: tensor<384x128xf16>, %arg3: tensor<128x128xf16>, %arg4: tensor<128xf16>) -> tensor<1x32x128xf16> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x4x32x32xf32>
    %cst_2 = arith.constant 0xFFF0000000000000 : f64
    %cst_3 = arith.constant 0.42044820762685725 : f64
    %0 = tensor.empty() : tensor<32x1x128xf16>
    %transposed = linalg.transpose ins(%arg0 : tensor<1x32x128xf16>) outs(%0 : tensor<32x1x128xf16>) permutation = [1, 0, 2] 
    %collapsed = tensor.collapse_shape %transposed [[0], [1, 2]] : tensor<32x1x128xf16> into tensor<32x128xf16>
    %1 = tensor.empty() : tensor<128x384xf16>
    %transposed_4 = linalg.transpose ins(%arg2 : tensor<384x128xf16>) outs(%1 : tensor<128x384xf16>) permutation = [1, 0] 
    %2 = tensor.empty() : tensor<384xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg1 : tensor<384xf16>) outs(%2 : tensor<384xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<384xf32>
    %4 = tensor.empty() : tensor<32x128xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<32x128xf16>) outs(%4 : tensor<32x128xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<32x128xf32>
    %6 = tensor.empty() : tensor<128x384xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_4 : tensor<128x384xf16>) outs(%6 : tensor<128x384xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<128x384xf32>
    %8 = tensor.empty() : tensor<32x384xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<32x384xf32>) -> tensor<32x384xf32>
    %10 = linalg.matmul ins(%5, %7 : tensor<32x128xf32>, tensor<128x384xf32>) outs(%9 : tensor<32x384xf32>) -> tensor<32x384xf32>
    %11 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<384xf32>) outs(%8 : tensor<32x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x384xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10, %11 : tensor<32x384xf32>, tensor<32x384xf32>) outs(%8 : tensor<32x384xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %60 = arith.addf %in, %in_34 : f32
      linalg.yield %60 : f32
    } -> tensor<32x384xf32>
    %13 = tensor.empty() : tensor<32x384xf16>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<32x384xf32>) outs(%13 : tensor<32x384xf16>) {
    ^bb0(%in: f32, %out: f16):
      %60 = arith.truncf %in : f32 to f16
      linalg.yield %60 : f16
    } -> tensor<32x384xf16>
    %expanded = tensor.expand_shape %14 [[0, 1], [2, 3, 4]] output_shape [1, 32, 1, 3, 128] : tensor<32x384xf16> into tensor<1x32x1x3x128xf16>
    %15 = tensor.empty() : tensor<3x32x1x1x128xf16>
    %transposed_5 = linalg.transpose ins(%expanded : tensor<1x32x1x3x128xf16>) outs(%15 : tensor<3x32x1x1x128xf16>) permutation = [3, 1, 2, 0, 4] 
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0], [1], [2, 3], [4]] : tensor<3x32x1x1x128xf16> into tensor<3x32x1x128xf16>
    %extracted_slice = tensor.extract_slice %collapsed_6[0, 0, 0, 0] [1, 32, 1, 128] [1, 1, 1, 1] : tensor<3x32x1x128xf16> to tensor<1x32x1x128xf16>
    %extracted_slice_7 = tensor.extract_slice %collapsed_6[1, 0, 0, 0] [1, 32, 1, 128] [1, 1, 1, 1] : tensor<3x32x1x128xf16> to tensor<1x32x1x128xf16>
    %extracted_slice_8 = tensor.extract_slice %collapsed_6[2, 0, 0, 0] [1, 32, 1, 128] [1, 1, 1, 1] : tensor<3x32x1x128xf16> to tensor<1x32x1x128xf16>
    %collapsed_9 = tensor.collapse_shape %extracted_slice [[0, 1], [2, 3]] : tensor<1x32x1x128xf16> into tensor<32x128xf16>
    %expanded_10 = tensor.expand_shape %collapsed_9 [[0], [1, 2]] output_shape [32, 4, 32] : tensor<32x128xf16> into tensor<32x4x32xf16>
    %16 = tensor.empty() : tensor<4x32x32xf16>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<32x4x32xf16>) outs(%16 : tensor<4x32x32xf16>) permutation = [1, 0, 2] 
    %collapsed_12 = tensor.collapse_shape %extracted_slice_7 [[0, 1], [2, 3]] : tensor<1x32x1x128xf16> into tensor<32x128xf16>
    %expanded_13 = tensor.expand_shape %collapsed_12 [[0], [1, 2]] output_shape [32, 4, 32] : tensor<32x128xf16> into tensor<32x4x32xf16>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<32x4x32xf16>) outs(%16 : tensor<4x32x32xf16>) permutation = [1, 0, 2] 
    %collapsed_15 = tensor.collapse_shape %extracted_slice_8 [[0, 1], [2, 3]] : tensor<1x32x1x128xf16> into tensor<32x128xf16>
    %expanded_16 = tensor.expand_shape %collapsed_15 [[0], [1, 2]] output_shape [32, 4, 32] : tensor<32x128xf16> into tensor<32x4x32xf16>
    %transposed_17 = linalg.transpose ins(%expanded_16 : tensor<32x4x32xf16>) outs(%16 : tensor<4x32x32xf16>) permutation = [1, 0, 2] 
    %expanded_18 = tensor.expand_shape %transposed_11 [[0, 1], [2], [3]] output_shape [1, 4, 32, 32] : tensor<4x32x32xf16> into tensor<1x4x32x32xf16>
    %expanded_19 = tensor.expand_shape %transposed_14 [[0, 1], [2], [3]] output_shape [1, 4, 32, 32] : tensor<4x32x32xf16> into tensor<1x4x32x32xf16>
    %expanded_20 = tensor.expand_shape %transposed_17 [[0, 1], [2], [3]] output_shape [1, 4, 32, 32] : tensor<4x32x32xf16> into tensor<1x4x32x32xf16>
    %17 = tensor.empty() : tensor<1x4x32x32xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_18 : tensor<1x4x32x32xf16>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x32xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19 : tensor<1x4x32x32xf16>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x32xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_20 : tensor<1x4x32x32xf16>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x32xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<1x4x32x32xf32>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.truncf %cst_3 : f64 to f32
      %61 = arith.mulf %in, %60 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x32x32xf32>
    %transposed_21 = linalg.transpose ins(%19 : tensor<1x4x32x32xf32>) outs(%17 : tensor<1x4x32x32xf32>) permutation = [0, 1, 3, 2] 
    %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_21 : tensor<1x4x32x32xf32>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.truncf %cst_3 : f64 to f32
      %61 = arith.mulf %in, %60 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x32x32xf32>
    %collapsed_22 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<1x4x32x32xf32> into tensor<4x32x32xf32>
    %collapsed_23 = tensor.collapse_shape %22 [[0, 1], [2], [3]] : tensor<1x4x32x32xf32> into tensor<4x32x32xf32>
    %23 = tensor.empty() : tensor<4x32x32xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
    %25 = linalg.batch_matmul ins(%collapsed_22, %collapsed_23 : tensor<4x32x32xf32>, tensor<4x32x32xf32>) outs(%24 : tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
    %expanded_24 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [1, 4, 32, 32] : tensor<4x32x32xf32> into tensor<1x4x32x32xf32>
    %26 = tensor.empty() : tensor<1x4x32xi64>
    %27 = linalg.fill ins(%c0_i64 : i64) outs(%26 : tensor<1x4x32xi64>) -> tensor<1x4x32xi64>
    %28 = tensor.empty() : tensor<1x4x32xf32>
    %29 = linalg.fill ins(%cst_0 : f32) outs(%28 : tensor<1x4x32xf32>) -> tensor<1x4x32xf32>
    %30:2 = linalg.generic {indexing_maps = [#map3, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_24 : tensor<1x4x32x32xf32>) outs(%29, %27 : tensor<1x4x32xf32>, tensor<1x4x32xi64>) {
    ^bb0(%in: f32, %out: f32, %out_34: i64):
      %60 = linalg.index 3 : index
      %61 = arith.index_cast %60 : index to i64
      %62 = arith.maximumf %in, %out : f32
      %63 = arith.cmpf ogt, %in, %out : f32
      %64 = arith.select %63, %61, %out_34 : i64
      linalg.yield %62, %64 : f32, i64
    } -> (tensor<1x4x32xf32>, tensor<1x4x32xi64>)
    %expanded_25 = tensor.expand_shape %30#0 [[0], [1], [2, 3]] output_shape [1, 4, 32, 1] : tensor<1x4x32xf32> into tensor<1x4x32x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24, %expanded_25 : tensor<1x4x32x32xf32>, tensor<1x4x32x1xf32>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %60 = arith.subf %in, %in_34 : f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x32xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<1x4x32x32xf32>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = math.exp %in : f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x32xf32>
    %33 = tensor.empty() : tensor<1x4x32x1xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<1x4x32x1xf32>) -> tensor<1x4x32x1xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<1x4x32x32xf32>) outs(%34 : tensor<1x4x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %60 = arith.addf %in, %out : f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x1xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<1x4x32x32xf32>, tensor<1x4x32x1xf32>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %60 = arith.divf %in, %in_34 : f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x32xf32>
    %37 = tensor.empty() : tensor<1x4x32x32xi1>
    %38 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24 : tensor<1x4x32x32xf32>) outs(%37 : tensor<1x4x32x32xi1>) {
    ^bb0(%in: f32, %out: i1):
      %60 = arith.extf %in : f32 to f64
      %61 = arith.cmpf oeq, %60, %cst_2 : f64
      linalg.yield %61 : i1
    } -> tensor<1x4x32x32xi1>
    %39 = tensor.empty() : tensor<1x4x32x1xi1>
    %40 = linalg.fill ins(%true : i1) outs(%39 : tensor<1x4x32x1xi1>) -> tensor<1x4x32x1xi1>
    %41 = linalg.generic {indexing_maps = [#map3, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%38 : tensor<1x4x32x32xi1>) outs(%40 : tensor<1x4x32x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %60 = arith.andi %in, %out : i1
      linalg.yield %60 : i1
    } -> tensor<1x4x32x1xi1>
    %42 = linalg.generic {indexing_maps = [#map5, #map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41, %cst_1, %36 : tensor<1x4x32x1xi1>, tensor<1x4x32x32xf32>, tensor<1x4x32x32xf32>) outs(%17 : tensor<1x4x32x32xf32>) {
    ^bb0(%in: i1, %in_34: f32, %in_35: f32, %out: f32):
      %60 = arith.select %in, %in_34, %in_35 : f32
      linalg.yield %60 : f32
    } -> tensor<1x4x32x32xf32>
    %collapsed_26 = tensor.collapse_shape %42 [[0, 1], [2], [3]] : tensor<1x4x32x32xf32> into tensor<4x32x32xf32>
    %collapsed_27 = tensor.collapse_shape %20 [[0, 1], [2], [3]] : tensor<1x4x32x32xf32> into tensor<4x32x32xf32>
    %43 = linalg.batch_matmul ins(%collapsed_26, %collapsed_27 : tensor<4x32x32xf32>, tensor<4x32x32xf32>) outs(%24 : tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
    %expanded_28 = tensor.expand_shape %43 [[0, 1], [2], [3]] output_shape [1, 4, 32, 32] : tensor<4x32x32xf32> into tensor<1x4x32x32xf32>
    %44 = tensor.empty() : tensor<1x4x32x32xf16>
    %45 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_28 : tensor<1x4x32x32xf32>) outs(%44 : tensor<1x4x32x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %60 = arith.truncf %in : f32 to f16
      linalg.yield %60 : f16
    } -> tensor<1x4x32x32xf16>
    %46 = tensor.empty() : tensor<32x1x4x32xf16>
    %transposed_29 = linalg.transpose ins(%45 : tensor<1x4x32x32xf16>) outs(%46 : tensor<32x1x4x32xf16>) permutation = [2, 0, 1, 3] 
    %collapsed_30 = tensor.collapse_shape %transposed_29 [[0], [1, 2, 3]] : tensor<32x1x4x32xf16> into tensor<32x128xf16>
    %47 = tensor.empty() : tensor<128x128xf16>
    %transposed_31 = linalg.transpose ins(%arg3 : tensor<128x128xf16>) outs(%47 : tensor<128x128xf16>) permutation = [1, 0] 
    %48 = tensor.empty() : tensor<128xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg4 : tensor<128xf16>) outs(%48 : tensor<128xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<128xf32>
    %50 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_30 : tensor<32x128xf16>) outs(%4 : tensor<32x128xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<32x128xf32>
    %51 = tensor.empty() : tensor<128x128xf32>
    %52 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_31 : tensor<128x128xf16>) outs(%51 : tensor<128x128xf32>) {
    ^bb0(%in: f16, %out: f32):
      %60 = arith.extf %in : f16 to f32
      linalg.yield %60 : f32
    } -> tensor<128x128xf32>
    %53 = linalg.fill ins(%cst : f32) outs(%4 : tensor<32x128xf32>) -> tensor<32x128xf32>
    %54 = linalg.matmul ins(%50, %52 : tensor<32x128xf32>, tensor<128x128xf32>) outs(%53 : tensor<32x128xf32>) -> tensor<32x128xf32>
    %55 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%49 : tensor<128xf32>) outs(%4 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %56 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%54, %55 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%4 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %60 = arith.addf %in, %in_34 : f32
      linalg.yield %60 : f32
    } -> tensor<32x128xf32>
    %57 = tensor.empty() : tensor<32x128xf16>
    %58 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%56 : tensor<32x128xf32>) outs(%57 : tensor<32x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %60 = arith.truncf %in : f32 to f16
      linalg.yield %60 : f16
    } -> tensor<32x128xf16>
    %expanded_32 = tensor.expand_shape %58 [[0], [1, 2]] output_shape [32, 1, 128] : tensor<32x128xf16> into tensor<32x1x128xf16>
    %59 = tensor.empty() : tensor<1x32x128xf16>
    %transposed_33 = linalg.transpose ins(%expanded_32 : tensor<32x1x128xf16>) outs(%59 : tensor<1x32x128xf16>) permutation = [1, 0, 2] 
    return %transposed_33 : tensor<1x32x128xf16>
  }
}
