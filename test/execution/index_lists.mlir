// Lists of indices that are sliced, concatenated, shifted, stacked or sorted select the rows of their entries. The range of the caller's
// integers follows from the rows of the table and the shifts.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/shifted.mlir -o %t/1 --validate > %t/log && spyre-run %t/1 --wipe-lx --check %t/shifted.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=FORTY --input-file=%t/1/program.json
// RUN: spyre-compile %t/entry.mlir -o %t/2 --validate > %t/log && spyre-run %t/2 --wipe-lx --check %t/entry.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=FOUR --input-file=%t/2/program.json
// RUN: spyre-compile %t/aligned.mlir -o %t/3 --validate > %t/log && spyre-run %t/3 --wipe-lx --check %t/aligned.mlir | FileCheck %s
// RUN: spyre-compile %t/row.mlir -o %t/4 --validate > %t/log && spyre-run %t/4 --wipe-lx --check %t/row.mlir | FileCheck %s
// RUN: spyre-compile %t/joined.mlir -o %t/5 --validate > %t/log && spyre-run %t/5 --wipe-lx --check %t/joined.mlir | FileCheck %s
// RUN: spyre-compile %t/known.mlir -o %t/6 --validate > %t/log && spyre-run %t/6 --wipe-lx --check %t/known.mlir | FileCheck %s
// RUN: spyre-compile %t/returned.mlir -o %t/7 --validate > %t/log && spyre-run %t/7 --wipe-lx --check %t/returned.mlir | FileCheck %s
// RUN: spyre-compile %t/sorted.mlir -o %t/8 --validate > %t/log && spyre-run %t/8 --wipe-lx --check %t/sorted.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=EIGHT --input-file=%t/8/program.json
// RUN: spyre-compile %t/halved.mlir -o %t/9 --validate > %t/log && spyre-run %t/9 --wipe-lx --check %t/halved.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=EIGHT --input-file=%t/9/program.json
// RUN: spyre-compile %t/rows.mlir -o %t/10 --validate > %t/log && spyre-run %t/10 --wipe-lx --check %t/rows.mlir | FileCheck %s

// CHECK: result0: correct

// FORTY:      "index_range": [
// FORTY-NEXT: 0,
// FORTY-NEXT: 40
// FOUR:      "index_range": [
// FOUR-NEXT: 0,
// FOUR-NEXT: 4
// EIGHT:      "index_range": [
// EIGHT-NEXT: 0,
// EIGHT-NEXT: 8

//--- shifted.mlir
func.func @main(%table: tensor<40x64xf16>, %ids: tensor<17xi32>) -> tensor<16x64xf16> {
  %e = tensor.empty() : tensor<16x64xf16>
  %s = tensor.extract_slice %ids[1] [16] [1] : tensor<17xi32> to tensor<16xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<16xi32>) outs(%e : tensor<16x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %j = arith.index_cast %i : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%j, %k] : tensor<40x64xf16>
    linalg.yield %v : f16
  } -> tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}

//--- entry.mlir
func.func @main(%x: tensor<4x64xf16>, %r: tensor<2xi32>) -> tensor<1x64xf16> {
  %c1 = arith.constant 1 : index
  %e = tensor.extract %r[%c1] : tensor<2xi32>
  %o = arith.index_cast %e : i32 to index
  %s = tensor.extract_slice %x[%o, 0] [1, 64] [1, 1] : tensor<4x64xf16> to tensor<1x64xf16>
  return %s : tensor<1x64xf16>
}

//--- aligned.mlir
func.func @main(%x: tensor<32x64xf16>, %r: tensor<128xi32>) -> tensor<1x64xf16> {
  %c96 = arith.constant 96 : index
  %e = tensor.extract %r[%c96] : tensor<128xi32>
  %o = arith.index_cast %e : i32 to index
  %s = tensor.extract_slice %x[%o, 0] [1, 64] [1, 1] : tensor<32x64xf16> to tensor<1x64xf16>
  return %s : tensor<1x64xf16>
}

//--- row.mlir
func.func @main(%x: tensor<40x64xf16>, %r: tensor<3x32xi32>) -> tensor<1x32x64xf16> {
  %e = tensor.empty() : tensor<1x32x64xf16>
  %s = tensor.extract_slice %r[1, 0] [1, 32] [1, 1] : tensor<3x32xi32> to tensor<1x32xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<1x32xi32>) outs(%e : tensor<1x32x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %j = arith.index_cast %i : i32 to index
    %k = linalg.index 2 : index
    %v = tensor.extract %x[%j, %k] : tensor<40x64xf16>
    linalg.yield %v : f16
  } -> tensor<1x32x64xf16>
  return %y : tensor<1x32x64xf16>
}

//--- joined.mlir
func.func @main(%table: tensor<8x70xf16>, %a: tensor<5xi32>, %b: tensor<3xi32>) -> tensor<8x70xf16> {
  %ids = tensor.concat dim(0) %a, %b : (tensor<5xi32>, tensor<3xi32>) -> tensor<8xi32>
  %e = tensor.empty() : tensor<8x70xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<8xi32>) outs(%e : tensor<8x70xf16>) {
  ^bb0(%i: i32, %o: f16):
    %j = arith.index_cast %i : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%j, %k] : tensor<8x70xf16>
    linalg.yield %v : f16
  } -> tensor<8x70xf16>
  return %y : tensor<8x70xf16>
}

//--- known.mlir
// The first entry of a known list is no row until it is wrapped.
func.func @main(%table: tensor<8x64xf16>, %a: tensor<5xi32>) -> tensor<7x64xf16> {
  %first = arith.constant dense<[-1, 2]> : tensor<2xi32>
  %ids = tensor.concat dim(0) %first, %a : (tensor<2xi32>, tensor<5xi32>) -> tensor<7xi32>
  %e = tensor.empty() : tensor<7x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<7xi32>) outs(%e : tensor<7x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %zero = arith.constant 0 : i32
    %n = arith.constant 8 : i32
    %is_negative = arith.cmpi slt, %i, %zero : i32
    %wrapped = arith.addi %i, %n : i32
    %row = arith.select %is_negative, %wrapped, %i : i32
    %j = arith.index_cast %row : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%j, %k] : tensor<8x64xf16>
    linalg.yield %v : f16
  } -> tensor<7x64xf16>
  return %y : tensor<7x64xf16>
}

//--- returned.mlir
func.func @main(%a: tensor<5xi32>, %b: tensor<3xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %id = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%i: i32, %o: i32):
    %two = arith.constant 2 : i32
    %zero = arith.constant 0 : i32
    %is_above = arith.cmpi sgt, %i, %two : i32
    %kept = arith.select %is_above, %i, %zero : i32
    linalg.yield %kept : i32
  } -> tensor<5xi32>
  %ids = tensor.concat dim(0) %id, %b : (tensor<5xi32>, tensor<3xi32>) -> tensor<8xi32>
  return %ids : tensor<8xi32>
}

//--- sorted.mlir
func.func @main(%table: tensor<8x64xf16>, %a: tensor<33xi32>) -> tensor<33x64xf16> {
  %ids = tm_tensor.sort dimension(0) outs(%a : tensor<33xi32>) {
  ^bb0(%one: i32, %other: i32):
    %stays = arith.cmpi sle, %one, %other : i32
    tm_tensor.yield %stays : i1
  } -> tensor<33xi32>
  %e = tensor.empty() : tensor<33x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<33xi32>) outs(%e : tensor<33x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %j = arith.index_cast %i : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%j, %k] : tensor<8x64xf16>
    linalg.yield %v : f16
  } -> tensor<33x64xf16>
  return %y : tensor<33x64xf16>
}

//--- halved.mlir
// A function of one index selects rows of a reordered table, so the range of the indices is twice the number of rows.
func.func @main(%table: tensor<4x64xf16>, %a: tensor<6xi32>) -> tensor<6x64xf16> {
  %e = tensor.empty() : tensor<6x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<6xi32>) outs(%e : tensor<6x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %two = arith.constant 2 : i32
    %half = arith.divsi %i, %two : i32
    %j = arith.index_cast %half : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%j, %k] : tensor<4x64xf16>
    linalg.yield %v : f16
  } -> tensor<6x64xf16>
  return %y : tensor<6x64xf16>
}

// Three rows of four indices as two rows of six, each of which selects columns of its own row: a diagonal of what all rows select.
//--- rows.mlir
func.func @main(%list: tensor<3x4xi32>, %table: tensor<2x64xf16>) -> tensor<2x6xf16> {
  %flat = tensor.collapse_shape %list [[0, 1]] : tensor<3x4xi32> into tensor<12xi32>
  %rows = tensor.expand_shape %flat [[0, 1]] output_shape [2, 6] : tensor<12xi32> into tensor<2x6xi32>
  %empty = tensor.empty() : tensor<2x6xf16>
  %chosen = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<2x6xi32>) outs(%empty : tensor<2x6xf16>) {
  ^bb0(%index: i32, %out: f16):
    %row = linalg.index 0 : index
    %column = arith.index_cast %index : i32 to index
    %element = tensor.extract %table[%row, %column] : tensor<2x64xf16>
    linalg.yield %element : f16
  } -> tensor<2x6xf16>
  return %chosen : tensor<2x6xf16>
}
