// Operands of one op that begin at one byte of one buffer and move otherwise: each has its own address.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/rows.mlir -o %t/rows --tiles A=4 > %t/log && spyre-run %t/rows --check %t/rows.mlir | FileCheck %s
// RUN: spyre-compile %t/rows.mlir -o %t/unrolled --tiles A=4 --loops unroll > %t/log && spyre-run %t/unrolled --check %t/rows.mlir | FileCheck %s
// RUN: spyre-compile %t/square.mlir -o %t/square --tiles A=2 > %t/log && spyre-run %t/square --check %t/square.mlir | FileCheck %s
// RUN: spyre-compile %t/first.mlir -o %t/first --tiles B=2,S=4 > %t/log && spyre-run %t/first --check %t/first.mlir | FileCheck %s
// RUN: spyre-compile %t/first.mlir -o %t/batch --tiles B=2 > %t/log && spyre-run %t/batch --check %t/first.mlir | FileCheck %s
// RUN: spyre-compile %t/pool.mlir -o %t/pool --tiles C=2 --lx-planner none --cores 16 > %t/log && spyre-run %t/pool --check %t/pool.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SYMBOLS --input-file %t/rows/bundle_0/bundle.mlir

// CHECK: correct

// The row is the kernel argument itself, its tiles are another address in each iteration.
// SYMBOLS: [[TILE:%addr_[0-9]+]] = affine.apply #map_{{[0-9]+}}(%i_0)[%arg_0]
// SYMBOLS: sdsc_execute ({{.*}}[[TILE]],{{.*}}%arg_0,

//--- rows.mlir
// Every row less the first one.
func.func @rows(%x: tensor<64x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x128xf16> {
  %row = tensor.extract_slice %x[0, 0] [1, 128] [1, 1] : tensor<64x128xf16> to tensor<128xf16>
  %empty = tensor.empty() : tensor<64x128xf16>
  %less = linalg.generic {
      indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]}
    ins(%x, %row : tensor<64x128xf16>, tensor<128xf16>) outs(%empty : tensor<64x128xf16>) {
  ^bb0(%one: f16, %other: f16, %out: f16):
    %difference = arith.subf %one, %other : f16
    linalg.yield %difference : f16
  } -> tensor<64x128xf16>
  return %less : tensor<64x128xf16>
}

//--- square.mlir
func.func @square(%x: tensor<128x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x128xf16> {
  %zero = arith.constant dense<0.0> : tensor<128x128xf16>
  %square = linalg.matmul ins(%x, %x : tensor<128x128xf16>, tensor<128x128xf16>) outs(%zero : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %square : tensor<128x128xf16>
}

//--- first.mlir
// Every token of a sequence by the first one of it: both move along the batch, one along the sequence.
func.func @first(%x: tensor<2x64x128xf16> {spyre.dims = ["B", "S", "D"]}) -> tensor<2x64x128xf16> {
  %first = tensor.extract_slice %x[0, 0, 0] [2, 1, 128] [1, 1, 1] : tensor<2x64x128xf16> to tensor<2x128xf16>
  %empty = tensor.empty() : tensor<2x64x128xf16>
  %product = linalg.generic {
      indexing_maps = [affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, d)>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %first : tensor<2x64x128xf16>, tensor<2x128xf16>) outs(%empty : tensor<2x64x128xf16>) {
  ^bb0(%one: f16, %other: f16, %out: f16):
    %product = arith.mulf %one, %other : f16
    linalg.yield %product : f16
  } -> tensor<2x64x128xf16>
  return %product : tensor<2x64x128xf16>
}

//--- pool.mlir
// Two rows of an intermediate against all of it: the starts of some cores' rows are those of the two.
func.func @pool(%x: tensor<48x4xf16> {spyre.dims = ["C", "D"]}) -> tensor<2x4x48xf16> {
  %empty = tensor.empty() : tensor<48x4xf16>
  %y = linalg.exp ins(%x : tensor<48x4xf16>) outs(%empty : tensor<48x4xf16>) -> tensor<48x4xf16>
  %part = tensor.extract_slice %y[8, 0] [2, 4] [1, 1] : tensor<48x4xf16> to tensor<2x4xf16>
  %all = tensor.empty() : tensor<2x4x48xf16>
  %least = linalg.generic {
      indexing_maps = [affine_map<(i, d, c) -> (i, d)>, affine_map<(i, d, c) -> (c, d)>, affine_map<(i, d, c) -> (i, d, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%part, %y : tensor<2x4xf16>, tensor<48x4xf16>) outs(%all : tensor<2x4x48xf16>) {
  ^bb0(%one: f16, %other: f16, %out: f16):
    %minimum = arith.minimumf %one, %other : f16
    linalg.yield %minimum : f16
  } -> tensor<2x4x48xf16>
  return %least : tensor<2x4x48xf16>
}
