// RUN: spyre-opt %s --spyre-import-linalg --split-input-file | FileCheck %s

// Convolutions, poolings and unfoldings: a kernel is a sum over its points, each of which reads a shifted part of the operand.

// One product a point; the second dimension of the kernel is dilated.
// CHECK-LABEL: func @convolution
// CHECK: %[[X0:.*]] = spyre.view %arg0 by #{{.*}} : tensor<1x6x9x64xf16> -> tensor<5x5x64xf16>
// CHECK: %[[W0:.*]] = spyre.view %arg1 by #{{.*}} : tensor<2x2x64x128xf16> -> tensor<5x64x128xf16>
// CHECK: %[[Y0:.*]] = spyre.matmul(%[[X0]], %[[W0]])
// CHECK: %[[Y1:.*]] = spyre.matmul
// CHECK: spyre.pointwise add
// CHECK: spyre.matmul
// CHECK: spyre.pointwise add
// CHECK: spyre.matmul
// CHECK: spyre.pointwise add
// CHECK-NOT: spyre.matmul
func.func @convolution(%x: tensor<1x6x9x64xf16>, %w: tensor<2x2x64x128xf16>) -> tensor<1x5x5x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x5x5x128xf16>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 4]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x6x9x64xf16>, tensor<2x2x64x128xf16>) outs(%zero : tensor<1x5x5x128xf16>) -> tensor<1x5x5x128xf16>
  return %y : tensor<1x5x5x128xf16>
}

// -----

// A kernel of one point is no window: one product, with channels in the columns though the result has them outside.
// CHECK-LABEL: func @one_point
// CHECK: spyre.matmul(%{{.*}}, %{{.*}}) : (tensor<7x7x96xf16>, tensor<7x96x16xf16>) -> tensor<7x7x16xf16>
// CHECK-NOT: spyre.matmul
func.func @one_point(%x: tensor<1x96x7x7xf16>, %w: tensor<16x96x1x1xf16>) -> tensor<1x16x7x7xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x16x7x7xf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x96x7x7xf16>, tensor<16x96x1x1xf16>) outs(%zero : tensor<1x16x7x7xf16>) -> tensor<1x16x7x7xf16>
  return %y : tensor<1x16x7x7xf16>
}

// -----

// Patches that do not overlap are dimensions of their own: one product.
// CHECK-LABEL: func @patches
// CHECK: spyre.matmul(%{{.*}}, %{{.*}}) : (tensor<2x2x768xf16>, tensor<2x768x192xf16>) -> tensor<2x2x192xf16>
// CHECK-NOT: spyre.matmul
func.func @patches(%x: tensor<1x3x32x32xf16>, %w: tensor<192x3x16x16xf16>) -> tensor<1x192x2x2xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x192x2x2xf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<16> : tensor<2xi64>} ins(%x, %w : tensor<1x3x32x32xf16>, tensor<192x3x16x16xf16>) outs(%zero : tensor<1x192x2x2xf16>) -> tensor<1x192x2x2xf16>
  return %y : tensor<1x192x2x2xf16>
}

// -----

// Patches that have a stick of channels at each point are not gathered: a product a point.
// CHECK-LABEL: func @patches_of_sticks
// CHECK: spyre.matmul(%{{.*}}, %{{.*}}) : (tensor<3x3x96xf16>, tensor<3x96x192xf16>) -> tensor<3x3x192xf16>
// CHECK-COUNT-3: spyre.pointwise add
func.func @patches_of_sticks(%x: tensor<1x96x6x6xf16>, %w: tensor<192x96x2x2xf16>) -> tensor<1x192x3x3xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x192x3x3xf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x96x6x6xf16>, tensor<192x96x2x2xf16>) outs(%zero : tensor<1x192x3x3xf16>) -> tensor<1x192x3x3xf16>
  return %y : tensor<1x192x3x3xf16>
}

// -----

// A stride that does not divide what it is read in: a border is added, which nobody reads.
// CHECK-LABEL: func @stride
// CHECK: %[[WIDE:.*]] = spyre.empty : tensor<1x8x8x64xf16>
// CHECK: %[[X:.*]] = spyre.insert %arg0 into %{{.*}} at [0, 0, 0, 0] : tensor<1x7x7x64xf16> into tensor<1x8x8x64xf16>
// CHECK: spyre.view %[[X]] by #{{.*}} : tensor<1x8x8x64xf16> -> tensor<3x3x64xf16>
func.func @stride(%x: tensor<1x7x7x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<1x3x3x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x3x3x128xf16>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x7x7x64xf16>, tensor<3x3x64x128xf16>) outs(%zero : tensor<1x3x3x128xf16>) -> tensor<1x3x3x128xf16>
  return %y : tensor<1x3x3x128xf16>
}

// -----

// The padding of the program is made wider instead of being copied.
// CHECK-LABEL: func @padded_stride
// CHECK: spyre.empty : tensor<1x10x10x64xf16>
// CHECK-NOT: spyre.empty
func.func @padded_stride(%x: tensor<1x7x7x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<1x4x4x128xf16> {
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<1x7x7x64xf16> to tensor<1x9x9x64xf16>
  %zeros = arith.constant dense<0.0> : tensor<1x4x4x128xf16>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<1x9x9x64xf16>, tensor<3x3x64x128xf16>) outs(%zeros : tensor<1x4x4x128xf16>) -> tensor<1x4x4x128xf16>
  return %y : tensor<1x4x4x128xf16>
}

// -----

// Depthwise: a product of elements a point.
// CHECK-LABEL: func @depthwise
// CHECK: spyre.pointwise mul(%{{.*}}, %{{.*}}) : (tensor<1x8x64xf16>, tensor<1x1x64xf16>) -> tensor<1x8x64xf16>
// CHECK: spyre.pointwise mul
// CHECK: spyre.pointwise add
// CHECK: spyre.pointwise mul
// CHECK: spyre.pointwise add
func.func @depthwise(%x: tensor<1x64x10xf16>, %w: tensor<64x3xf16>) -> tensor<1x64x8xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x64x8xf16>
  %y = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x, %w : tensor<1x64x10xf16>, tensor<64x3xf16>) outs(%zero : tensor<1x64x8xf16>) -> tensor<1x64x8xf16>
  return %y : tensor<1x64x8xf16>
}

// -----

// Poolings go dimension by dimension: two maxima for each of two.
// CHECK-LABEL: func @pooling
// CHECK: spyre.empty : tensor<1x64x10x10xf16>
// CHECK-NOT: spyre.empty
// CHECK-COUNT-4: spyre.pointwise maximum
// CHECK-NOT: spyre.pointwise
// CHECK-NOT: spyre.reduce
func.func @pooling(%x: tensor<1x64x9x9xf16>) -> tensor<1x64x4x4xf16> {
  %start = arith.constant dense<0xFC00> : tensor<1x64x4x4xf16>
  %window = tensor.empty() : tensor<3x3xf16>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<1x64x9x9xf16>, tensor<3x3xf16>) outs(%start : tensor<1x64x4x4xf16>) -> tensor<1x64x4x4xf16>
  return %y : tensor<1x64x4x4xf16>
}

// -----

// Windows that do not overlap are reduced.
// CHECK-LABEL: func @pooling_apart
// CHECK-COUNT-2: spyre.reduce max
func.func @pooling_apart(%x: tensor<1x64x8x8xf16>) -> tensor<1x64x4x4xf16> {
  %start = arith.constant dense<0xFC00> : tensor<1x64x4x4xf16>
  %window = tensor.empty() : tensor<2x2xf16>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<1x64x8x8xf16>, tensor<2x2xf16>) outs(%start : tensor<1x64x4x4xf16>) -> tensor<1x64x4x4xf16>
  return %y : tensor<1x64x4x4xf16>
}

// -----

// A window of 13 is one of 8, one of 4 and one of 1, each made of halves.
// CHECK-LABEL: func @long_windows
// CHECK-COUNT-5: spyre.pointwise add
// CHECK-NOT: spyre.pointwise
func.func @long_windows(%x: tensor<1x60x64xf16>) -> tensor<1x48x64xf16> {
  %start = arith.constant dense<0.0> : tensor<1x48x64xf16>
  %window = tensor.empty() : tensor<13xf16>
  %y = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x, %window : tensor<1x60x64xf16>, tensor<13xf16>) outs(%start : tensor<1x48x64xf16>) -> tensor<1x48x64xf16>
  return %y : tensor<1x48x64xf16>
}

// -----

// Windows in the result as well are copied one by one.
// CHECK-LABEL: func @unfolding
// CHECK: spyre.empty : tensor<8x3x64xf16>
// CHECK: spyre.insert %{{.*}} into %{{.*}} at [0, 0, 0] : tensor<8x1x64xf16> into tensor<8x3x64xf16>
// CHECK: spyre.insert %{{.*}} into %{{.*}} at [0, 1, 0] : tensor<8x1x64xf16> into tensor<8x3x64xf16>
// CHECK: spyre.insert %{{.*}} into %{{.*}} at [0, 2, 0] : tensor<8x1x64xf16> into tensor<8x3x64xf16>
func.func @unfolding(%x: tensor<10x64xf16>) -> tensor<8x3x64xf16> {
  %shape = tensor.empty() : tensor<8x3x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<10x64xf16>) outs(%shape : tensor<8x3x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<8x3x64xf16>
  return %y : tensor<8x3x64xf16>
}

// -----

// The index within a window is a number at each of its points.
// CHECK-LABEL: func @index_in_a_window
// CHECK: spyre.constant dense<0.000000e+00>
// CHECK: spyre.pointwise mul
// CHECK: spyre.pointwise add
// CHECK: spyre.constant dense<2.000000e+00>
// CHECK: spyre.pointwise mul
// CHECK: spyre.pointwise add
func.func @index_in_a_window(%x: tensor<10x64xf16>) -> tensor<8x64xf16> {
  %start = arith.constant dense<0.0> : tensor<8x64xf16>
  %window = tensor.empty() : tensor<3xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %window : tensor<10x64xf16>, tensor<3xf16>) outs(%start : tensor<8x64xf16>) {
  ^bb0(%in: f16, %point: f16, %sum: f16):
    %index = linalg.index 2 : index
    %integer = arith.index_cast %index : index to i32
    %weight = arith.sitofp %integer : i32 to f16
    %product = arith.mulf %in, %weight : f16
    %next = arith.addf %sum, %product : f16
    linalg.yield %next : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// Groups of a part of a stick of channels: one product over all groups, with weights that are 0 between different ones.
// CHECK-LABEL: func @narrow_groups
// CHECK: %[[W:.*]] = spyre.view %{{.*}} by #{{.*}} : tensor<2x32x8x1x1xf16> -> tensor<16x64xf16>
// CHECK: %[[MASK:.*]] = spyre.constant dense<"0x{{.*}}"> : tensor<16x64xf16>
// CHECK: %[[MASKED:.*]] = spyre.pointwise where3(%[[MASK]], %[[W]], %{{.*}})
// CHECK: %[[RIGHT:.*]] = spyre.view %[[MASKED]]
// CHECK: spyre.matmul(%{{.*}}, %[[RIGHT]]) : (tensor<7x7x16xf16>, tensor<7x16x64xf16>) -> tensor<7x7x64xf16>
func.func @narrow_groups(%x: tensor<1x16x7x7xf16>, %w: tensor<64x8x1x1xf16>) -> tensor<1x2x32x7x7xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x2x32x7x7xf16>
  %groups = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [1, 2, 8, 7, 7] : tensor<1x16x7x7xf16> into tensor<1x2x8x7x7xf16>
  %filters = tensor.expand_shape %w [[0, 1], [2], [3], [4]] output_shape [2, 32, 8, 1, 1] : tensor<64x8x1x1xf16> into tensor<2x32x8x1x1xf16>
  %y = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%groups, %filters : tensor<1x2x8x7x7xf16>, tensor<2x32x8x1x1xf16>) outs(%zero : tensor<1x2x32x7x7xf16>) -> tensor<1x2x32x7x7xf16>
  return %y : tensor<1x2x32x7x7xf16>
}

// -----

// Sums of integers in windows that overlap, as a running sum is written: of numbers, which become integers again.
// CHECK-LABEL: func.func @integers_in_windows(
// CHECK-SAME:    [[X:%.+]]: tensor<20xi32>
// CHECK-COUNT-4: spyre.pointwise add(%{{.+}}, %{{.+}}) : tensor<16xf32>
// CHECK:         [[SUM:%.+]] = spyre.view %{{.+}} : tensor<16xf32> -> tensor<16xi32>
// CHECK-NEXT:    return [[SUM]]
func.func @integers_in_windows(%x: tensor<20xi32>) -> tensor<16xi32> {
  %zero = arith.constant dense<0> : tensor<16xi32>
  %window = tensor.empty() : tensor<5xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %window : tensor<20xi32>, tensor<5xi32>) outs(%zero : tensor<16xi32>) {
  ^bb0(%in: i32, %w: i32, %out: i32):
    %sum = arith.addi %out, %in : i32
    linalg.yield %sum : i32
  } -> tensor<16xi32>
  return %y : tensor<16xi32>
}

// -----

// Windows of many points are summed in blocks of eight, and the blocks in a tree: in a row, the last point is rounded once and the first one
// 16 times.
// CHECK-LABEL: func.func @many_points(
// CHECK-COUNT-6: spyre.pointwise add(
// CHECK:         [[FIRST:%.+]] = spyre.pointwise add(
// CHECK-COUNT-6: spyre.pointwise add(
// CHECK:         [[SECOND:%.+]] = spyre.pointwise add(
// CHECK:         [[BLOCKS:%.+]] = spyre.pointwise add([[FIRST]], [[SECOND]])
// CHECK:         [[SUM:%.+]] = spyre.pointwise add([[BLOCKS]], %{{.+}})
func.func @many_points(%x: tensor<80x64xf16>, %w: tensor<17x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<80x64xf16>, tensor<17x64xf16>) outs(%zero : tensor<64x64xf16>) {
  ^bb0(%in: f16, %factor: f16, %out: f16):
    %product = arith.mulf %in, %factor : f16
    %sum = arith.addf %out, %product : f16
    linalg.yield %sum : f16
  } -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
