// Buffers written in parts by ops whose results are in LX, and read by every family, through views and slices: two are alive at once, and
// all of them lie in the pool, or in HBM between launches.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --wipe-lx --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/unplanned --lx-planner none > %t/log && spyre-run %t/unplanned --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/baked --lx-planner none --addresses baked --loops unroll > %t/log
// RUN: spyre-run %t/baked --check %t/linalg.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct
// CHECK: result5: correct

//--- spyre.mlir
#slice = affine_map<(d0, d1) -> (d0 + 16, d1 + 64)>
#transpose = affine_map<(d0, d1) -> (d1, d0)>
#middle = affine_map<(d0, d1) -> (d0, d1 + 64)>
func.func @reads(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %wide: tensor<64x192xf16>, %weights: tensor<128x128xf16>)
    -> (tensor<64x128xf16>, tensor<64x1xf16>, tensor<64x128xf16>, tensor<32x64xf16>, tensor<128x64xf16>, tensor<64x128xf16>) {
  %exp = spyre.pointwise exp(%a) : tensor<64x64xf16>
  %abs = spyre.pointwise abs(%b) : tensor<64x64xf16>
  %x = spyre.empty : tensor<64x128xf16>
  %x_1 = spyre.insert %exp into %x at [0, 0] : tensor<64x64xf16> into tensor<64x128xf16>
  %y = spyre.empty : tensor<64x128xf16>
  %y_1 = spyre.insert %abs into %y at [0, 64] : tensor<64x64xf16> into tensor<64x128xf16>
  %x_2 = spyre.insert %abs into %x_1 at [0, 64] : tensor<64x64xf16> into tensor<64x128xf16>
  %y_2 = spyre.insert %exp into %y_1 at [0, 0] : tensor<64x64xf16> into tensor<64x128xf16>
  %sum = spyre.pointwise sub(%x_2, %y_2) : tensor<64x128xf16>
  %max = spyre.reduce max(%x_2) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
  %product = spyre.matmul(%y_2, %weights) : (tensor<64x128xf16>, tensor<128x128xf16>) -> tensor<64x128xf16>
  %slice = spyre.view %x_2 by #slice : tensor<64x128xf16> -> tensor<32x64xf16>
  %neg = spyre.pointwise neg(%slice) : tensor<32x64xf16>
  %transposed = spyre.view %y_2 by #transpose : tensor<64x128xf16> -> tensor<128x64xf16>
  %relu = spyre.pointwise relufwd(%transposed) : tensor<128x64xf16>
  %part = spyre.view %wide by #middle : tensor<64x192xf16> -> tensor<64x64xf16>
  %z = spyre.empty : tensor<64x128xf16>
  %z_1 = spyre.insert %part into %z at [0, 0] : tensor<64x64xf16> into tensor<64x128xf16>
  %of_x = spyre.view %x_2 by #middle : tensor<64x128xf16> -> tensor<64x64xf16>
  %z_2 = spyre.insert %of_x into %z_1 at [0, 64] : tensor<64x64xf16> into tensor<64x128xf16>
  return %sum, %max, %product, %neg, %relu, %z_2
    : tensor<64x128xf16>, tensor<64x1xf16>, tensor<64x128xf16>, tensor<32x64xf16>, tensor<128x64xf16>, tensor<64x128xf16>
}

//--- linalg.mlir
func.func @reads(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %wide: tensor<64x192xf16>, %weights: tensor<128x128xf16>)
    -> (tensor<64x128xf16>, tensor<64x1xf16>, tensor<64x128xf16>, tensor<32x64xf16>, tensor<128x64xf16>, tensor<64x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %lowest = arith.constant 0xFC00 : f16
  %square = tensor.empty() : tensor<64x64xf16>
  %empty = tensor.empty() : tensor<64x128xf16>
  %exp = linalg.exp ins(%a : tensor<64x64xf16>) outs(%square : tensor<64x64xf16>) -> tensor<64x64xf16>
  %abs = linalg.abs ins(%b : tensor<64x64xf16>) outs(%square : tensor<64x64xf16>) -> tensor<64x64xf16>
  %x = tensor.concat dim(1) %exp, %abs : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x128xf16>
  %y = tensor.concat dim(1) %exp, %abs : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x128xf16>
  %sum = linalg.sub ins(%x, %y : tensor<64x128xf16>, tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  %rows = tensor.empty() : tensor<64xf16>
  %none = linalg.fill ins(%lowest : f16) outs(%rows : tensor<64xf16>) -> tensor<64xf16>
  %reduced = linalg.reduce { arith.maximumf } ins(%x : tensor<64x128xf16>) outs(%none : tensor<64xf16>) dimensions = [1]
  %max = tensor.expand_shape %reduced [[0, 1]] output_shape [64, 1] : tensor<64xf16> into tensor<64x1xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  %product = linalg.matmul ins(%y, %weights : tensor<64x128xf16>, tensor<128x128xf16>) outs(%zeros : tensor<64x128xf16>) -> tensor<64x128xf16>
  %slice = tensor.extract_slice %x[16, 64] [32, 64] [1, 1] : tensor<64x128xf16> to tensor<32x64xf16>
  %half = tensor.empty() : tensor<32x64xf16>
  %neg = linalg.negf ins(%slice : tensor<32x64xf16>) outs(%half : tensor<32x64xf16>) -> tensor<32x64xf16>
  %tall = tensor.empty() : tensor<128x64xf16>
  %transposed = linalg.transpose ins(%y : tensor<64x128xf16>) outs(%tall : tensor<128x64xf16>) permutation = [1, 0]
  %zeros_tall = linalg.fill ins(%zero : f16) outs(%tall : tensor<128x64xf16>) -> tensor<128x64xf16>
  %relu = linalg.max ins(%transposed, %zeros_tall : tensor<128x64xf16>, tensor<128x64xf16>) outs(%tall : tensor<128x64xf16>) -> tensor<128x64xf16>
  %part = tensor.extract_slice %wide[0, 64] [64, 64] [1, 1] : tensor<64x192xf16> to tensor<64x64xf16>
  %of_x = tensor.extract_slice %x[0, 64] [64, 64] [1, 1] : tensor<64x128xf16> to tensor<64x64xf16>
  %z_1 = tensor.insert_slice %part into %empty[0, 0] [64, 64] [1, 1] : tensor<64x64xf16> into tensor<64x128xf16>
  %z_2 = tensor.insert_slice %of_x into %z_1[0, 64] [64, 64] [1, 1] : tensor<64x64xf16> into tensor<64x128xf16>
  return %sum, %max, %product, %neg, %relu, %z_2
    : tensor<64x128xf16>, tensor<64x1xf16>, tensor<64x128xf16>, tensor<32x64xf16>, tensor<128x64xf16>, tensor<64x128xf16>
}
