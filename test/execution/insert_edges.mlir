// Parts and buffers of unusual shapes: one element a stick, one element in all, four dimensions, another order of the device dimensions than
// the buffer's, a slice of an argument.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/five --cores 5 > %t/log && spyre-run %t/five --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/baked --lx-planner none --addresses baked > %t/log && spyre-run %t/baked --check %t/linalg.mlir | FileCheck %s

// CHECK-COUNT-7: correct

//--- spyre.mlir
#outside = #spyre.layout<[4, 2, 8, 64], [1024, 64, 128, 1]>
func.func @edges(%x: tensor<64x128xf16>, %y: tensor<64x64xf16>, %z: tensor<4x8x128xf16>, %w: tensor<2x3x5x70xf32>, %v: tensor<2x3x2x70xf32>,
                 %one: tensor<1x1xf16>, %tail: tensor<70xf16>, %t: tensor<130xf16>)
  -> (tensor<128x1xf16>, tensor<64x65xf16>, tensor<8x8x128xf16>, tensor<2x3x7x70xf32>, tensor<2x1xf16>, tensor<1x65xf16>, tensor<198xf16>) {
  %max = spyre.reduce max(%x) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
  %sum = spyre.reduce sum(%y) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
  %column = spyre.empty : tensor<128x1xf16>
  %column_1 = spyre.insert %max into %column at [0, 0] : tensor<64x1xf16> into tensor<128x1xf16>
  %column_2 = spyre.insert %sum into %column_1 at [64, 0] : tensor<64x1xf16> into tensor<128x1xf16>
  %bordered = spyre.empty : tensor<64x65xf16>
  %bordered_1 = spyre.insert %max into %bordered at [0, 64] : tensor<64x1xf16> into tensor<64x65xf16>
  %bordered_2 = spyre.insert %y into %bordered_1 at [0, 0] : tensor<64x64xf16> into tensor<64x65xf16>
  %exp = spyre.pointwise exp(%z) : (tensor<4x8x128xf16>) -> tensor<4x8x128xf16, #outside>
  %batches = spyre.empty : tensor<8x8x128xf16>
  %batches_1 = spyre.insert %exp into %batches at [4, 0, 0] : tensor<4x8x128xf16, #outside> into tensor<8x8x128xf16>
  %batches_2 = spyre.insert %z into %batches_1 at [0, 0, 0] : tensor<4x8x128xf16> into tensor<8x8x128xf16>
  %four = spyre.empty : tensor<2x3x7x70xf32>
  %four_1 = spyre.insert %w into %four at [0, 0, 2, 0] : tensor<2x3x5x70xf32> into tensor<2x3x7x70xf32>
  %four_2 = spyre.insert %v into %four_1 at [0, 0, 0, 0] : tensor<2x3x2x70xf32> into tensor<2x3x7x70xf32>
  %pair = spyre.empty : tensor<2x1xf16>
  %pair_1 = spyre.insert %one into %pair at [1, 0] : tensor<1x1xf16> into tensor<2x1xf16>
  %pair_2 = spyre.insert %one into %pair_1 at [0, 0] : tensor<1x1xf16> into tensor<2x1xf16>
  %row_and_one = spyre.empty : tensor<1x65xf16>
  %row = spyre.view %y by affine_map<(d0, d1) -> (d0 + 7, d1)> : tensor<64x64xf16> -> tensor<1x64xf16>
  %row_and_one_1 = spyre.insert %row into %row_and_one at [0, 0] : tensor<1x64xf16> into tensor<1x65xf16>
  %row_and_one_2 = spyre.insert %one into %row_and_one_1 at [0, 64] : tensor<1x1xf16> into tensor<1x65xf16>
  %line = spyre.empty : tensor<198xf16>
  %head = spyre.view %t by affine_map<(d0) -> (d0)> : tensor<130xf16> -> tensor<128xf16>
  %line_1 = spyre.insert %head into %line at [0] : tensor<128xf16> into tensor<198xf16>
  %line_2 = spyre.insert %tail into %line_1 at [128] : tensor<70xf16> into tensor<198xf16>
  return %column_2, %bordered_2, %batches_2, %four_2, %pair_2, %row_and_one_2, %line_2
    : tensor<128x1xf16>, tensor<64x65xf16>, tensor<8x8x128xf16>, tensor<2x3x7x70xf32>, tensor<2x1xf16>, tensor<1x65xf16>, tensor<198xf16>
}

//--- linalg.mlir
func.func @edges(%x: tensor<64x128xf16>, %y: tensor<64x64xf16>, %z: tensor<4x8x128xf16>, %w: tensor<2x3x5x70xf32>, %v: tensor<2x3x2x70xf32>,
                 %one: tensor<1x1xf16>, %tail: tensor<70xf16>, %t: tensor<130xf16>)
  -> (tensor<128x1xf16>, tensor<64x65xf16>, tensor<8x8x128xf16>, tensor<2x3x7x70xf32>, tensor<2x1xf16>, tensor<1x65xf16>, tensor<198xf16>) {
  %lowest = arith.constant 0xFC00 : f16
  %zero = arith.constant 0.0 : f16
  %vector = tensor.empty() : tensor<64xf16>
  %lowest_rows = linalg.fill ins(%lowest : f16) outs(%vector : tensor<64xf16>) -> tensor<64xf16>
  %zero_rows = linalg.fill ins(%zero : f16) outs(%vector : tensor<64xf16>) -> tensor<64xf16>
  %max_rows = linalg.reduce { arith.maximumf } ins(%x : tensor<64x128xf16>) outs(%lowest_rows : tensor<64xf16>) dimensions = [1]
  %sum_rows = linalg.reduce { arith.addf } ins(%y : tensor<64x64xf16>) outs(%zero_rows : tensor<64xf16>) dimensions = [1]
  %max = tensor.expand_shape %max_rows [[0, 1]] output_shape [64, 1] : tensor<64xf16> into tensor<64x1xf16>
  %sum = tensor.expand_shape %sum_rows [[0, 1]] output_shape [64, 1] : tensor<64xf16> into tensor<64x1xf16>
  %column = tensor.concat dim(0) %max, %sum : (tensor<64x1xf16>, tensor<64x1xf16>) -> tensor<128x1xf16>
  %bordered = tensor.concat dim(1) %y, %max : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x65xf16>
  %empty = tensor.empty() : tensor<4x8x128xf16>
  %exp = linalg.exp ins(%z : tensor<4x8x128xf16>) outs(%empty : tensor<4x8x128xf16>) -> tensor<4x8x128xf16>
  %batches = tensor.concat dim(0) %z, %exp : (tensor<4x8x128xf16>, tensor<4x8x128xf16>) -> tensor<8x8x128xf16>
  %four = tensor.concat dim(2) %v, %w : (tensor<2x3x2x70xf32>, tensor<2x3x5x70xf32>) -> tensor<2x3x7x70xf32>
  %pair = tensor.concat dim(0) %one, %one : (tensor<1x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16>
  %row = tensor.extract_slice %y[7, 0][1, 64][1, 1] : tensor<64x64xf16> to tensor<1x64xf16>
  %row_and_one = tensor.concat dim(1) %row, %one : (tensor<1x64xf16>, tensor<1x1xf16>) -> tensor<1x65xf16>
  %head = tensor.extract_slice %t[0][128][1] : tensor<130xf16> to tensor<128xf16>
  %line = tensor.concat dim(0) %head, %tail : (tensor<128xf16>, tensor<70xf16>) -> tensor<198xf16>
  return %column, %bordered, %batches, %four, %pair, %row_and_one, %line
    : tensor<128x1xf16>, tensor<64x65xf16>, tensor<8x8x128xf16>, tensor<2x3x7x70xf32>, tensor<2x1xf16>, tensor<1x65xf16>, tensor<198xf16>
}
