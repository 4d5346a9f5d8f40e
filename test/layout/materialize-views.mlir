// RUN: spyre-opt --spyre-materialize-views --mlir-print-local-scope %s | FileCheck %s

// A mask leaves one element of each row, and their sum is the diagonal.
// CHECK-LABEL: func.func @diagonal(
// CHECK-SAME:    [[X:%.+]]: tensor<4x5xf16>)
// CHECK-NEXT:    [[ALL:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0, d1 + 1)> : tensor<4x5xf16> -> tensor<4x4xf16>
// CHECK-NEXT:    [[EYE:%.+]] = spyre.constant dense<{{\[\[}}1.{{.*}}, 0.{{.*}}> : tensor<4x4xf16>
// CHECK-NEXT:    [[MASK:%.+]] = spyre.view [[EYE]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<4x4xf16> -> tensor<4x4xf16>
// CHECK-NEXT:    [[ZERO:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[ONE:%.+]] = spyre.pointwise where3([[MASK]], [[ALL]], [[ZERO]])
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[ONE]]) dims [1] : tensor<4x4xf16> -> tensor<4x1xf16>
// CHECK-NEXT:    [[FOUND:%.+]] = spyre.view [[SUM]] by affine_map<(d0) -> (d0, 0)>
// CHECK-NEXT:    spyre.pointwise neg([[FOUND]])
func.func @diagonal(%x: tensor<4x5xf16>) -> tensor<4xf16> {
  %view = spyre.view %x by affine_map<(d0) -> (d0, d0 + 1)> : tensor<4x5xf16> -> tensor<4xf16>
  %neg = spyre.pointwise neg(%view) : tensor<4xf16>
  return %neg : tensor<4xf16>
}

// Rows selected by an index tensor: the batch of the table is that of the result.
// CHECK-LABEL: func.func @the_batch_of_a_gather(
// CHECK:         spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<3x3x64xf16> -> tensor<3x64x3xf16>
// CHECK:         spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<3x3xf16> -> tensor<3x1x3xf16>
// CHECK:         spyre.reduce sum({{%.+}}) dims [2] : tensor<3x64x3xf16> -> tensor<3x64x1xf16>
func.func @the_batch_of_a_gather(%table: tensor<3x8x64xf16>, %index: tensor<3xi64>) -> tensor<3x64xf16> {
  %all = spyre.gather(%table, %index) dim 1 : (tensor<3x8x64xf16>, tensor<3xi64>) -> tensor<3x3x64xf16>
  %own = spyre.view %all by affine_map<(d0, d1) -> (d0, d0, d1)> : tensor<3x3x64xf16> -> tensor<3x64xf16>
  %exp = spyre.pointwise exp(%own) : tensor<3x64xf16>
  return %exp : tensor<3x64xf16>
}

// Two masks for three equal indices.
// CHECK-LABEL: func.func @corner_to_corner(
// CHECK-COUNT-2: spyre.reduce sum(
// CHECK-NOT:     spyre.reduce
func.func @corner_to_corner(%x: tensor<4x4x4xf16>) -> tensor<4xf16> {
  %view = spyre.view %x by affine_map<(d0) -> (d0, d0, d0)> : tensor<4x4x4xf16> -> tensor<4xf16>
  %neg = spyre.pointwise neg(%view) : tensor<4xf16>
  return %neg : tensor<4xf16>
}

// CHECK-LABEL: func.func @a_sum_of_what_is_repeated(
// CHECK:         [[SHOWN:%.+]] = spyre.view
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[SHOWN]] {spyre.for_layout} : tensor<5x3xf16>
// CHECK-NEXT:    spyre.reduce sum([[COPY]])
func.func @a_sum_of_what_is_repeated(%x: tensor<5x1xf16>) -> tensor<5x1xf16> {
  %view = spyre.view %x by affine_map<(d0, d1) -> (d0, 0)> : tensor<5x1xf16> -> tensor<5x3xf16>
  %sum = spyre.reduce sum(%view) dims [1] : tensor<5x3xf16> -> tensor<5x1xf16>
  return %sum : tensor<5x1xf16>
}

// Each row repeated twice, adjacent or as two copies of all rows.
// CHECK-LABEL: func.func @repeated_by_parts(
// CHECK-COUNT-2: spyre.copy {{%.+}} {spyre.for_layout} : tensor<6x64xf16>
func.func @repeated_by_parts(%x: tensor<3x64xf16>) -> (tensor<1x64xf16>, tensor<1x64xf16>) {
  %pairs = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 2, d1)> : tensor<3x64xf16> -> tensor<6x64xf16>
  %max = spyre.reduce max(%pairs) dims [0] : tensor<6x64xf16> -> tensor<1x64xf16>
  %again = spyre.view %x by affine_map<(d0, d1) -> (d0 mod 3, d1)> : tensor<3x64xf16> -> tensor<6x64xf16>
  %min = spyre.reduce min(%again) dims [0] : tensor<6x64xf16> -> tensor<1x64xf16>
  return %max, %min : tensor<1x64xf16>, tensor<1x64xf16>
}

// A repetition along dimensions that are not reduced remains a view: it repeats results only.
// CHECK-LABEL: func.func @repeats_beside_a_sum(
// CHECK-NOT:     spyre.copy
func.func @repeats_beside_a_sum(%x: tensor<3x64xf16>) -> tensor<6x1xf16> {
  %pairs = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 2, d1)> : tensor<3x64xf16> -> tensor<6x64xf16>
  %max = spyre.reduce max(%pairs) dims [1] : tensor<6x64xf16> -> tensor<6x1xf16>
  return %max : tensor<6x1xf16>
}

// The left operand has all dimensions of the result but N, and both have K.
// CHECK-LABEL: func.func @operands_of_products(
// CHECK:         [[ROWS:%.+]] = spyre.copy {{%.+}} {spyre.for_layout} : tensor<5x3x64xf16>
// CHECK-NEXT:    spyre.matmul([[ROWS]], {{%.+}})
// CHECK:         [[K:%.+]] = spyre.copy {{%.+}} {spyre.for_layout} : tensor<5x64x128xf16>
// CHECK-NEXT:    spyre.matmul({{%.+}}, [[K]])
func.func @operands_of_products(%x: tensor<5x64xf16>, %y: tensor<5x64x128xf16>, %z: tensor<5x3x64xf16>, %w: tensor<5x128xf16>)
    -> (tensor<5x3x128xf16>, tensor<5x3x128xf16>) {
  %rows = spyre.view %x by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<5x64xf16> -> tensor<5x3x64xf16>
  %first = spyre.matmul(%rows, %y) : (tensor<5x3x64xf16>, tensor<5x64x128xf16>) -> tensor<5x3x128xf16>
  %columns = spyre.view %w by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<5x128xf16> -> tensor<5x64x128xf16>
  %second = spyre.matmul(%z, %columns) : (tensor<5x3x64xf16>, tensor<5x64x128xf16>) -> tensor<5x3x128xf16>
  return %first, %second : tensor<5x3x128xf16>, tensor<5x3x128xf16>
}

// Four queries share a key: a batch of the keys and two dimensions of rows.
// CHECK-LABEL: func.func @shared_keys(
// CHECK-NOT:     spyre.copy
func.func @shared_keys(%q: tensor<16x8x64xf16>, %k: tensor<4x64x128xf16>) -> tensor<16x8x128xf16> {
  %keys = spyre.view %k by affine_map<(d0, d1, d2) -> (d0 floordiv 4, d1, d2)> : tensor<4x64x128xf16> -> tensor<16x64x128xf16>
  %product = spyre.matmul(%q, %keys) : (tensor<16x8x64xf16>, tensor<16x64x128xf16>) -> tensor<16x8x128xf16>
  return %product : tensor<16x8x128xf16>
}

// 36 of the merged rows are two times 16, and 4: 48 rows are copied, once for both operands.
// CHECK-LABEL: func.func @part_of_rows_twice(
// CHECK:         [[ROWS:%.+]] = spyre.copy {{%.+}} {spyre.for_layout} : tensor<48x3x1xf32>
// CHECK-NEXT:    [[PART:%.+]] = spyre.view [[ROWS]]
// CHECK-NEXT:    spyre.pointwise minimum([[PART]], [[PART]])
func.func @part_of_rows_twice(%x: tensor<16x16x8x1xf32>) -> tensor<36x3x1xf32> {
  %part = spyre.view %x by affine_map<(d0, d1, d2) -> ((d0 + 128) floordiv 16, (d0 + 128) mod 16, d1, 0)>
      : tensor<16x16x8x1xf32> -> tensor<36x3x1xf32>
  %least = spyre.pointwise minimum(%part, %part) : tensor<36x3x1xf32>
  return %least : tensor<36x3x1xf32>
}

// 95 rows of two times 48, through a view of the view that repeats them.
// CHECK-LABEL: func.func @part_of_repeated_rows(
// CHECK:         spyre.copy {{%.+}} {spyre.for_layout} : tensor<96x1x64xf16>
func.func @part_of_repeated_rows(%x: tensor<48x64xf16>, %y: tensor<95x1x64xf16>) -> tensor<95x1x64xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 mod 48, d1)> : tensor<48x64xf16> -> tensor<95x64xf16>
  %shown = spyre.view %rows by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<95x64xf16> -> tensor<95x1x64xf16>
  %sum = spyre.pointwise add(%shown, %y) : tensor<95x1x64xf16>
  return %sum : tensor<95x1x64xf16>
}

// Rows of 65 are viewed as a list, then as rows of 32: each view is readable on its own, but not their composition.
// CHECK-LABEL: func.func @rows_through_a_list(
// CHECK-SAME:    [[X:%.+]]: tensor<64x65xf16>)
// CHECK:         [[FLAT:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1) -> (d0, d1 floordiv 65, d1 mod 65)>
// CHECK-NEXT:    [[LIST:%.+]] = spyre.copy [[FLAT]] {spyre.for_layout} : tensor<2x4160xf16>
// CHECK-NEXT:    spyre.view [[LIST]] by affine_map<(d0, d1, d2) -> (d0, d1 * 32 + d2)> : {{.+}} -> tensor<2x130x32xf16>
func.func @rows_through_a_list(%x: tensor<64x65xf16>) -> tensor<130x32xf16> {
  %list = spyre.view %x by affine_map<(d0) -> (d0 floordiv 65, d0 mod 65)> : tensor<64x65xf16> -> tensor<4160xf16>
  %rows = spyre.view %list by affine_map<(d0, d1) -> (d0 * 32 + d1)> : tensor<4160xf16> -> tensor<130x32xf16>
  return %rows : tensor<130x32xf16>
}

// -----

// Indices must be contiguous: those of a column are copied.

// CHECK-LABEL: func.func @column_of_indices(
// CHECK:         [[COLUMN:%.+]] = spyre.view %arg1
// CHECK-NEXT:    [[LIST:%.+]] = spyre.copy [[COLUMN]] {spyre.for_layout} : tensor<5xi64> -> tensor<5xi64, #{{.*}}>
// CHECK-NEXT:    spyre.gather(%arg0, [[LIST]])
func.func @column_of_indices(%table: tensor<32x64xf16>, %places: tensor<5x3xi64>) -> tensor<5x64xf16> {
  %column = spyre.view %places by affine_map<(d0) -> (d0, 1)> : tensor<5x3xi64> -> tensor<5xi64>
  %rows = spyre.gather(%table, %column) dim 0 : (tensor<32x64xf16>, tensor<5xi64>) -> tensor<5x64xf16>
  return %rows : tensor<5x64xf16>
}

// -----

// An address cannot point into a stick: a list that begins inside of a stick is copied, and so is a single entry.

// CHECK-LABEL: func.func @shifted_indices(
// CHECK:         [[SHIFTED:%.+]] = spyre.view %arg1
// CHECK-NEXT:    [[LIST:%.+]] = spyre.copy [[SHIFTED]] {spyre.for_layout} : tensor<16xi32> -> tensor<16xi32, #{{.*}}>
// CHECK-NEXT:    spyre.gather(%arg0, [[LIST]])
func.func @shifted_indices(%table: tensor<32x64xf16>, %places: tensor<17xi32>) -> tensor<16x64xf16> {
  %shifted = spyre.view %places by affine_map<(d0) -> (d0 + 1)> : tensor<17xi32> -> tensor<16xi32>
  %rows = spyre.gather(%table, %shifted) dim 0 : (tensor<32x64xf16>, tensor<16xi32>) -> tensor<16x64xf16>
  return %rows : tensor<16x64xf16>
}


// CHECK-LABEL: func.func @second_index(
// CHECK:         [[ONE:%.+]] = spyre.view %arg1
// CHECK-NEXT:    [[LIST:%.+]] = spyre.copy [[ONE]] {spyre.for_layout} : tensor<1xi32> -> tensor<1xi32, #{{.*}}>
// CHECK-NEXT:    spyre.gather(%arg0, [[LIST]])
func.func @second_index(%table: tensor<32x64xf16>, %places: tensor<2xi32>) -> tensor<1x64xf16> {
  %one = spyre.view %places by affine_map<(d0) -> (1)> : tensor<2xi32> -> tensor<1xi32>
  %rows = spyre.gather(%table, %one) dim 0 : (tensor<32x64xf16>, tensor<1xi32>) -> tensor<1x64xf16>
  return %rows : tensor<1x64xf16>
}


// A list that begins at a stick is not copied: the fourth stick of 32 entries, and a row of lists.

// CHECK-LABEL: func.func @indices_from_a_stick_on(
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @indices_from_a_stick_on(%table: tensor<32x64xf16>, %places: tensor<128xi32>, %rows: tensor<3x9xi32>) -> (tensor<8x64xf16>, tensor<9x64xf16>) {
  %part = spyre.view %places by affine_map<(d0) -> (d0 + 96)> : tensor<128xi32> -> tensor<8xi32>
  %one = spyre.gather(%table, %part) dim 0 : (tensor<32x64xf16>, tensor<8xi32>) -> tensor<8x64xf16>
  %row = spyre.view %rows by affine_map<(d0) -> (1, d0)> : tensor<3x9xi32> -> tensor<9xi32>
  %other = spyre.gather(%table, %row) dim 0 : (tensor<32x64xf16>, tensor<9xi32>) -> tensor<9x64xf16>
  return %one, %other : tensor<8x64xf16>, tensor<9x64xf16>
}


// A returned view of 7 of 8 merged elements: whole rows are copied.

// CHECK-LABEL: func.func @returned_part(
// CHECK:         [[WHOLE:%.+]] = spyre.view %arg0 by affine_map<(d0, d1) -> (d0, d1 floordiv 2, d1 mod 2)> : tensor<2x4x2xf16> -> tensor<2x8xf16>
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[WHOLE]]
// CHECK-NEXT:    spyre.view [[COPY]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<2x8xf16> -> tensor<2x7xf16>
func.func @returned_part(%x: tensor<2x4x2xf16>) -> tensor<2x7xf16> {
  %part = spyre.view %x by affine_map<(d0, d1) -> (d0, d1 floordiv 2, d1 mod 2)> : tensor<2x4x2xf16> -> tensor<2x7xf16>
  return %part : tensor<2x7xf16>
}


// Of each three rows of 3 two are read, in rows of 99: the row number is a dimension of the copy.

// CHECK-LABEL: func.func @rows_of_rows(
// CHECK:         [[ROWS:%.+]] = spyre.view %arg0 by affine_map<(d0, d1) -> (d1 floordiv 22, (d1 floordiv 2) mod 11, d1 mod 2, d0)> : tensor<3x11x3x3xf16> -> tensor<3x66xf16>
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[ROWS]]
// CHECK-NEXT:    spyre.view [[COPY]] by affine_map<(d0, d1) -> (d1 mod 3, d0 * 33 + d1 floordiv 3)> : tensor<3x66xf16> -> tensor<2x99xf16>
func.func @rows_of_rows(%x: tensor<3x11x3x3xf16>) -> tensor<2x99xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> ((d0 * 99 + d1) floordiv 66, ((d0 * 99 + d1) floordiv 6) mod 11, (d0 * 33 + d1 floordiv 3) mod 2, d1 mod 3)> : tensor<3x11x3x3xf16> -> tensor<2x99xf16>
  return %rows : tensor<2x99xf16>
}
