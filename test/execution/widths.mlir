// Integers that are known have the width of their type: sums begin again at the other end, and what reads bits without a sign finds no negative numbers.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/truncated.mlir -o %t/truncated > %t.log && spyre-run %t/truncated --check %t/parts/truncated.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/inside.mlir -o %t/inside > %t.log && spyre-run %t/inside --check %t/parts/inside.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/generator.mlir -o %t/generator > %t.log && spyre-run %t/generator --check %t/parts/generator.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/smaller.mlir -o %t/smaller > %t.log && spyre-run %t/smaller --check %t/parts/smaller.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/bytes.mlir -o %t/bytes > %t.log && spyre-run %t/bytes --check %t/parts/bytes.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/exact.mlir -o %t/exact > %t.log && spyre-run %t/exact --check %t/parts/exact.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/guarded.mlir -o %t/guarded > %t.log && spyre-run %t/guarded --check %t/parts/guarded.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/reduced.mlir -o %t/reduced > %t.log && spyre-run %t/reduced --check %t/parts/reduced.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/added.mlir -o %t/added > %t.log && spyre-run %t/added --check %t/parts/added.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/bits.mlir -o %t/bits > %t.log && spyre-run %t/bits --check %t/parts/bits.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/narrow.mlir -o %t/narrow > %t.log && spyre-run %t/narrow --check %t/parts/narrow.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ADDED --input-file=%t/added/program.json
// RUN: FileCheck %s --check-prefix=NARROW --input-file=%t/narrow/program.json

// CHECK: result0: correct
// The sum of two bytes stays a byte, and so does what is cut to one.
// ADDED:  "index_range": [
// ADDED-NEXT: -63,
// ADDED-NEXT: 64
// NARROW: "index_range": [
// NARROW-NEXT: -127,
// NARROW-NEXT: 128

//--- truncated.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @trunc(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %c200 = arith.constant 200 : i32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.addi %j, %c200 : i32
    %t = arith.trunci %k : i32 to i8
    %f = arith.sitofp %t : i8 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- inside.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @ult(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.subi %i, %c1 : index
    %in = arith.cmpi ult, %j, %c8 : index
    %s = arith.select %in, %a, %z : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- generator.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @ovf(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %m = arith.constant 1103515245 : i32
  %c = arith.constant 12345 : i32
  %sh = arith.constant 16 : i32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.muli %j, %m : i32
    %l = arith.addi %k, %c : i32
    %h = arith.shrsi %l, %sh : i32
    %f = arith.sitofp %h : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- smaller.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @u(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %c8 = arith.constant 8 : i32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.subi %j, %c8 : i32
    %m = arith.minui %k, %c8 : i32
    %f = arith.sitofp %m : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- bytes.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d1)>
func.func @i8(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<[100, 100, 50, 1]> : tensor<4xi8>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #r, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<4x4xf32>, tensor<4xi8>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %q: i8, %o: f32):
    %k = arith.addi %q, %q : i8
    %f = arith.sitofp %k : i8 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

//--- exact.mlir
func.func @andi(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %m1 = arith.constant -1 : i64
  %big = arith.constant 9007199254740993 : i64
  %c = arith.constant 9007199254740992 : i64
  %d = arith.subi %big, %c : i64
  %f = arith.sitofp %d : i64 to f32
  %s = tensor.splat %f : tensor<4x64xf32>
  %y = linalg.add ins(%x, %s : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- guarded.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d1)>
func.func @guarded(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %c32 = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %in = arith.cmpi ult, %j, %c32 : i32
    %h = arith.shli %one, %j : i32
    %k = arith.select %in, %h, %zero : i32
    %q = arith.shrui %k, %one : i32
    %f = arith.sitofp %q : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- reduced.mlir
func.func @reduced(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %c = arith.constant dense<[100, 100, 50, 1]> : tensor<4xi8>
  %zero = arith.constant dense<0> : tensor<i8>
  %sum = linalg.reduce {arith.addi} ins(%c : tensor<4xi8>) outs(%zero : tensor<i8>) dimensions = [0]
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x64xf32>, tensor<i8>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %k: i8, %o: f32):
    %f = arith.sitofp %k : i8 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- added.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d1)>
func.func @added(%x: tensor<4x64xf32>, %n: tensor<64xi8>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #r, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x64xf32>, tensor<64xi8>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %k: i8, %o: f32):
    %t = arith.addi %k, %k : i8
    %f = arith.sitofp %t : i8 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- bits.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d1)>
func.func @bits(%x: tensor<4x64xf32>, %n: tensor<64xi1>, %m: tensor<64xi1>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #r, #r, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n, %m : tensor<4x64xf32>, tensor<64xi1>, tensor<64xi1>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %k: i1, %l: i1, %o: f32):
    %t = arith.addi %k, %l : i1
    %u = arith.cmpi slt, %k, %l : i1
    %v = arith.ori %t, %u : i1
    %f = arith.sitofp %v : i1 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

//--- narrow.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d1)>
func.func @narrow(%x: tensor<4x64xf32>, %n: tensor<64xi32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #r, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x64xf32>, tensor<64xi32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%a: f32, %k: i32, %o: f32):
    %t = arith.trunci %k : i32 to i8
    %f = arith.sitofp %t : i8 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}
