// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// Rows of a table selected by an index tensor.
// CHECK-LABEL: func.func @embedding(
// CHECK-SAME:    [[TABLE:%.+]]: tensor<128x256xf16>, [[ROWS:%.+]]: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
// CHECK-NEXT:    [[ROWS2:%.+]] = spyre.gather([[TABLE]], [[ROWS]]) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
// CHECK-NEXT:    return [[ROWS2]] : tensor<3x192x256xf16>

// torch-mlir wraps negative indices and asserts their bounds.
func.func @embedding(%table: tensor<128x256xf16>, %rows: tensor<3x192xi64>) -> tensor<3x192x256xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %limit = arith.constant 128 : i64
  %shape = tensor.empty() : tensor<3x192x256xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows : tensor<3x192xi64>) outs(%shape : tensor<3x192x256xf16>) {
  ^bb0(%row: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 2 : index
    %fits = arith.cmpi slt, %row, %limit : i64
    cf.assert %fits, "index must be smaller than dim size"
    %is_positive = arith.cmpi sge, %row, %zero : i64
    cf.assert %is_positive, "index must be larger or equal to 0"
    %element = tensor.extract %table[%i, %j] : tensor<128x256xf16>
    linalg.yield %element : f16
  } -> tensor<3x192x256xf16>
  return %y : tensor<3x192x256xf16>
}

// -----

// JAX wraps and clamps over several generics, and keeps a dimension of one index.
// CHECK-LABEL: func.func @take(
// CHECK-SAME:    [[TABLE:%.+]]: tensor<128x256xf16>, [[ROWS:%.+]]: tensor<192xi32>) -> tensor<192x256xf16> {
// CHECK-NEXT:    [[ROWS2:%.+]] = spyre.gather([[TABLE]], [[ROWS]]) dim 0 : (tensor<128x256xf16>, tensor<192xi32>) -> tensor<192x256xf16>
// CHECK-NEXT:    return [[ROWS2]] : tensor<192x256xf16>
#same = affine_map<(d0) -> (d0)>
func.func @take(%table: tensor<128x256xf16>, %rows: tensor<192xi32>) -> tensor<192x256xf16> {
  %c0 = arith.constant 0 : index
  %c127 = arith.constant 127 : index
  %zero = arith.constant dense<0> : tensor<192xi32>
  %limit = arith.constant dense<128> : tensor<192xi32>
  %is_negative = arith.cmpi slt, %rows, %zero : tensor<192xi32>
  %from_the_end = arith.addi %rows, %limit : tensor<192xi32>
  %wrapped = arith.select %is_negative, %from_the_end, %rows : tensor<192xi1>, tensor<192xi32>
  %column = tensor.expand_shape %wrapped [[0, 1]] output_shape [192, 1] : tensor<192xi32> into tensor<192x1xi32>
  %shape = tensor.empty() : tensor<192x256xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<192x256xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = tensor.extract %column[%i, %c0] : tensor<192x1xi32>
    %k = arith.index_cast %row : i32 to index
    %above = arith.maxsi %k, %c0 : index
    %below = arith.minsi %above, %c127 : index
    %element = tensor.extract %table[%below, %j] : tensor<128x256xf16>
    linalg.yield %element : f16
  } -> tensor<192x256xf16>
  return %y : tensor<192x256xf16>
}

// -----

// Gathered elements may be used in the same body.
// CHECK-LABEL: func.func @gather_and_exp(
// CHECK-SAME:    [[TABLE:%.+]]: tensor<128x256xf16>, [[ROWS:%.+]]: tensor<192xi64>) -> tensor<192x256xf16> {
// CHECK-NEXT:    [[ROWS2:%.+]] = spyre.gather([[TABLE]], [[ROWS]]) dim 0 : (tensor<128x256xf16>, tensor<192xi64>) -> tensor<192x256xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[ROWS2]]) : tensor<192x256xf16>
// CHECK-NEXT:    return [[EXP]] : tensor<192x256xf16>
func.func @gather_and_exp(%table: tensor<128x256xf16>, %rows: tensor<192xi64>) -> tensor<192x256xf16> {
  %shape = tensor.empty() : tensor<192x256xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<192xi64>) outs(%shape : tensor<192x256xf16>) {
  ^bb0(%row: i64, %out: f16):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<128x256xf16>
    %e = math.exp %element : f16
    linalg.yield %e : f16
  } -> tensor<192x256xf16>
  return %y : tensor<192x256xf16>
}

// -----

// Rows chosen by iteration alone are a slice with a step, and no gather.
// CHECK-LABEL: func.func @every_second_row(
// CHECK-SAME:    [[TABLE:%.+]]: tensor<128x256xf16>) -> tensor<63x256xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[TABLE]] by affine_map<(d0, d1) -> (d0 * 2 + 1, d1)> : tensor<128x256xf16> -> tensor<63x256xf16>
// CHECK-NEXT:    return [[VIEW]] : tensor<63x256xf16>
func.func @every_second_row(%table: tensor<128x256xf16>) -> tensor<63x256xf16> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %shape = tensor.empty() : tensor<63x256xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<63x256xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %twice = arith.muli %i, %two : index
    %odd = arith.addi %twice, %one : index
    %element = tensor.extract %table[%odd, %j] : tensor<128x256xf16>
    linalg.yield %element : f16
  } -> tensor<63x256xf16>
  return %y : tensor<63x256xf16>
}

// -----

// Constant indices that are no arithmetic sequence become a constant index tensor.
// CHECK-LABEL: func @reversed_by_index
// CHECK: %[[ROWS:.*]] = spyre.constant dense<[7, 6, 5, 4, 3, 2, 1, 0]>
// CHECK: spyre.gather(%arg0, %[[ROWS]]) dim 0
func.func @reversed_by_index(%table: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %last = arith.constant 7 : index
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<8x64xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %last, %i : index
    %element = tensor.extract %table[%k, %j] : tensor<8x64xf16>
    linalg.yield %element : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// A regular table of positions becomes a view: groups of channels as PyTorch's exporter reads them back.
// CHECK-LABEL: func @table_of_positions
// CHECK: spyre.view %arg0 by affine_map<(d0, d1) -> (d0, d1 floordiv 3, d1 mod 3)> : tensor<2x2x3xf16> -> tensor<2x6xf16>
// CHECK-NOT: spyre.gather
func.func @table_of_positions(%x: tensor<2x2x3xf16>) -> tensor<2x6xf16> {
  %batch = arith.constant dense<[[0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]> : tensor<2x6xi64>
  %group = arith.constant dense_resource<group> : tensor<2x6xi64>
  %channel = arith.constant dense<[[0, 1, 2, 0, 1, 2], [0, 1, 2, 0, 1, 2]]> : tensor<2x6xi64>
  %shape = tensor.empty() : tensor<2x6xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%batch, %group, %channel : tensor<2x6xi64>, tensor<2x6xi64>, tensor<2x6xi64>) outs(%shape : tensor<2x6xf16>) {
  ^bb0(%i: i64, %j: i64, %k: i64, %out: f16):
    %0 = arith.index_cast %i : i64 to index
    %1 = arith.index_cast %j : i64 to index
    %2 = arith.index_cast %k : i64 to index
    %element = tensor.extract %x[%0, %1, %2] : tensor<2x2x3xf16>
    linalg.yield %element : f16
  } -> tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

{-#
  dialect_resources: {
    builtin: {
      group: "0x08000000000000000000000000000000000000000000000000000000010000000000000001000000000000000100000000000000000000000000000000000000000000000000000000000000010000000000000001000000000000000100000000000000"
    }
  }
#-}

// -----

// A decreasing index reads the rows in reverse order.
// CHECK-LABEL: func.func @read_backwards(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>)
// CHECK-NEXT:    [[ORDER:%.+]] = spyre.constant dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi32>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather([[X]], [[ORDER]]) dim 0
// CHECK-NEXT:    [[PART:%.+]] = spyre.view [[ROWS]] by affine_map<(d0, d1) -> (d0 * 2 + 1, d1)> : tensor<8x64xf16> -> tensor<4x64xf16>
func.func @read_backwards(%x: tensor<8x64xf16>) -> tensor<4x64xf16> {
  %shape = tensor.empty() : tensor<4x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (6 - 2 * d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<4x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

// -----

// A gather by a concatenated list becomes a concatenation of gathers: rows fill sticks, and indices do not.
// CHECK-LABEL: func.func @joined_list(
// CHECK-NOT:     spyre.insert {{.*}}xi32>
// CHECK-DAG:     [[OTHER:%.+]] = spyre.view %arg2
// CHECK-DAG:     [[MORE:%.+]] = spyre.gather(%arg0, [[OTHER]]) dim 0
// CHECK-DAG:     [[ONE:%.+]] = spyre.view %arg1
// CHECK-DAG:     [[ROWS:%.+]] = spyre.gather(%arg0, [[ONE]]) dim 0
// CHECK:         [[FIRST:%.+]] = spyre.insert [[ROWS]] into {{%.+}} at [0, 0, 0]
// CHECK-NEXT:    spyre.insert [[MORE]] into [[FIRST]] at [5, 0, 0]
func.func @joined_list(%table: tensor<8x64xf16>, %a: tensor<5xi32>, %b: tensor<3xi32>) -> tensor<8x64xf16> {
  %ids = tensor.concat dim(0) %a, %b : (tensor<5xi32>, tensor<3xi32>) -> tensor<8xi32>
  %e = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<8xi32>) outs(%e : tensor<8x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %j = arith.index_cast %i : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%j, %k] : tensor<8x64xf16>
    linalg.yield %v : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// A function of one index selects rows of a reordered table.
// CHECK-LABEL: func.func @every_second_row(
// CHECK:         [[ORDER:%.+]] = spyre.constant dense<[0, 2, 4, 6]>
// CHECK:         [[ROWS:%.+]] = spyre.gather(%arg0, [[ORDER]]) dim 0
// CHECK:         spyre.gather([[ROWS]], %arg1) dim 0
func.func @every_second_row(%table: tensor<8x64xf16>, %a: tensor<5xi32>) -> tensor<5x64xf16> {
  %e = tensor.empty() : tensor<5x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %two = arith.constant 2 : i32
    %twice = arith.muli %i, %two : i32
    %j = arith.index_cast %twice : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%j, %k] : tensor<8x64xf16>
    linalg.yield %v : f16
  } -> tensor<5x64xf16>
  return %y : tensor<5x64xf16>
}
