// Buffers written in parts and returned: along rows, along columns at sticks, along a middle dimension, with a last part that fills no
// stick, with parts of one row and one column.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/three --cores 3 > %t/log && spyre-run %t/three --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/unplanned --lx-planner none > %t/log && spyre-run %t/unplanned --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/baked --lx-planner none --addresses baked --loops unroll > %t/log && spyre-run %t/baked --check %t/linalg.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct
// CHECK: result5: correct

//--- spyre.mlir
func.func @concat(%a: tensor<33x64xf16>, %b: tensor<31x64xf16>, %c: tensor<33x128xf16>, %d: tensor<33x36xf16>,
                  %slabs: tensor<8x2x128xf16>, %slab: tensor<8x1x128xf16>, %row: tensor<1x64xf16>, %column: tensor<33x1xf16>)
    -> (tensor<64x64xf16>, tensor<33x256xf16>, tensor<8x4x128xf16>, tensor<33x100xf16>, tensor<35x64xf16>, tensor<33x65xf16>) {
  %rows = spyre.empty : tensor<64x64xf16>
  %rows_1 = spyre.insert %a into %rows at [0, 0] : tensor<33x64xf16> into tensor<64x64xf16>
  %rows_2 = spyre.insert %b into %rows_1 at [33, 0] : tensor<31x64xf16> into tensor<64x64xf16>

  %columns = spyre.empty : tensor<33x256xf16>
  %columns_1 = spyre.insert %a into %columns at [0, 0] : tensor<33x64xf16> into tensor<33x256xf16>
  %columns_2 = spyre.insert %c into %columns_1 at [0, 64] : tensor<33x128xf16> into tensor<33x256xf16>
  %columns_3 = spyre.insert %a into %columns_2 at [0, 192] : tensor<33x64xf16> into tensor<33x256xf16>

  %middle = spyre.empty : tensor<8x4x128xf16>
  %middle_1 = spyre.insert %slab into %middle at [0, 0, 0] : tensor<8x1x128xf16> into tensor<8x4x128xf16>
  %middle_2 = spyre.insert %slabs into %middle_1 at [0, 1, 0] : tensor<8x2x128xf16> into tensor<8x4x128xf16>
  %middle_3 = spyre.insert %slab into %middle_2 at [0, 3, 0] : tensor<8x1x128xf16> into tensor<8x4x128xf16>

  %ragged = spyre.empty : tensor<33x100xf16>
  %ragged_1 = spyre.insert %a into %ragged at [0, 0] : tensor<33x64xf16> into tensor<33x100xf16>
  %ragged_2 = spyre.insert %d into %ragged_1 at [0, 64] : tensor<33x36xf16> into tensor<33x100xf16>

  %framed = spyre.empty : tensor<35x64xf16>
  %framed_1 = spyre.insert %row into %framed at [0, 0] : tensor<1x64xf16> into tensor<35x64xf16>
  %framed_2 = spyre.insert %row into %framed_1 at [34, 0] : tensor<1x64xf16> into tensor<35x64xf16>
  %framed_3 = spyre.insert %a into %framed_2 at [1, 0] : tensor<33x64xf16> into tensor<35x64xf16>

  %bordered = spyre.empty : tensor<33x65xf16>
  %bordered_1 = spyre.insert %a into %bordered at [0, 0] : tensor<33x64xf16> into tensor<33x65xf16>
  %bordered_2 = spyre.insert %column into %bordered_1 at [0, 64] : tensor<33x1xf16> into tensor<33x65xf16>
  return %rows_2, %columns_3, %middle_3, %ragged_2, %framed_3, %bordered_2
    : tensor<64x64xf16>, tensor<33x256xf16>, tensor<8x4x128xf16>, tensor<33x100xf16>, tensor<35x64xf16>, tensor<33x65xf16>
}

//--- linalg.mlir
func.func @concat(%a: tensor<33x64xf16>, %b: tensor<31x64xf16>, %c: tensor<33x128xf16>, %d: tensor<33x36xf16>,
                  %slabs: tensor<8x2x128xf16>, %slab: tensor<8x1x128xf16>, %row: tensor<1x64xf16>, %column: tensor<33x1xf16>)
    -> (tensor<64x64xf16>, tensor<33x256xf16>, tensor<8x4x128xf16>, tensor<33x100xf16>, tensor<35x64xf16>, tensor<33x65xf16>) {
  %rows = tensor.concat dim(0) %a, %b : (tensor<33x64xf16>, tensor<31x64xf16>) -> tensor<64x64xf16>
  %columns = tensor.concat dim(1) %a, %c, %a : (tensor<33x64xf16>, tensor<33x128xf16>, tensor<33x64xf16>) -> tensor<33x256xf16>
  %middle = tensor.concat dim(1) %slab, %slabs, %slab
    : (tensor<8x1x128xf16>, tensor<8x2x128xf16>, tensor<8x1x128xf16>) -> tensor<8x4x128xf16>
  %ragged = tensor.concat dim(1) %a, %d : (tensor<33x64xf16>, tensor<33x36xf16>) -> tensor<33x100xf16>
  %framed = tensor.concat dim(0) %row, %a, %row : (tensor<1x64xf16>, tensor<33x64xf16>, tensor<1x64xf16>) -> tensor<35x64xf16>
  %bordered = tensor.concat dim(1) %a, %column : (tensor<33x64xf16>, tensor<33x1xf16>) -> tensor<33x65xf16>
  return %rows, %columns, %middle, %ragged, %framed, %bordered
    : tensor<64x64xf16>, tensor<33x256xf16>, tensor<8x4x128xf16>, tensor<33x100xf16>, tensor<35x64xf16>, tensor<33x65xf16>
}
