// Runtime integers: as numbers in a range, as indices whose functions are tables, and rows that computed integers select.
// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// A padding mask is 0 or 1: with other integers, (1 - mask) * lowest would overflow the format.
// CHECK-LABEL: func.func @mask(
// CHECK-SAME:    [[MASK:%.+]]: tensor<4x70xi64> {spyre.range = array<i64: 0, 2>}) -> tensor<4x70xf32> {
// CHECK-DAG:     [[LOW:%.+]] = spyre.constant dense<-3.40282347E+38> : tensor<1x1xf32>
// CHECK-DAG:     [[ONE:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    [[NUMBERS:%.+]] = spyre.view [[MASK]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<4x70xi64> -> tensor<4x70xf32>
// CHECK-NEXT:    [[OPEN:%.+]] = spyre.pointwise sub([[ONE]], [[NUMBERS]])
// CHECK-NEXT:    [[BIAS:%.+]] = spyre.pointwise mul([[OPEN]], [[LOW]])
// CHECK-NEXT:    return [[BIAS]]
func.func @mask(%mask: tensor<4x70xi64>) -> tensor<4x70xf32> {
  %one = arith.constant dense<1.0> : tensor<4x70xf32>
  %low = arith.constant dense<-3.40282347E+38> : tensor<4x70xf32>
  %0 = arith.sitofp %mask : tensor<4x70xi64> to tensor<4x70xf32>
  %1 = arith.subf %one, %0 : tensor<4x70xf32>
  %2 = arith.mulf %1, %low : tensor<4x70xf32>
  return %2 : tensor<4x70xf32>
}

// -----

// A range that is given as an attribute is not widened.
// CHECK-LABEL: func.func @promised(
// CHECK-SAME:    spyre.range = array<i64: 0, 9>
func.func @promised(%x: tensor<4x70xi64> {spyre.range = array<i64: 0, 9>}) -> tensor<4x70xi64> {
  %0 = arith.addi %x, %x : tensor<4x70xi64>
  return %0 : tensor<4x70xi64>
}

// -----

// Assertions narrow the range that the caller must keep.
// CHECK-LABEL: func.func @asserted(
// CHECK-SAME:    tensor<4xi64> {spyre.range = array<i64: 0, 40>}
#same = affine_map<(d0) -> (d0)>
func.func @asserted(%x: tensor<4xi64>) -> tensor<4xf16> {
  %shape = tensor.empty() : tensor<4xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : tensor<4xi64>) outs(%shape : tensor<4xf16>) {
  ^bb0(%in: i64, %out: f16):
    %zero = arith.constant 0 : i64
    %forty = arith.constant 40 : i64
    %low = arith.cmpi sge, %in, %zero : i64
    cf.assert %low, "not negative"
    %high = arith.cmpi slt, %in, %forty : i64
    cf.assert %high, "below 40"
    %n = arith.sitofp %in : i64 to f16
    linalg.yield %n : f16
  } -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// -----

// The cosine of a position is looked up.
// CHECK-LABEL: func.func @cosine(
// CHECK-SAME:    [[X:%.+]]: tensor<70xi64> {spyre.range = array<i64: 0, 2>}) -> tensor<70xf32> {
// CHECK-NEXT:    [[TABLE:%.+]] = spyre.constant dense<{{.*}}> : tensor<2x64xf32>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather([[TABLE]], [[X]]) dim 0 : (tensor<2x64xf32>, tensor<70xi64>) -> tensor<70x64xf32>
// CHECK-NEXT:    [[COLUMN:%.+]] = spyre.view [[ROWS]] by affine_map<(d0) -> (d0, 0)> : tensor<70x64xf32> -> tensor<70xf32>
// CHECK-NEXT:    return [[COLUMN]]
func.func @cosine(%x: tensor<70xi64> {spyre.range = array<i64: 0, 2>}) -> tensor<70xf32> {
  %0 = arith.sitofp %x : tensor<70xi64> to tensor<70xf32>
  %1 = math.cos %0 : tensor<70xf32>
  return %1 : tensor<70xf32>
}

// -----

// An index plus a number selects from the rows after that number.
// CHECK-LABEL: func.func @offset(
// CHECK-SAME:    [[TABLE:%.+]]: tensor<50x64xf16>, [[X:%.+]]: tensor<7xi64>) -> tensor<7x64xf16> {
// CHECK-NEXT:    [[REST:%.+]] = spyre.view [[TABLE]] by affine_map<(d0, d1) -> (d0 + 2, d1)> : tensor<50x64xf16> -> tensor<48x64xf16>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather([[REST]], [[X]]) dim 0
// CHECK-NEXT:    return [[ROWS]]
func.func @offset(%table: tensor<50x64xf16>, %x: tensor<7xi64>) -> tensor<7x64xf16> {
  %shape = tensor.empty() : tensor<7x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<7xi64>) outs(%shape : tensor<7x64xf16>) {
  ^bb0(%in: i64, %out: f16):
    %two = arith.constant 2 : i64
    %moved = arith.addi %in, %two : i64
    %i = arith.index_cast %moved : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<50x64xf16>
    linalg.yield %element : f16
  } -> tensor<7x64xf16>
  return %y : tensor<7x64xf16>
}

// -----

// Rows in an order that is known at compile time.
// CHECK-LABEL: func.func @reversed(
// CHECK-SAME:    [[TABLE:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[ORDER:%.+]] = spyre.constant dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi32>
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather([[TABLE]], [[ORDER]]) dim 0
// CHECK-NEXT:    return [[ROWS]]
func.func @reversed(%table: tensor<8x64xf16>) -> tensor<8x64xf16> {
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

// Concatenated constants are one constant, and so is its cosine.
// CHECK-LABEL: func.func @known_parts(
// CHECK-NEXT:    [[TABLE:%.+]] = spyre.constant dense<[1.000000e+00, 0.540302277, 0.540302277, -0.416146845]> : tensor<4xf32>
func.func @known_parts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %1 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %3 = math.cos %2 : tensor<4xf32>
  %4 = arith.mulf %x, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// The cosine of a position times a frequency is a row of a table, also where a producer has repeated the frequencies for each position.
// CHECK-LABEL: func.func @angles(
// CHECK-SAME:    [[POSITIONS:%.+]]: tensor<16xi32>) -> tensor<16x4xf16> {
// CHECK-NEXT:    [[TABLE:%.+]] = spyre.constant dense<{{.+}}> : tensor<4096x4xf32>
// CHECK:         spyre.gather(%{{.+}}, [[POSITIONS]]) dim 0 : (tensor<4096x4xf16>, tensor<16xi32>) -> tensor<16x4xf16>
// CHECK-NOT:     spyre.pointwise
// CHECK:         return
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @angles(%positions: tensor<16xi32>) -> tensor<16x4xf16> {
  %frequencies = arith.constant dense<[1.0, 0.5, 0.25, 0.125]> : tensor<4xf32>
  %shape = tensor.empty() : tensor<16x4xf32>
  %repeated = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #same], iterator_types = ["parallel", "parallel"]} ins(%frequencies : tensor<4xf32>) outs(%shape : tensor<16x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16x4xf32>
  %angles = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%positions, %repeated : tensor<16xi32>, tensor<16x4xf32>) outs(%shape : tensor<16x4xf32>) {
  ^bb0(%in: i32, %f: f32, %out: f32):
    %number = arith.sitofp %in : i32 to f32
    %angle = arith.mulf %number, %f : f32
    %cos = math.cos %angle : f32
    linalg.yield %cos : f32
  } -> tensor<16x4xf32>
  %halves = arith.truncf %angles : tensor<16x4xf32> to tensor<16x4xf16>
  return %halves : tensor<16x4xf16>
}

// -----

// A choice between constant integers, made by an index that selects rows, becomes a lookup of numbers.
// CHECK-LABEL: func.func @a_choice_that_is_looked_up(
// CHECK:         [[FOUND:%.+]] = spyre.gather(%{{.+}}, %{{.+}}) dim 0 : (tensor<40x64xf16>, tensor<300xi32>) -> tensor<300x64xf16>
// CHECK-NOT:     tensor<300xi32>, tensor<1xi32>
// CHECK:         return
func.func @a_choice_that_is_looked_up(%a: tensor<300xi32>, %table: tensor<40x64xf16>) -> (tensor<300xi1>, tensor<300x64xf16>) {
  %t = tensor.empty() : tensor<300xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<300xi32>) outs(%t : tensor<300xi1>) {
  ^bb0(%i: i32, %p0: i1):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %is = arith.cmpi eq, %i, %zero : i32
    %s = arith.select %is, %zero, %one : i32
    %q = arith.cmpi ne, %s, %one : i32
    linalg.yield %q : i1
  } -> tensor<300xi1>
  %h = tensor.empty() : tensor<300x64xf16>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<300xi32>) outs(%h : tensor<300x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %k = arith.index_cast %i : i32 to index
    %c = linalg.index 1 : index
    %e = tensor.extract %table[%k, %c] : tensor<40x64xf16>
    linalg.yield %e : f16
  } -> tensor<300x64xf16>
  return %r, %rows : tensor<300xi1>, tensor<300x64xf16>
}

// -----

// All updates at one constant position, such as the last column of a tensor.
// CHECK-LABEL: func.func @one_known_place(
// CHECK:         spyre.constant dense<3.900000e+01> : tensor<1xf16>
// CHECK-NOT:     i32
// CHECK:         return
func.func @one_known_place(%x: tensor<40x64xf16>, %row: tensor<1x1x64xf16>) -> tensor<40x64xf16> {
  %place = arith.constant dense<39> : tensor<1x1xi32>
  %y = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%row, %place : tensor<1x1x64xf16>, tensor<1x1xi32>) outs(%x : tensor<40x64xf16>) {
  ^bb0(%new: f16, %old: f16):
    %sum = arith.addf %new, %old : f16
    tm_tensor.yield %sum : f16
  } -> tensor<40x64xf16>
  return %y : tensor<40x64xf16>
}
