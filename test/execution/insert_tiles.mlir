// A loop makes the parts, tile by tile, and another reads the buffer: the inserts stand between them.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/baked --addresses baked --loops unroll > %t/log && spyre-run %t/baked --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/columns.mlir -o %t/columns --tiles A=4 > %t/log && spyre-run %t/columns --check %t/columns.mlir | FileCheck %s --check-prefix=COLUMNS

// In a tiled scope the two inserts stand in the loop, and the first part is made in its place.
// COLUMNS: bundle_0: 12 executes
// COLUMNS: result0: correct

// CHECK: bundle_0: 24 executes
// CHECK: result0: correct

//--- spyre.mlir
func.func @tiles(%x: tensor<64x128xf16> {spyre.dims = ["A", "B"]}, %y: tensor<64x128xf16> {spyre.dims = ["A", "B"]}) -> tensor<128x128xf16> {
  %parts:2 = spyre.hint tiles(A = 4) {
    %exp = spyre.pointwise exp(%x) : tensor<64x128xf16>
    %abs = spyre.pointwise abs(%y) : tensor<64x128xf16>
    spyre.yield %exp, %abs : tensor<64x128xf16>, tensor<64x128xf16>
  }
  %buffer = spyre.empty : tensor<128x128xf16>
  %upper = spyre.insert %parts#0 into %buffer at [0, 0] : tensor<64x128xf16> into tensor<128x128xf16>
  %whole = spyre.insert %parts#1 into %upper at [64, 0] : tensor<64x128xf16> into tensor<128x128xf16>
  %result = spyre.hint tiles(A = 2, B = 2) {
    %neg = spyre.pointwise neg(%whole) : tensor<128x128xf16>
    %add = spyre.pointwise add(%neg, %whole) : tensor<128x128xf16>
    %sub = spyre.pointwise sub(%add, %whole) : tensor<128x128xf16>
    spyre.yield %sub : tensor<128x128xf16>
  }
  return %result : tensor<128x128xf16>
}

//--- linalg.mlir
func.func @tiles(%x: tensor<64x128xf16>, %y: tensor<64x128xf16>) -> tensor<128x128xf16> {
  %half = tensor.empty() : tensor<64x128xf16>
  %empty = tensor.empty() : tensor<128x128xf16>
  %exp = linalg.exp ins(%x : tensor<64x128xf16>) outs(%half : tensor<64x128xf16>) -> tensor<64x128xf16>
  %abs = linalg.abs ins(%y : tensor<64x128xf16>) outs(%half : tensor<64x128xf16>) -> tensor<64x128xf16>
  %whole = tensor.concat dim(0) %exp, %abs : (tensor<64x128xf16>, tensor<64x128xf16>) -> tensor<128x128xf16>
  %neg = linalg.negf ins(%whole : tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %neg : tensor<128x128xf16>
}

//--- columns.mlir
func.func @columns(%x: tensor<64x64xf16> {spyre.dims = ["A", "B"]}, %y: tensor<64x64xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x128xf16> {
  %half = tensor.empty() : tensor<64x64xf16>
  %empty = tensor.empty() : tensor<64x128xf16>
  %exp = linalg.exp ins(%x : tensor<64x64xf16>) outs(%half : tensor<64x64xf16>) -> tensor<64x64xf16>
  %both = tensor.concat dim(1) %exp, %y : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x128xf16>
  %neg = linalg.negf ins(%both : tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %neg : tensor<64x128xf16>
}
