// Quotients and remainders of integers of run time, as numbers: of sums by known ones, of what chooses rows, and by integers of run time, which
// are at least 1. Shifts by known numbers of bits.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/half.mlir -o %t/half --validate > %t.log && spyre-run %t/half --check %t/parts/half.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/single.mlir -o %t/single --validate > %t.log && spyre-run %t/single --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/rows.mlir -o %t/rows --validate > %t.log && spyre-run %t/rows --check %t/parts/rows.mlir | FileCheck %s --check-prefix=ROWS
// RUN: spyre-compile %t/parts/divisors.mlir -o %t/divisors --validate > %t.log && spyre-run %t/divisors --check %t/parts/divisors.mlir | FileCheck %s --check-prefix=DIVISORS
// RUN: spyre-run %t/divisors --draw extreme --check %t/parts/divisors.mlir | FileCheck %s --check-prefix=DIVISORS
// RUN: FileCheck %s --check-prefix=RANGE < %t/divisors/program.json
// RUN: not spyre-compile %t/parts/zero.mlir -o %t/zero 2>&1 | FileCheck %s --check-prefix=ZERO

// CHECK: result0: correct
// CHECK: result11: correct
// ROWS: result0: correct
// DIVISORS: result0: correct
// DIVISORS: result8: correct
// RANGE: "name": "arg1"
// RANGE: "index_range": [
// RANGE-NEXT: 1,
// ZERO: error{{.*}}'arith.subi' op requires a positive integer divisor, found one that may be 0 or negative; apply 'arith.maxsi' with 1 to it

//--- half.mlir
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<300xi32>, %b: tensor<300xi32>) -> (tensor<300xf16>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) {
  %s = tensor.empty() : tensor<300xf16>
  %t = tensor.empty() : tensor<300xi32>
  %r:12 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
    ins(%a, %b : tensor<300xi32>, tensor<300xi32>) outs(%s, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t : tensor<300xf16>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) {
  ^bb0(%i: i32, %j: i32, %o: f16, %p0: i32, %p1: i32, %p2: i32, %p3: i32, %p4: i32, %p5: i32, %p6: i32, %p7: i32, %p8: i32, %p9: i32, %p10: i32):
    %sum = arith.subi %i, %j : i32
    %c0 = arith.constant 7 : i32
    %q0 = arith.remsi %sum, %c0 : i32
    %c1 = arith.constant -5 : i32
    %q1 = arith.remsi %sum, %c1 : i32
    %c2 = arith.constant 64 : i32
    %q2 = arith.remsi %sum, %c2 : i32
    %c3 = arith.constant 7 : i32
    %q3 = arith.divsi %sum, %c3 : i32
    %c4 = arith.constant -5 : i32
    %q4 = arith.divsi %sum, %c4 : i32
    %c5 = arith.constant 7 : i32
    %q5 = arith.floordivsi %sum, %c5 : i32
    %c6 = arith.constant -64 : i32
    %q6 = arith.floordivsi %sum, %c6 : i32
    %c7 = arith.constant 7 : i32
    %q7 = arith.ceildivsi %sum, %c7 : i32
    %c8 = arith.constant -3 : i32
    %q8 = arith.ceildivsi %sum, %c8 : i32
    %c9 = arith.constant 1 : i32
    %q9 = arith.remsi %sum, %c9 : i32
    %c10 = arith.constant 1 : i32
    %q10 = arith.divsi %sum, %c10 : i32
    %f = arith.sitofp %q0 : i32 to f16
    linalg.yield %f, %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9, %q10 : f16, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  } -> (tensor<300xf16>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11 : tensor<300xf16>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>
}

//--- single.mlir
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<300xi32>, %b: tensor<300xi32>) -> (tensor<300xf32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) {
  %s = tensor.empty() : tensor<300xf32>
  %t = tensor.empty() : tensor<300xi32>
  %r:12 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
    ins(%a, %b : tensor<300xi32>, tensor<300xi32>) outs(%s, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t : tensor<300xf32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) {
  ^bb0(%i: i32, %j: i32, %o: f32, %p0: i32, %p1: i32, %p2: i32, %p3: i32, %p4: i32, %p5: i32, %p6: i32, %p7: i32, %p8: i32, %p9: i32, %p10: i32):
    %sum = arith.subi %i, %j : i32
    %c0 = arith.constant 7 : i32
    %q0 = arith.remsi %sum, %c0 : i32
    %c1 = arith.constant -5 : i32
    %q1 = arith.remsi %sum, %c1 : i32
    %c2 = arith.constant 64 : i32
    %q2 = arith.remsi %sum, %c2 : i32
    %c3 = arith.constant 7 : i32
    %q3 = arith.divsi %sum, %c3 : i32
    %c4 = arith.constant -5 : i32
    %q4 = arith.divsi %sum, %c4 : i32
    %c5 = arith.constant 7 : i32
    %q5 = arith.floordivsi %sum, %c5 : i32
    %c6 = arith.constant -64 : i32
    %q6 = arith.floordivsi %sum, %c6 : i32
    %c7 = arith.constant 7 : i32
    %q7 = arith.ceildivsi %sum, %c7 : i32
    %c8 = arith.constant -3 : i32
    %q8 = arith.ceildivsi %sum, %c8 : i32
    %c9 = arith.constant 1 : i32
    %q9 = arith.remsi %sum, %c9 : i32
    %c10 = arith.constant 1 : i32
    %q10 = arith.divsi %sum, %c10 : i32
    %f = arith.sitofp %q0 : i32 to f32
    linalg.yield %f, %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9, %q10 : f32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  } -> (tensor<300xf32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11 : tensor<300xf32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>
}

//--- rows.mlir
#id = affine_map<(d0) -> (d0)>
func.func @f(%table: tensor<24x40xf16>, %a: tensor<30xi32> {spyre.range = array<i64: 0, 400>}, %b: tensor<30xi32> {spyre.range = array<i64: 0, 400>}) -> tensor<30x40xf16> {
  %shape = tensor.empty() : tensor<30x40xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<30xi32>, tensor<30xi32>) outs(%shape : tensor<30x40xf16>) {
  ^bb0(%i: i32, %j: i32, %o: f16):
    %c = arith.constant 24 : i32
    %zero = arith.constant 0 : i32
    %sum = arith.addi %i, %j : i32
    %m = arith.remsi %sum, %c : i32
    %k = arith.maxsi %m, %zero : i32
    %row = arith.index_cast %k : i32 to index
    %column = linalg.index 1 : index
    %x = tensor.extract %table[%row, %column] : tensor<24x40xf16>
    linalg.yield %x : f16
  } -> tensor<30x40xf16>
  return %r : tensor<30x40xf16>
}

//--- divisors.mlir
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<300xi32>, %b: tensor<300xi32>, %c: tensor<300xi32>)
    -> (tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) {
  %t = tensor.empty() : tensor<300xi32>
  %r:9 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
    ins(%a, %b, %c : tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) outs(%t, %t, %t, %t, %t, %t, %t, %t, %t : tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>) {
  ^bb0(%i: i32, %j: i32, %k: i32, %p0: i32, %p1: i32, %p2: i32, %p3: i32, %p4: i32, %p5: i32, %p6: i32, %p7: i32, %p8: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %most = arith.constant 31 : i32
    %sum = arith.subi %i, %k : i32
    %q0 = arith.remsi %sum, %j : i32
    %q1 = arith.divsi %sum, %j : i32
    %q2 = arith.floordivsi %sum, %j : i32
    %q3 = arith.ceildivsi %sum, %j : i32
    // A choice that keeps 0 away, and a maximum that does.
    %is = arith.cmpi eq, %j, %zero : i32
    %guarded = arith.select %is, %one, %j : i32
    %q4 = arith.remsi %i, %guarded : i32
    %difference = arith.subi %j, %k : i32
    %least = arith.maxsi %difference, %one : i32
    %q5 = arith.divsi %i, %least : i32
    %magnitude = math.absi %sum : i32
    %q6 = arith.remui %magnitude, %j : i32
    %twice = arith.shli %sum, %one : i32
    %half = arith.shrsi %sum, %two : i32
    %q7 = arith.addi %twice, %half : i32
    // The sign of an integer.
    %bits = arith.shrsi %sum, %most : i32
    %q8 = arith.ori %bits, %one : i32
    linalg.yield %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8 : i32, i32, i32, i32, i32, i32, i32, i32, i32
  } -> (tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>, tensor<300xi32>
}

//--- zero.mlir
func.func @f(%a: tensor<300xi32>, %b: tensor<300xi32>) -> tensor<300xi32> {
  %d = arith.subi %a, %b : tensor<300xi32>
  %r = arith.remsi %a, %d : tensor<300xi32>
  return %r : tensor<300xi32>
}
