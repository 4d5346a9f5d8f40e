// Rows of a table by indices: of 32 and 64 bits, in one and two dimensions, of a table that is an argument and of a computed one.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --wipe-lx --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/baked --addresses baked > %t/log && spyre-run %t/baked --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/unplanned --lx-planner none > %t/log && spyre-run %t/unplanned --seed 3 --check %t/linalg.mlir | FileCheck %s

// The indices reach every row.
// RUN: FileCheck %s --check-prefix=RANGE --input-file=%t/out/program.json
// RANGE: "name": "arg1"
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 128
// RANGE: "name": "arg3"
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 512

// The lower bound counts 16 selected rows of the table of words, all other tensors completely, and gathered rows with uses twice.
// RUN: FileCheck %s --check-prefix=COST --input-file=%t/log
// COST: lower bound 1.83 MiB

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct

//--- spyre.mlir
func.func @gather(%table: tensor<128x256xf16>, %matrix: tensor<3x192xi64>, %words: tensor<512x128xf16>, %list: tensor<16xi32>,
                  %x: tensor<128x256xf16>)
    -> (tensor<3x192x256xf16>, tensor<16x128xf16>, tensor<16x128xf16>, tensor<3x192x256xf16>) {
  %rows = spyre.gather(%table, %matrix) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  %embedded = spyre.gather(%words, %list) dim 0 : (tensor<512x128xf16>, tensor<16xi32>) -> tensor<16x128xf16>
  %exp = spyre.pointwise exp(%embedded) : tensor<16x128xf16>

  // The first computed table has another use, so it is copied.
  %computed = spyre.pointwise add(%x, %x) : tensor<128x256xf16>
  %square = spyre.pointwise mul(%computed, %computed) : tensor<128x256xf16>
  %a = spyre.gather(%computed, %matrix) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  %b = spyre.gather(%square, %matrix) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
  %sum = spyre.pointwise add(%a, %b) : tensor<3x192x256xf16>
  return %rows, %embedded, %exp, %sum : tensor<3x192x256xf16>, tensor<16x128xf16>, tensor<16x128xf16>, tensor<3x192x256xf16>
}

//--- linalg.mlir
#list = affine_map<(i, j) -> (i)>
#row = affine_map<(i, j) -> (i, j)>
#indices = affine_map<(i, j, k) -> (i, j)>
#rows = affine_map<(i, j, k) -> (i, j, k)>
func.func @gather(%table: tensor<128x256xf16>, %matrix: tensor<3x192xi64>, %words: tensor<512x128xf16>, %list: tensor<16xi32>,
                  %x: tensor<128x256xf16>)
    -> (tensor<3x192x256xf16>, tensor<16x128xf16>, tensor<16x128xf16>, tensor<3x192x256xf16>) {
  %0 = tensor.empty() : tensor<3x192x256xf16>
  %1 = tensor.empty() : tensor<16x128xf16>
  %rows = linalg.generic {indexing_maps = [#indices, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%matrix : tensor<3x192xi64>) outs(%0 : tensor<3x192x256xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %column = linalg.index 2 : index
    %element = tensor.extract %table[%at, %column] : tensor<128x256xf16>
    linalg.yield %element : f16
  } -> tensor<3x192x256xf16>
  %rows_of_x = linalg.generic {indexing_maps = [#indices, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%matrix : tensor<3x192xi64>) outs(%0 : tensor<3x192x256xf16>) {
  ^bb0(%i: i64, %out: f16):
    %at = arith.index_cast %i : i64 to index
    %column = linalg.index 2 : index
    %element = tensor.extract %x[%at, %column] : tensor<128x256xf16>
    linalg.yield %element : f16
  } -> tensor<3x192x256xf16>
  %embedded = linalg.generic {indexing_maps = [#list, #row], iterator_types = ["parallel", "parallel"]}
    ins(%list : tensor<16xi32>) outs(%1 : tensor<16x128xf16>) {
  ^bb0(%i: i32, %out: f16):
    %at = arith.index_cast %i : i32 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %words[%at, %column] : tensor<512x128xf16>
    linalg.yield %element : f16
  } -> tensor<16x128xf16>
  %exp = linalg.exp ins(%embedded : tensor<16x128xf16>) outs(%1 : tensor<16x128xf16>) -> tensor<16x128xf16>
  %sum = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%rows_of_x : tensor<3x192x256xf16>) outs(%0 : tensor<3x192x256xf16>) {
  ^bb0(%element: f16, %out: f16):
    %double = arith.addf %element, %element : f16
    %square = arith.mulf %double, %double : f16
    %both = arith.addf %double, %square : f16
    linalg.yield %both : f16
  } -> tensor<3x192x256xf16>
  return %rows, %embedded, %exp, %sum : tensor<3x192x256xf16>, tensor<16x128xf16>, tensor<16x128xf16>, tensor<3x192x256xf16>
}
