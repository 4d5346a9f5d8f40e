// Blocks of image models as torch-mlir exports them: ResNet's residual, MobileNetV2's inverted residual, ConvNeXt's block, ViT's patches
// and a layer, a classifier's head.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/residual.mlir -o %t/residual --validate > %t/log && spyre-run %t/residual --check %t/residual.mlir | FileCheck %s
// RUN: spyre-compile %t/inverted_residual.mlir -o %t/inverted_residual --validate > %t/log && spyre-run %t/inverted_residual --check %t/inverted_residual.mlir | FileCheck %s
// RUN: spyre-compile %t/convnext.mlir -o %t/convnext --validate > %t/log && spyre-run %t/convnext --check %t/convnext.mlir | FileCheck %s
// RUN: spyre-compile %t/vision_transformer.mlir -o %t/vision_transformer --validate > %t/log && spyre-run %t/vision_transformer --check %t/vision_transformer.mlir | FileCheck %s
// RUN: spyre-compile %t/head.mlir -o %t/head --validate > %t/log && spyre-run %t/head --check %t/head.mlir | FileCheck %s

// CHECK: result0: correct

//--- residual.mlir
func.func @residual(%x: tensor<1x64x7x7xf16>, %w1: tensor<96x64x3x3xf16>, %bn1_gamma: tensor<96xf16>, %bn1_beta: tensor<96xf16>, %bn1_mean: tensor<96xf16>, %bn1_var: tensor<96xf16>, %w2: tensor<96x96x3x3xf16>, %bn2_gamma: tensor<96xf16>, %bn2_beta: tensor<96xf16>, %bn2_mean: tensor<96xf16>, %bn2_var: tensor<96xf16>, %wd: tensor<96x64x1x1xf16>, %bnd_gamma: tensor<96xf16>, %bnd_beta: tensor<96xf16>, %bnd_mean: tensor<96xf16>, %bnd_var: tensor<96xf16>) -> tensor<1x96x4x4xf16> {
  %c0 = arith.constant 0.0 : f16
  %c1 = arith.constant 1.001360e-05 : f16
  %v1 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %c0 : f16
  } : tensor<1x64x7x7xf16> to tensor<1x64x9x9xf16>
  %v2 = tensor.empty() : tensor<1x96x4x4xf16>
  %v3 = linalg.fill ins(%c0 : f16) outs(%v2 : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  %v4 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%v1, %w1 : tensor<1x64x9x9xf16>, tensor<96x64x3x3xf16>) outs(%v3 : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  %v5 = tensor.empty() : tensor<1x96x4x4xf16>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v4, %bn1_gamma, %bn1_beta, %bn1_mean, %bn1_var : tensor<1x96x4x4xf16>, tensor<96xf16>, tensor<96xf16>, tensor<96xf16>, tensor<96xf16>) outs(%v5 : tensor<1x96x4x4xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %a4: f16, %o: f16):
    %0 = arith.mulf %a4, %a4 : f16
    %1 = arith.addf %0, %c1 : f16
    %2 = math.rsqrt %1 : f16
    %3 = arith.subf %a0, %a3 : f16
    %4 = arith.mulf %3, %2 : f16
    %5 = arith.mulf %4, %a1 : f16
    %6 = arith.addf %5, %a2 : f16
    linalg.yield %6 : f16
  } -> tensor<1x96x4x4xf16>
  %v7 = tensor.empty() : tensor<1x96x4x4xf16>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v6 : tensor<1x96x4x4xf16>) outs(%v7 : tensor<1x96x4x4xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.cmpf ugt, %a0, %c0 : f16
    %1 = arith.select %0, %a0, %c0 : f16
    linalg.yield %1 : f16
  } -> tensor<1x96x4x4xf16>
  %v9 = tensor.pad %v8 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %c0 : f16
  } : tensor<1x96x4x4xf16> to tensor<1x96x6x6xf16>
  %v10 = tensor.empty() : tensor<1x96x4x4xf16>
  %v11 = linalg.fill ins(%c0 : f16) outs(%v10 : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  %v12 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v9, %w2 : tensor<1x96x6x6xf16>, tensor<96x96x3x3xf16>) outs(%v11 : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  %v13 = tensor.empty() : tensor<1x96x4x4xf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v12, %bn2_gamma, %bn2_beta, %bn2_mean, %bn2_var : tensor<1x96x4x4xf16>, tensor<96xf16>, tensor<96xf16>, tensor<96xf16>, tensor<96xf16>) outs(%v13 : tensor<1x96x4x4xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %a4: f16, %o: f16):
    %0 = arith.mulf %a4, %a4 : f16
    %1 = arith.addf %0, %c1 : f16
    %2 = math.rsqrt %1 : f16
    %3 = arith.subf %a0, %a3 : f16
    %4 = arith.mulf %3, %2 : f16
    %5 = arith.mulf %4, %a1 : f16
    %6 = arith.addf %5, %a2 : f16
    linalg.yield %6 : f16
  } -> tensor<1x96x4x4xf16>
  %v15 = tensor.empty() : tensor<1x96x4x4xf16>
  %v16 = linalg.fill ins(%c0 : f16) outs(%v15 : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  %v17 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %wd : tensor<1x64x7x7xf16>, tensor<96x64x1x1xf16>) outs(%v16 : tensor<1x96x4x4xf16>) -> tensor<1x96x4x4xf16>
  %v18 = tensor.empty() : tensor<1x96x4x4xf16>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v17, %bnd_gamma, %bnd_beta, %bnd_mean, %bnd_var : tensor<1x96x4x4xf16>, tensor<96xf16>, tensor<96xf16>, tensor<96xf16>, tensor<96xf16>) outs(%v18 : tensor<1x96x4x4xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %a4: f16, %o: f16):
    %0 = arith.mulf %a4, %a4 : f16
    %1 = arith.addf %0, %c1 : f16
    %2 = math.rsqrt %1 : f16
    %3 = arith.subf %a0, %a3 : f16
    %4 = arith.mulf %3, %2 : f16
    %5 = arith.mulf %4, %a1 : f16
    %6 = arith.addf %5, %a2 : f16
    linalg.yield %6 : f16
  } -> tensor<1x96x4x4xf16>
  %v20 = tensor.empty() : tensor<1x96x4x4xf16>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v14, %v19 : tensor<1x96x4x4xf16>, tensor<1x96x4x4xf16>) outs(%v20 : tensor<1x96x4x4xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<1x96x4x4xf16>
  %v22 = tensor.empty() : tensor<1x96x4x4xf16>
  %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v21 : tensor<1x96x4x4xf16>) outs(%v22 : tensor<1x96x4x4xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.cmpf ugt, %a0, %c0 : f16
    %1 = arith.select %0, %a0, %c0 : f16
    linalg.yield %1 : f16
  } -> tensor<1x96x4x4xf16>
  return %v23 : tensor<1x96x4x4xf16>
}

//--- inverted_residual.mlir
func.func @inverted_residual(%x: tensor<4x16x7x7xf16>, %w1: tensor<64x16x1x1xf16>, %bn1_gamma: tensor<64xf16>, %bn1_beta: tensor<64xf16>, %bn1_mean: tensor<64xf16>, %bn1_var: tensor<64xf16>, %w2: tensor<64x1x3x3xf16>, %bn2_gamma: tensor<64xf16>, %bn2_beta: tensor<64xf16>, %bn2_mean: tensor<64xf16>, %bn2_var: tensor<64xf16>, %w3: tensor<16x64x1x1xf16>, %bn3_gamma: tensor<16xf16>, %bn3_beta: tensor<16xf16>, %bn3_mean: tensor<16xf16>, %bn3_var: tensor<16xf16>) -> tensor<4x16x7x7xf16> {
  %c0 = arith.constant 0.0 : f16
  %c1 = arith.constant 1.001360e-05 : f16
  %c2 = arith.constant 6.0 : f16
  %v1 = tensor.empty() : tensor<4x64x7x7xf16>
  %v2 = linalg.fill ins(%c0 : f16) outs(%v1 : tensor<4x64x7x7xf16>) -> tensor<4x64x7x7xf16>
  %v3 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w1 : tensor<4x16x7x7xf16>, tensor<64x16x1x1xf16>) outs(%v2 : tensor<4x64x7x7xf16>) -> tensor<4x64x7x7xf16>
  %v4 = tensor.empty() : tensor<4x64x7x7xf16>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v3, %bn1_gamma, %bn1_beta, %bn1_mean, %bn1_var : tensor<4x64x7x7xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>) outs(%v4 : tensor<4x64x7x7xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %a4: f16, %o: f16):
    %0 = arith.mulf %a4, %a4 : f16
    %1 = arith.addf %0, %c1 : f16
    %2 = math.rsqrt %1 : f16
    %3 = arith.subf %a0, %a3 : f16
    %4 = arith.mulf %3, %2 : f16
    %5 = arith.mulf %4, %a1 : f16
    %6 = arith.addf %5, %a2 : f16
    linalg.yield %6 : f16
  } -> tensor<4x64x7x7xf16>
  %v6 = tensor.empty() : tensor<4x64x7x7xf16>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v5 : tensor<4x64x7x7xf16>) outs(%v6 : tensor<4x64x7x7xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.cmpf ult, %a0, %c0 : f16
    %1 = arith.select %0, %c0, %a0 : f16
    %2 = arith.cmpf ugt, %1, %c2 : f16
    %3 = arith.select %2, %c2, %1 : f16
    linalg.yield %3 : f16
  } -> tensor<4x64x7x7xf16>
  %v8 = tensor.pad %v7 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %c0 : f16
  } : tensor<4x64x7x7xf16> to tensor<4x64x9x9xf16>
  %v9 = tensor.collapse_shape %w2 [[0, 1], [2], [3]] : tensor<64x1x3x3xf16> into tensor<64x3x3xf16>
  %v10 = tensor.empty() : tensor<4x64x7x7xf16>
  %v11 = linalg.fill ins(%c0 : f16) outs(%v10 : tensor<4x64x7x7xf16>) -> tensor<4x64x7x7xf16>
  %v12 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v8, %v9 : tensor<4x64x9x9xf16>, tensor<64x3x3xf16>) outs(%v11 : tensor<4x64x7x7xf16>) -> tensor<4x64x7x7xf16>
  %v13 = tensor.empty() : tensor<4x64x7x7xf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v12, %bn2_gamma, %bn2_beta, %bn2_mean, %bn2_var : tensor<4x64x7x7xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>, tensor<64xf16>) outs(%v13 : tensor<4x64x7x7xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %a4: f16, %o: f16):
    %0 = arith.mulf %a4, %a4 : f16
    %1 = arith.addf %0, %c1 : f16
    %2 = math.rsqrt %1 : f16
    %3 = arith.subf %a0, %a3 : f16
    %4 = arith.mulf %3, %2 : f16
    %5 = arith.mulf %4, %a1 : f16
    %6 = arith.addf %5, %a2 : f16
    linalg.yield %6 : f16
  } -> tensor<4x64x7x7xf16>
  %v15 = tensor.empty() : tensor<4x64x7x7xf16>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v14 : tensor<4x64x7x7xf16>) outs(%v15 : tensor<4x64x7x7xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.cmpf ult, %a0, %c0 : f16
    %1 = arith.select %0, %c0, %a0 : f16
    %2 = arith.cmpf ugt, %1, %c2 : f16
    %3 = arith.select %2, %c2, %1 : f16
    linalg.yield %3 : f16
  } -> tensor<4x64x7x7xf16>
  %v17 = tensor.empty() : tensor<4x16x7x7xf16>
  %v18 = linalg.fill ins(%c0 : f16) outs(%v17 : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  %v19 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v16, %w3 : tensor<4x64x7x7xf16>, tensor<16x64x1x1xf16>) outs(%v18 : tensor<4x16x7x7xf16>) -> tensor<4x16x7x7xf16>
  %v20 = tensor.empty() : tensor<4x16x7x7xf16>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v19, %bn3_gamma, %bn3_beta, %bn3_mean, %bn3_var : tensor<4x16x7x7xf16>, tensor<16xf16>, tensor<16xf16>, tensor<16xf16>, tensor<16xf16>) outs(%v20 : tensor<4x16x7x7xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %a4: f16, %o: f16):
    %0 = arith.mulf %a4, %a4 : f16
    %1 = arith.addf %0, %c1 : f16
    %2 = math.rsqrt %1 : f16
    %3 = arith.subf %a0, %a3 : f16
    %4 = arith.mulf %3, %2 : f16
    %5 = arith.mulf %4, %a1 : f16
    %6 = arith.addf %5, %a2 : f16
    linalg.yield %6 : f16
  } -> tensor<4x16x7x7xf16>
  %v22 = tensor.empty() : tensor<4x16x7x7xf16>
  %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %v21 : tensor<4x16x7x7xf16>, tensor<4x16x7x7xf16>) outs(%v22 : tensor<4x16x7x7xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x16x7x7xf16>
  return %v23 : tensor<4x16x7x7xf16>
}

//--- convnext.mlir
func.func @convnext(%x: tensor<1x32x7x7xf16>, %w: tensor<32x1x7x7xf16>, %b: tensor<32xf16>, %g: tensor<32xf16>, %be: tensor<32xf16>, %w1: tensor<128x32xf16>, %b1: tensor<128xf16>, %w2: tensor<32x128xf16>, %b2: tensor<32xf16>, %ls: tensor<32xf16>) -> tensor<1x32x7x7xf16> {
  %c0 = arith.constant 0.0 : f16
  %c1 = arith.constant 32.0 : f16
  %c2 = arith.constant 1.001360e-05 : f16
  %c3 = arith.constant 0.70710678 : f16
  %c4 = arith.constant 1.0 : f16
  %c5 = arith.constant 0.5 : f16
  %v1 = tensor.pad %x low[0, 0, 3, 3] high[0, 0, 3, 3] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %c0 : f16
  } : tensor<1x32x7x7xf16> to tensor<1x32x13x13xf16>
  %v2 = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<32x1x7x7xf16> into tensor<32x7x7xf16>
  %v3 = tensor.empty() : tensor<1x32x7x7xf16>
  %v4 = linalg.broadcast ins(%b : tensor<32xf16>) outs(%v3 : tensor<1x32x7x7xf16>) dimensions = [0, 2, 3]
  %v5 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v1, %v2 : tensor<1x32x13x13xf16>, tensor<32x7x7xf16>) outs(%v4 : tensor<1x32x7x7xf16>) -> tensor<1x32x7x7xf16>
  %v6 = tensor.empty() : tensor<1x7x7x32xf16>
  %v7 = linalg.transpose ins(%v5 : tensor<1x32x7x7xf16>) outs(%v6 : tensor<1x7x7x32xf16>) permutation = [0, 2, 3, 1]
  %v8 = tensor.empty() : tensor<1x7x7x1xf16>
  %v9 = linalg.fill ins(%c0 : f16) outs(%v8 : tensor<1x7x7x1xf16>) -> tensor<1x7x7x1xf16>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v7 : tensor<1x7x7x32xf16>) outs(%v9 : tensor<1x7x7x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.addf %a0, %o : f16
    linalg.yield %0 : f16
  } -> tensor<1x7x7x1xf16>
  %v11 = tensor.empty() : tensor<1x7x7x1xf16>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v10 : tensor<1x7x7x1xf16>) outs(%v11 : tensor<1x7x7x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.divf %a0, %c1 : f16
    linalg.yield %0 : f16
  } -> tensor<1x7x7x1xf16>
  %v13 = tensor.empty() : tensor<1x7x7x32xf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v7, %v12 : tensor<1x7x7x32xf16>, tensor<1x7x7x1xf16>) outs(%v13 : tensor<1x7x7x32xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.subf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<1x7x7x32xf16>
  %v15 = tensor.empty() : tensor<1x7x7x1xf16>
  %v16 = linalg.fill ins(%c0 : f16) outs(%v15 : tensor<1x7x7x1xf16>) -> tensor<1x7x7x1xf16>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v14 : tensor<1x7x7x32xf16>) outs(%v16 : tensor<1x7x7x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %q = arith.mulf %a0, %a0 : f16
    %0 = arith.addf %q, %o : f16
    linalg.yield %0 : f16
  } -> tensor<1x7x7x1xf16>
  %v18 = tensor.empty() : tensor<1x7x7x1xf16>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v17 : tensor<1x7x7x1xf16>) outs(%v18 : tensor<1x7x7x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.divf %a0, %c1 : f16
    %1 = arith.addf %0, %c2 : f16
    %2 = math.rsqrt %1 : f16
    linalg.yield %2 : f16
  } -> tensor<1x7x7x1xf16>
  %v20 = tensor.empty() : tensor<1x7x7x32xf16>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v14, %v19, %g, %be : tensor<1x7x7x32xf16>, tensor<1x7x7x1xf16>, tensor<32xf16>, tensor<32xf16>) outs(%v20 : tensor<1x7x7x32xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %o: f16):
    %0 = arith.mulf %a0, %a1 : f16
    %1 = arith.mulf %0, %a2 : f16
    %2 = arith.addf %1, %a3 : f16
    linalg.yield %2 : f16
  } -> tensor<1x7x7x32xf16>
  %v22 = tensor.collapse_shape %v21 [[0], [1, 2], [3]] : tensor<1x7x7x32xf16> into tensor<1x49x32xf16>
  %v23 = tensor.empty() : tensor<32x128xf16>
  %v24 = linalg.transpose ins(%w1 : tensor<128x32xf16>) outs(%v23 : tensor<32x128xf16>) permutation = [1, 0]
  %v25 = tensor.empty() : tensor<1x32x128xf16>
  %v26 = linalg.broadcast ins(%v24 : tensor<32x128xf16>) outs(%v25 : tensor<1x32x128xf16>) dimensions = [0]
  %v27 = tensor.empty() : tensor<1x49x128xf16>
  %v28 = linalg.fill ins(%c0 : f16) outs(%v27 : tensor<1x49x128xf16>) -> tensor<1x49x128xf16>
  %v29 = linalg.batch_matmul ins(%v22, %v26 : tensor<1x49x32xf16>, tensor<1x32x128xf16>) outs(%v28 : tensor<1x49x128xf16>) -> tensor<1x49x128xf16>
  %v30 = tensor.empty() : tensor<1x49x128xf16>
  %v31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v29, %b1 : tensor<1x49x128xf16>, tensor<128xf16>) outs(%v30 : tensor<1x49x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<1x49x128xf16>
  %v32 = tensor.empty() : tensor<1x49x128xf16>
  %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v31 : tensor<1x49x128xf16>) outs(%v32 : tensor<1x49x128xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.mulf %a0, %c3 : f16
    %1 = math.erf %0 : f16
    %2 = arith.addf %1, %c4 : f16
    %3 = arith.mulf %2, %c5 : f16
    %4 = arith.mulf %a0, %3 : f16
    linalg.yield %4 : f16
  } -> tensor<1x49x128xf16>
  %v34 = tensor.empty() : tensor<128x32xf16>
  %v35 = linalg.transpose ins(%w2 : tensor<32x128xf16>) outs(%v34 : tensor<128x32xf16>) permutation = [1, 0]
  %v36 = tensor.empty() : tensor<1x128x32xf16>
  %v37 = linalg.broadcast ins(%v35 : tensor<128x32xf16>) outs(%v36 : tensor<1x128x32xf16>) dimensions = [0]
  %v38 = tensor.empty() : tensor<1x49x32xf16>
  %v39 = linalg.fill ins(%c0 : f16) outs(%v38 : tensor<1x49x32xf16>) -> tensor<1x49x32xf16>
  %v40 = linalg.batch_matmul ins(%v33, %v37 : tensor<1x49x128xf16>, tensor<1x128x32xf16>) outs(%v39 : tensor<1x49x32xf16>) -> tensor<1x49x32xf16>
  %v41 = tensor.empty() : tensor<1x49x32xf16>
  %v42 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v40, %b2 : tensor<1x49x32xf16>, tensor<32xf16>) outs(%v41 : tensor<1x49x32xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<1x49x32xf16>
  %v43 = tensor.empty() : tensor<1x49x32xf16>
  %v44 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v42, %ls : tensor<1x49x32xf16>, tensor<32xf16>) outs(%v43 : tensor<1x49x32xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.mulf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<1x49x32xf16>
  %v45 = tensor.expand_shape %v44 [[0], [1, 2], [3]] output_shape [1, 7, 7, 32] : tensor<1x49x32xf16> into tensor<1x7x7x32xf16>
  %v46 = tensor.empty() : tensor<1x32x7x7xf16>
  %v47 = linalg.transpose ins(%v45 : tensor<1x7x7x32xf16>) outs(%v46 : tensor<1x32x7x7xf16>) permutation = [0, 3, 1, 2]
  %v48 = tensor.empty() : tensor<1x32x7x7xf16>
  %v49 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %v47 : tensor<1x32x7x7xf16>, tensor<1x32x7x7xf16>) outs(%v48 : tensor<1x32x7x7xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<1x32x7x7xf16>
  return %v49 : tensor<1x32x7x7xf16>
}

//--- vision_transformer.mlir
func.func @vision_transformer(%x: tensor<4x3x16x16xf16>, %wp: tensor<128x3x8x8xf16>, %bp: tensor<128xf16>, %cls: tensor<1x1x128xf16>, %pos: tensor<1x5x128xf16>, %g1: tensor<128xf16>, %b1: tensor<128xf16>, %wq: tensor<128x128xf16>, %bbq: tensor<128xf16>, %wk: tensor<128x128xf16>, %bbk: tensor<128xf16>, %wv: tensor<128x128xf16>, %bbv: tensor<128xf16>, %wo: tensor<128x128xf16>, %bo: tensor<128xf16>, %g2: tensor<128xf16>, %b2: tensor<128xf16>, %w1: tensor<256x128xf16>, %bm1: tensor<256xf16>, %w2: tensor<128x256xf16>, %bm2: tensor<128xf16>) -> tensor<4x5x128xf16> {
  %c0 = arith.constant 0.0 : f16
  %c1 = arith.constant 128.0 : f16
  %c2 = arith.constant 1.001360e-05 : f16
  %c3 = arith.constant 0.125 : f16
  %c4 = arith.constant 0xFC00 : f16
  %c5 = arith.constant 0.70710678 : f16
  %c6 = arith.constant 1.0 : f16
  %c7 = arith.constant 0.5 : f16
  %v1 = tensor.empty() : tensor<4x128x2x2xf16>
  %v2 = linalg.broadcast ins(%bp : tensor<128xf16>) outs(%v1 : tensor<4x128x2x2xf16>) dimensions = [0, 2, 3]
  %v3 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<8> : vector<2xi64>} ins(%x, %wp : tensor<4x3x16x16xf16>, tensor<128x3x8x8xf16>) outs(%v2 : tensor<4x128x2x2xf16>) -> tensor<4x128x2x2xf16>
  %v4 = tensor.collapse_shape %v3 [[0], [1], [2, 3]] : tensor<4x128x2x2xf16> into tensor<4x128x4xf16>
  %v5 = tensor.empty() : tensor<4x4x128xf16>
  %v6 = linalg.transpose ins(%v4 : tensor<4x128x4xf16>) outs(%v5 : tensor<4x4x128xf16>) permutation = [0, 2, 1]
  %v7 = tensor.empty() : tensor<4x1x128xf16>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cls : tensor<1x1x128xf16>) outs(%v7 : tensor<4x1x128xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<4x1x128xf16>
  %v9 = tensor.concat dim(1) %v8, %v6 : (tensor<4x1x128xf16>, tensor<4x4x128xf16>) -> tensor<4x5x128xf16>
  %v10 = tensor.empty() : tensor<4x5x128xf16>
  %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v9, %pos : tensor<4x5x128xf16>, tensor<1x5x128xf16>) outs(%v10 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v12 = tensor.empty() : tensor<4x5x1xf16>
  %v13 = linalg.fill ins(%c0 : f16) outs(%v12 : tensor<4x5x1xf16>) -> tensor<4x5x1xf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v11 : tensor<4x5x128xf16>) outs(%v13 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.addf %a0, %o : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x1xf16>
  %v15 = tensor.empty() : tensor<4x5x1xf16>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v14 : tensor<4x5x1xf16>) outs(%v15 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.divf %a0, %c1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x1xf16>
  %v17 = tensor.empty() : tensor<4x5x128xf16>
  %v18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v11, %v16 : tensor<4x5x128xf16>, tensor<4x5x1xf16>) outs(%v17 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.subf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v19 = tensor.empty() : tensor<4x5x1xf16>
  %v20 = linalg.fill ins(%c0 : f16) outs(%v19 : tensor<4x5x1xf16>) -> tensor<4x5x1xf16>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v18 : tensor<4x5x128xf16>) outs(%v20 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %q = arith.mulf %a0, %a0 : f16
    %0 = arith.addf %q, %o : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x1xf16>
  %v22 = tensor.empty() : tensor<4x5x1xf16>
  %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v21 : tensor<4x5x1xf16>) outs(%v22 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.divf %a0, %c1 : f16
    %1 = arith.addf %0, %c2 : f16
    %2 = math.rsqrt %1 : f16
    linalg.yield %2 : f16
  } -> tensor<4x5x1xf16>
  %v24 = tensor.empty() : tensor<4x5x128xf16>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v18, %v23, %g1, %b1 : tensor<4x5x128xf16>, tensor<4x5x1xf16>, tensor<128xf16>, tensor<128xf16>) outs(%v24 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %o: f16):
    %0 = arith.mulf %a0, %a1 : f16
    %1 = arith.mulf %0, %a2 : f16
    %2 = arith.addf %1, %a3 : f16
    linalg.yield %2 : f16
  } -> tensor<4x5x128xf16>
  %v26 = tensor.empty() : tensor<128x128xf16>
  %v27 = linalg.transpose ins(%wq : tensor<128x128xf16>) outs(%v26 : tensor<128x128xf16>) permutation = [1, 0]
  %v28 = tensor.empty() : tensor<4x128x128xf16>
  %v29 = linalg.broadcast ins(%v27 : tensor<128x128xf16>) outs(%v28 : tensor<4x128x128xf16>) dimensions = [0]
  %v30 = tensor.empty() : tensor<4x5x128xf16>
  %v31 = linalg.fill ins(%c0 : f16) outs(%v30 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v32 = linalg.batch_matmul ins(%v25, %v29 : tensor<4x5x128xf16>, tensor<4x128x128xf16>) outs(%v31 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v33 = tensor.empty() : tensor<4x5x128xf16>
  %v34 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v32, %bbq : tensor<4x5x128xf16>, tensor<128xf16>) outs(%v33 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v35 = tensor.expand_shape %v34 [[0], [1], [2, 3]] output_shape [4, 5, 2, 64] : tensor<4x5x128xf16> into tensor<4x5x2x64xf16>
  %v36 = tensor.empty() : tensor<4x2x5x64xf16>
  %v37 = linalg.transpose ins(%v35 : tensor<4x5x2x64xf16>) outs(%v36 : tensor<4x2x5x64xf16>) permutation = [0, 2, 1, 3]
  %v38 = tensor.collapse_shape %v37 [[0, 1], [2], [3]] : tensor<4x2x5x64xf16> into tensor<8x5x64xf16>
  %v39 = tensor.empty() : tensor<128x128xf16>
  %v40 = linalg.transpose ins(%wk : tensor<128x128xf16>) outs(%v39 : tensor<128x128xf16>) permutation = [1, 0]
  %v41 = tensor.empty() : tensor<4x128x128xf16>
  %v42 = linalg.broadcast ins(%v40 : tensor<128x128xf16>) outs(%v41 : tensor<4x128x128xf16>) dimensions = [0]
  %v43 = tensor.empty() : tensor<4x5x128xf16>
  %v44 = linalg.fill ins(%c0 : f16) outs(%v43 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v45 = linalg.batch_matmul ins(%v25, %v42 : tensor<4x5x128xf16>, tensor<4x128x128xf16>) outs(%v44 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v46 = tensor.empty() : tensor<4x5x128xf16>
  %v47 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v45, %bbk : tensor<4x5x128xf16>, tensor<128xf16>) outs(%v46 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v48 = tensor.expand_shape %v47 [[0], [1], [2, 3]] output_shape [4, 5, 2, 64] : tensor<4x5x128xf16> into tensor<4x5x2x64xf16>
  %v49 = tensor.empty() : tensor<4x2x5x64xf16>
  %v50 = linalg.transpose ins(%v48 : tensor<4x5x2x64xf16>) outs(%v49 : tensor<4x2x5x64xf16>) permutation = [0, 2, 1, 3]
  %v51 = tensor.collapse_shape %v50 [[0, 1], [2], [3]] : tensor<4x2x5x64xf16> into tensor<8x5x64xf16>
  %v52 = tensor.empty() : tensor<128x128xf16>
  %v53 = linalg.transpose ins(%wv : tensor<128x128xf16>) outs(%v52 : tensor<128x128xf16>) permutation = [1, 0]
  %v54 = tensor.empty() : tensor<4x128x128xf16>
  %v55 = linalg.broadcast ins(%v53 : tensor<128x128xf16>) outs(%v54 : tensor<4x128x128xf16>) dimensions = [0]
  %v56 = tensor.empty() : tensor<4x5x128xf16>
  %v57 = linalg.fill ins(%c0 : f16) outs(%v56 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v58 = linalg.batch_matmul ins(%v25, %v55 : tensor<4x5x128xf16>, tensor<4x128x128xf16>) outs(%v57 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v59 = tensor.empty() : tensor<4x5x128xf16>
  %v60 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v58, %bbv : tensor<4x5x128xf16>, tensor<128xf16>) outs(%v59 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v61 = tensor.expand_shape %v60 [[0], [1], [2, 3]] output_shape [4, 5, 2, 64] : tensor<4x5x128xf16> into tensor<4x5x2x64xf16>
  %v62 = tensor.empty() : tensor<4x2x5x64xf16>
  %v63 = linalg.transpose ins(%v61 : tensor<4x5x2x64xf16>) outs(%v62 : tensor<4x2x5x64xf16>) permutation = [0, 2, 1, 3]
  %v64 = tensor.collapse_shape %v63 [[0, 1], [2], [3]] : tensor<4x2x5x64xf16> into tensor<8x5x64xf16>
  %v65 = tensor.empty() : tensor<8x64x5xf16>
  %v66 = linalg.transpose ins(%v51 : tensor<8x5x64xf16>) outs(%v65 : tensor<8x64x5xf16>) permutation = [0, 2, 1]
  %v67 = tensor.empty() : tensor<8x5x5xf16>
  %v68 = linalg.fill ins(%c0 : f16) outs(%v67 : tensor<8x5x5xf16>) -> tensor<8x5x5xf16>
  %v69 = linalg.batch_matmul ins(%v38, %v66 : tensor<8x5x64xf16>, tensor<8x64x5xf16>) outs(%v68 : tensor<8x5x5xf16>) -> tensor<8x5x5xf16>
  %v70 = tensor.empty() : tensor<8x5x5xf16>
  %v71 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v69 : tensor<8x5x5xf16>) outs(%v70 : tensor<8x5x5xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.mulf %a0, %c3 : f16
    linalg.yield %0 : f16
  } -> tensor<8x5x5xf16>
  %v72 = tensor.empty() : tensor<8x5x5xf16>
  %v74 = tensor.empty() : tensor<8x5x1xf16>
  %v75 = linalg.fill ins(%c4 : f16) outs(%v74 : tensor<8x5x1xf16>) -> tensor<8x5x1xf16>
  %v76 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v71 : tensor<8x5x5xf16>) outs(%v75 : tensor<8x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.maximumf %a0, %o : f16
    linalg.yield %0 : f16
  } -> tensor<8x5x1xf16>
  %v77 = tensor.empty() : tensor<8x5x5xf16>
  %v78 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v71, %v76 : tensor<8x5x5xf16>, tensor<8x5x1xf16>) outs(%v77 : tensor<8x5x5xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.subf %a0, %a1 : f16
    %1 = math.exp %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x5x5xf16>
  %v79 = tensor.empty() : tensor<8x5x1xf16>
  %v80 = linalg.fill ins(%c0 : f16) outs(%v79 : tensor<8x5x1xf16>) -> tensor<8x5x1xf16>
  %v81 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v78 : tensor<8x5x5xf16>) outs(%v80 : tensor<8x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.addf %a0, %o : f16
    linalg.yield %0 : f16
  } -> tensor<8x5x1xf16>
  %v82 = tensor.empty() : tensor<8x5x5xf16>
  %v83 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v78, %v81 : tensor<8x5x5xf16>, tensor<8x5x1xf16>) outs(%v82 : tensor<8x5x5xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.divf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<8x5x5xf16>
  %v84 = tensor.empty() : tensor<8x5x64xf16>
  %v85 = linalg.fill ins(%c0 : f16) outs(%v84 : tensor<8x5x64xf16>) -> tensor<8x5x64xf16>
  %v86 = linalg.batch_matmul ins(%v83, %v64 : tensor<8x5x5xf16>, tensor<8x5x64xf16>) outs(%v85 : tensor<8x5x64xf16>) -> tensor<8x5x64xf16>
  %v87 = tensor.expand_shape %v86 [[0, 1], [2], [3]] output_shape [4, 2, 5, 64] : tensor<8x5x64xf16> into tensor<4x2x5x64xf16>
  %v88 = tensor.empty() : tensor<4x5x2x64xf16>
  %v89 = linalg.transpose ins(%v87 : tensor<4x2x5x64xf16>) outs(%v88 : tensor<4x5x2x64xf16>) permutation = [0, 2, 1, 3]
  %v90 = tensor.collapse_shape %v89 [[0], [1], [2, 3]] : tensor<4x5x2x64xf16> into tensor<4x5x128xf16>
  %v91 = tensor.empty() : tensor<128x128xf16>
  %v92 = linalg.transpose ins(%wo : tensor<128x128xf16>) outs(%v91 : tensor<128x128xf16>) permutation = [1, 0]
  %v93 = tensor.empty() : tensor<4x128x128xf16>
  %v94 = linalg.broadcast ins(%v92 : tensor<128x128xf16>) outs(%v93 : tensor<4x128x128xf16>) dimensions = [0]
  %v95 = tensor.empty() : tensor<4x5x128xf16>
  %v96 = linalg.fill ins(%c0 : f16) outs(%v95 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v97 = linalg.batch_matmul ins(%v90, %v94 : tensor<4x5x128xf16>, tensor<4x128x128xf16>) outs(%v96 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v98 = tensor.empty() : tensor<4x5x128xf16>
  %v99 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v97, %bo : tensor<4x5x128xf16>, tensor<128xf16>) outs(%v98 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v100 = tensor.empty() : tensor<4x5x128xf16>
  %v101 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v11, %v99 : tensor<4x5x128xf16>, tensor<4x5x128xf16>) outs(%v100 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v102 = tensor.empty() : tensor<4x5x1xf16>
  %v103 = linalg.fill ins(%c0 : f16) outs(%v102 : tensor<4x5x1xf16>) -> tensor<4x5x1xf16>
  %v104 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v101 : tensor<4x5x128xf16>) outs(%v103 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.addf %a0, %o : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x1xf16>
  %v105 = tensor.empty() : tensor<4x5x1xf16>
  %v106 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v104 : tensor<4x5x1xf16>) outs(%v105 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.divf %a0, %c1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x1xf16>
  %v107 = tensor.empty() : tensor<4x5x128xf16>
  %v108 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v101, %v106 : tensor<4x5x128xf16>, tensor<4x5x1xf16>) outs(%v107 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.subf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v109 = tensor.empty() : tensor<4x5x1xf16>
  %v110 = linalg.fill ins(%c0 : f16) outs(%v109 : tensor<4x5x1xf16>) -> tensor<4x5x1xf16>
  %v111 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v108 : tensor<4x5x128xf16>) outs(%v110 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %q = arith.mulf %a0, %a0 : f16
    %0 = arith.addf %q, %o : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x1xf16>
  %v112 = tensor.empty() : tensor<4x5x1xf16>
  %v113 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v111 : tensor<4x5x1xf16>) outs(%v112 : tensor<4x5x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.divf %a0, %c1 : f16
    %1 = arith.addf %0, %c2 : f16
    %2 = math.rsqrt %1 : f16
    linalg.yield %2 : f16
  } -> tensor<4x5x1xf16>
  %v114 = tensor.empty() : tensor<4x5x128xf16>
  %v115 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v108, %v113, %g2, %b2 : tensor<4x5x128xf16>, tensor<4x5x1xf16>, tensor<128xf16>, tensor<128xf16>) outs(%v114 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %a2: f16, %a3: f16, %o: f16):
    %0 = arith.mulf %a0, %a1 : f16
    %1 = arith.mulf %0, %a2 : f16
    %2 = arith.addf %1, %a3 : f16
    linalg.yield %2 : f16
  } -> tensor<4x5x128xf16>
  %v116 = tensor.empty() : tensor<128x256xf16>
  %v117 = linalg.transpose ins(%w1 : tensor<256x128xf16>) outs(%v116 : tensor<128x256xf16>) permutation = [1, 0]
  %v118 = tensor.empty() : tensor<4x128x256xf16>
  %v119 = linalg.broadcast ins(%v117 : tensor<128x256xf16>) outs(%v118 : tensor<4x128x256xf16>) dimensions = [0]
  %v120 = tensor.empty() : tensor<4x5x256xf16>
  %v121 = linalg.fill ins(%c0 : f16) outs(%v120 : tensor<4x5x256xf16>) -> tensor<4x5x256xf16>
  %v122 = linalg.batch_matmul ins(%v115, %v119 : tensor<4x5x128xf16>, tensor<4x128x256xf16>) outs(%v121 : tensor<4x5x256xf16>) -> tensor<4x5x256xf16>
  %v123 = tensor.empty() : tensor<4x5x256xf16>
  %v124 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v122, %bm1 : tensor<4x5x256xf16>, tensor<256xf16>) outs(%v123 : tensor<4x5x256xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x256xf16>
  %v125 = tensor.empty() : tensor<4x5x256xf16>
  %v126 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v124 : tensor<4x5x256xf16>) outs(%v125 : tensor<4x5x256xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.mulf %a0, %c5 : f16
    %1 = math.erf %0 : f16
    %2 = arith.addf %1, %c6 : f16
    %3 = arith.mulf %2, %c7 : f16
    %4 = arith.mulf %a0, %3 : f16
    linalg.yield %4 : f16
  } -> tensor<4x5x256xf16>
  %v127 = tensor.empty() : tensor<256x128xf16>
  %v128 = linalg.transpose ins(%w2 : tensor<128x256xf16>) outs(%v127 : tensor<256x128xf16>) permutation = [1, 0]
  %v129 = tensor.empty() : tensor<4x256x128xf16>
  %v130 = linalg.broadcast ins(%v128 : tensor<256x128xf16>) outs(%v129 : tensor<4x256x128xf16>) dimensions = [0]
  %v131 = tensor.empty() : tensor<4x5x128xf16>
  %v132 = linalg.fill ins(%c0 : f16) outs(%v131 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v133 = linalg.batch_matmul ins(%v126, %v130 : tensor<4x5x256xf16>, tensor<4x256x128xf16>) outs(%v132 : tensor<4x5x128xf16>) -> tensor<4x5x128xf16>
  %v134 = tensor.empty() : tensor<4x5x128xf16>
  %v135 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v133, %bm2 : tensor<4x5x128xf16>, tensor<128xf16>) outs(%v134 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  %v136 = tensor.empty() : tensor<4x5x128xf16>
  %v137 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v101, %v135 : tensor<4x5x128xf16>, tensor<4x5x128xf16>) outs(%v136 : tensor<4x5x128xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x5x128xf16>
  return %v137 : tensor<4x5x128xf16>
}

//--- head.mlir
func.func @head(%x: tensor<4x96x7x7xf16>, %w: tensor<10x96xf16>, %b: tensor<10xf16>) -> tensor<4x10xf16> {
  %c0 = arith.constant 0.0 : f16
  %c1 = arith.constant 49.0 : f16
  %v1 = tensor.empty() : tensor<4x96x1x1xf16>
  %v2 = linalg.fill ins(%c0 : f16) outs(%v1 : tensor<4x96x1x1xf16>) -> tensor<4x96x1x1xf16>
  %v3 = tensor.empty() : tensor<7x7xf16>
  %v4 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %v3 : tensor<4x96x7x7xf16>, tensor<7x7xf16>) outs(%v2 : tensor<4x96x1x1xf16>) -> tensor<4x96x1x1xf16>
  %v5 = tensor.empty() : tensor<4x96x1x1xf16>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v4 : tensor<4x96x1x1xf16>) outs(%v5 : tensor<4x96x1x1xf16>) {
  ^bb0(%a0: f16, %o: f16):
    %0 = arith.divf %a0, %c1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x96x1x1xf16>
  %v7 = tensor.collapse_shape %v6 [[0], [1, 2, 3]] : tensor<4x96x1x1xf16> into tensor<4x96xf16>
  %v8 = tensor.empty() : tensor<96x10xf16>
  %v9 = linalg.transpose ins(%w : tensor<10x96xf16>) outs(%v8 : tensor<96x10xf16>) permutation = [1, 0]
  %v10 = tensor.empty() : tensor<4x10xf16>
  %v11 = linalg.fill ins(%c0 : f16) outs(%v10 : tensor<4x10xf16>) -> tensor<4x10xf16>
  %v12 = linalg.matmul ins(%v7, %v9 : tensor<4x96xf16>, tensor<96x10xf16>) outs(%v11 : tensor<4x10xf16>) -> tensor<4x10xf16>
  %v13 = tensor.empty() : tensor<4x10xf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v12, %b : tensor<4x10xf16>, tensor<10xf16>) outs(%v13 : tensor<4x10xf16>) {
  ^bb0(%a0: f16, %a1: f16, %o: f16):
    %0 = arith.addf %a0, %a1 : f16
    linalg.yield %0 : f16
  } -> tensor<4x10xf16>
  return %v14 : tensor<4x10xf16>
}
