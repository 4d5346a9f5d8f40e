// Parts that no relayout reads where they are: constants that are inserted with a stride, windows of flattened f32 values that are computed in
// 16 bits, repeated vectors beside others, weights that are slices of rows, concatenations with empty tensors,
// three dimensions of rows that share a matrix, six dimensions as rows of a length that divides none.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/constants.mlir -o %t/constants --validate > %t.log && spyre-run %t/constants --check %t/parts/constants.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/shifted.mlir -o %t/shifted --validate > %t.log && spyre-run %t/shifted --check %t/parts/shifted.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/repeated.mlir -o %t/repeated --validate > %t.log && spyre-run %t/repeated --check %t/parts/repeated.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/weights.mlir -o %t/weights --validate > %t.log && spyre-run %t/weights --check %t/parts/weights.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/empty.mlir -o %t/empty --validate > %t.log && spyre-run %t/empty --check %t/parts/empty.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/list.mlir -o %t/list --validate=auto > %t.list.log && spyre-run %t/list --check %t/parts/list.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=LIST < %t.list.log
// RUN: spyre-compile %t/parts/shared.mlir -o %t/shared --validate > %t.log && spyre-run %t/shared --check %t/parts/shared.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/regrouped.mlir -o %t/regrouped --validate > %t.log && spyre-run %t/regrouped --check %t/parts/regrouped.mlir | FileCheck %s

// The list is moved by a copy, which samples do not execute: that is no fault of the files.
// LIST: not compared with the program as written{{.*}}not simulated
// CHECK: result0: correct
// CHECK-NOT: error[

//--- constants.mlir
func.func @main(%x: tensor<7x19xf16>) -> tensor<7x19xf16> {
  %zero = arith.constant dense<0.0> : tensor<7x7xf16>
  %zeros = arith.constant dense<0.0> : tensor<7x19xf16>
  %two = arith.constant -2.0 : f16
  %wide = tensor.pad %zero low[0, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f16
  } : tensor<7x7xf16> to tensor<7x9xf16>
  %apart = tensor.insert_slice %wide into %zeros[0, 1] [7, 9] [1, 2] : tensor<7x9xf16> into tensor<7x19xf16>
  %y = arith.addf %apart, %x : tensor<7x19xf16>
  return %y : tensor<7x19xf16>
}

//--- shifted.mlir
func.func @main(%x: tensor<13x18xf32>, %w: tensor<9x9xf32>) -> tensor<13x9xf32> {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<13x18xf32> into tensor<234xf32>
  %window = tensor.extract_slice %flat[13] [221] [1] : tensor<234xf32> to tensor<221xf32>
  %rows = tensor.expand_shape %window [[0, 1]] output_shape [13, 17] : tensor<221xf32> into tensor<13x17xf32>
  %part = tensor.extract_slice %rows[0, 0] [13, 9] [1, 1] : tensor<13x17xf32> to tensor<13x9xf32>
  %zero = arith.constant dense<0.0> : tensor<13x9xf32>
  %y = linalg.matmul ins(%part, %w : tensor<13x9xf32>, tensor<9x9xf32>) outs(%zero : tensor<13x9xf32>) -> tensor<13x9xf32>
  return %y : tensor<13x9xf32>
}

//--- repeated.mlir
func.func @main(%x: tensor<10xf16>) -> tensor<40xf16> {
  %e = tensor.empty() : tensor<3x10xf16>
  %rows = linalg.broadcast ins(%x : tensor<10xf16>) outs(%e : tensor<3x10xf16>) dimensions = [0]
  %repeated = tensor.collapse_shape %rows [[0, 1]] : tensor<3x10xf16> into tensor<30xf16>
  %both = tensor.concat dim(0) %repeated, %x : (tensor<30xf16>, tensor<10xf16>) -> tensor<40xf16>
  return %both : tensor<40xf16>
}

//--- weights.mlir
func.func @main(%x: tensor<2x13x17xf16>, %v: tensor<5x43xf16>) -> tensor<2x5x15xf16> {
  %window = tensor.extract_slice %v[0, 1] [5, 39] [1, 1] : tensor<5x43xf16> to tensor<5x39xf16>
  %w = tensor.expand_shape %window [[0], [1, 2]] output_shape [5, 13, 3] : tensor<5x39xf16> into tensor<5x13x3xf16>
  %zero = arith.constant dense<0.0> : tensor<2x5x15xf16>
  %y = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x, %w : tensor<2x13x17xf16>, tensor<5x13x3xf16>) outs(%zero : tensor<2x5x15xf16>) -> tensor<2x5x15xf16>
  return %y : tensor<2x5x15xf16>
}

//--- empty.mlir
func.func @main(%x: tensor<4x20xf16>) -> tensor<4x20xf16> {
  %none = tensor.extract_slice %x[0, 0] [4, 0] [1, 1] : tensor<4x20xf16> to tensor<4x0xf16>
  %hidden = tensor.cast %none : tensor<4x0xf16> to tensor<4x?xf16>
  %rolled = tensor.concat dim(1) %hidden, %x : (tensor<4x?xf16>, tensor<4x20xf16>) -> tensor<4x20xf16>
  %y = arith.negf %rolled : tensor<4x20xf16>
  return %y : tensor<4x20xf16>
}

//--- list.mlir
func.func @main(%table: tensor<2048x2048xf16>, %ids: tensor<2x16xi64>) -> tensor<2x2048xf16> {
  %last = tensor.extract_slice %ids[0, 15] [2, 1] [1, 1] : tensor<2x16xi64> to tensor<2xi64>
  %e = tensor.empty() : tensor<2x2048xf16>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%last : tensor<2xi64>) outs(%e : tensor<2x2048xf16>) {
  ^bb0(%id: i64, %out: f16):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%row, %column] : tensor<2048x2048xf16>
    linalg.yield %element : f16
  } -> tensor<2x2048xf16>
  return %rows : tensor<2x2048xf16>
}

//--- shared.mlir
func.func @main(%v0: tensor<2x2x2x1x2xf16>, %v2: tensor<2x3xf16>) -> (tensor<2x2x2x3xf16>) {
  %v1 = tensor.collapse_shape %v0 [[0], [1], [2, 3], [4]] : tensor<2x2x2x1x2xf16> into tensor<2x2x2x2xf16>
  %e3 = tensor.empty() : tensor<2x2x2x3xf16>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v2 : tensor<2x3xf16>) outs(%e3 : tensor<2x2x2x3xf16>) {
  ^bb0(%x0: f16, %out: f16):
    linalg.yield %x0 : f16
  } -> tensor<2x2x2x3xf16>
  %e4 = tensor.empty() : tensor<2x2x2x3xf16>
  %c4 = arith.constant 0.0 : f16
  %f4 = linalg.fill ins(%c4 : f16) outs(%e4 : tensor<2x2x2x3xf16>) -> tensor<2x2x2x3xf16>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%v1, %v3 : tensor<2x2x2x2xf16>, tensor<2x2x2x3xf16>) outs(%f4 : tensor<2x2x2x3xf16>) {
  ^bb0(%x0: f16, %x1: f16, %out: f16):
    %q0 = arith.mulf %x0, %x1 : f16
    %q1 = arith.addf %q0, %out : f16
    linalg.yield %q1 : f16
  } -> tensor<2x2x2x3xf16>
  return %v4 : tensor<2x2x2x3xf16>
}

//--- regrouped.mlir
func.func @main(%v2: tensor<16x3x11x2x2x3xf16>) -> (tensor<576x11xf16>) {
  %e2 = tensor.empty() : tensor<16x3x11x2x2x3xf16>
  %y = linalg.exp ins(%v2: tensor<16x3x11x2x2x3xf16>) outs(%e2 : tensor<16x3x11x2x2x3xf16>) -> tensor<16x3x11x2x2x3xf16>
  %v3 = tensor.collapse_shape %y [[0, 1, 2, 3, 4, 5]] : tensor<16x3x11x2x2x3xf16> into tensor<6336xf16>
  %v4 = tensor.expand_shape %v3 [[0, 1]] output_shape [576, 11] : tensor<6336xf16> into tensor<576x11xf16>
  return %v4 : tensor<576x11xf16>
}
