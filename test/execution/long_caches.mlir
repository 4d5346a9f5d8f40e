// Caches of more rows than the 16-bit format has whole numbers: a row of one, several rows of one, and rows of a table at places of their own, some of
// them the same; and a mask of the rows up to a position and not too far before it, as a step of decoding has it. The places are compared digit by digit.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t/log && spyre-run %t/out --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/out --seed 7 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// Every row can be written, but for those behind which the part would not fit.
// RUN: FileCheck %s --check-prefix=RANGE --input-file=%t/out/program.json
// RANGE: "name": "arg2"
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 1100
// RANGE: "name": "arg4"
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 1048
// RANGE: "name": "arg6"
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 1300

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%cache: tensor<1x2x1100x64xf16>, %row: tensor<1x2x1x64xf16>, %position: tensor<i64>,
                %rows: tensor<1x2x3x64xf16>, %first: tensor<i64>, %table: tensor<1300x70xf16>, %places: tensor<5x1xi64>,
                %parts: tensor<5x1x70xf16>, %other: tensor<1x2x1050x64xf16>,
                %scores: tensor<2x1100xf16>)
    -> (tensor<1x2x1100x64xf16>, tensor<1x2x1050x64xf16>, tensor<1300x70xf16>, tensor<2x1100xf16>) {
  %0 = tensor.extract %position[] : tensor<i64>
  %1 = arith.index_cast %0 : i64 to index
  %one = tensor.insert_slice %row into %cache[0, 0, %1, 0] [1, 2, 1, 64] [1, 1, 1, 1] : tensor<1x2x1x64xf16> into tensor<1x2x1100x64xf16>
  %2 = tensor.extract %first[] : tensor<i64>
  %3 = arith.index_cast %2 : i64 to index
  %three = tensor.insert_slice %rows into %other[0, 0, %3, 0] [1, 2, 3, 64] [1, 1, 1, 1] : tensor<1x2x3x64xf16> into tensor<1x2x1050x64xf16>
  %scattered = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%parts, %places : tensor<5x1x70xf16>, tensor<5x1xi64>) outs(%table : tensor<1300x70xf16>) {
  ^bb0(%part: f16, %old: f16):
    tm_tensor.yield %part : f16
  } -> tensor<1300x70xf16>
  %4 = tensor.empty() : tensor<2x1100xf16>
  %masked = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%scores : tensor<2x1100xf16>) outs(%4 : tensor<2x1100xf16>) {
  ^bb0(%score: f16, %out: f16):
    %column = linalg.index 1 : index
    %number = arith.index_cast %column : index to i64
    %is_before = arith.cmpi sle, %number, %0 : i64
    %window = arith.constant 1030 : i64
    %start = arith.subi %0, %window : i64
    %is_near = arith.cmpi sgt, %number, %start : i64
    %is_there = arith.andi %is_before, %is_near : i1
    %hidden = arith.constant -60000.0 : f16
    %kept = arith.select %is_there, %score, %hidden : f16
    linalg.yield %kept : f16
  } -> tensor<2x1100xf16>
  return %one, %three, %scattered, %masked : tensor<1x2x1100x64xf16>, tensor<1x2x1050x64xf16>, tensor<1300x70xf16>, tensor<2x1100xf16>
}
