// Integers of the caller that ops compute with are numbers in a format that holds them exactly, in a range that program.json says: masks, lengths, positions, in
// f16 and f32, as results too; and what is computed of them chooses rows.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/mask.mlir -o %t/mask --validate > %t.log && spyre-run %t/mask --check %t/parts/mask.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=MASK --input-file=%t/mask/program.json
// RUN: spyre-compile %t/parts/lengths.mlir -o %t/lengths --validate > %t.log && spyre-run %t/lengths --check %t/parts/lengths.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: FileCheck %s --check-prefix=LENGTHS --input-file=%t/lengths/program.json
// RUN: spyre-compile %t/parts/rows.mlir -o %t/rows --validate > %t.log && spyre-run %t/rows --check %t/parts/rows.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=MASK --input-file=%t/rows/program.json
// RUN: spyre-compile %t/parts/along.mlir -o %t/along --validate > %t.log && spyre-run %t/along --check %t/parts/along.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: FileCheck %s --check-prefix=ALONG --input-file=%t/along/program.json
// RUN: spyre-compile %t/parts/argmax.mlir -o %t/argmax --validate > %t.log && spyre-run %t/argmax --draw ties --check %t/parts/argmax.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: spyre-compile %t/parts/argmax.mlir -o %t/one --cores 1 --lx-planner none > %t.log && spyre-run %t/one --check %t/parts/argmax.mlir | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: spyre-compile %t/parts/truths.mlir -o %t/truths --validate > %t.log && spyre-run %t/truths --check %t/parts/truths.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/label.mlir -o %t/label --validate > %t.log && spyre-run %t/label --check %t/parts/label.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=LABEL --input-file=%t/label/program.json

// An integer outside of the range is refused at launch.
// RUN: not spyre-run %t/mask --input arg0=%S/Inputs/twos.npy 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// CHECK: result0: correct
// TWO: result1: correct
// MASK: "index_range": [
// MASK-NEXT: 0,
// MASK-NEXT: 2
// LENGTHS: "index_range": [
// LENGTHS-NEXT: -265,
// LENGTHS-NEXT: 266
// ALONG: "index_range": [
// ALONG-NEXT: 0,
// ALONG-NEXT: 77
// LABEL: "index_range": [
// LABEL-NEXT: 0,
// LABEL-NEXT: 30
// OUTSIDE: is 2, which is not in the range 0..2

//--- mask.mlir
#mask = affine_map<(b, h, q, k) -> (b, k)>
#id = affine_map<(b, h, q, k) -> (b, h, q, k)>
func.func @mask(%mask: tensor<2x77xi64>, %x: tensor<2x4x5x77xf32>) -> tensor<2x4x5x77xf32> {
  %e = tensor.empty() : tensor<2x4x5x77xf32>
  %one = arith.constant 1.0 : f32
  %low = arith.constant -3.40282347E+38 : f32
  %y = linalg.generic {indexing_maps = [#mask, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%mask, %x : tensor<2x77xi64>, tensor<2x4x5x77xf32>) outs(%e : tensor<2x4x5x77xf32>) {
  ^bb0(%m: i64, %a: f32, %out: f32):
    %n = arith.sitofp %m : i64 to f32
    %open = arith.subf %one, %n : f32
    %bias = arith.mulf %open, %low : f32
    %s = arith.addf %a, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x4x5x77xf32>
  %z = linalg.softmax dimension(3) ins(%y : tensor<2x4x5x77xf32>) outs(%e : tensor<2x4x5x77xf32>) -> tensor<2x4x5x77xf32>
  return %z : tensor<2x4x5x77xf32>
}

//--- lengths.mlir
#row = affine_map<(b, k) -> (b)>
#id = affine_map<(b, k) -> (b, k)>
func.func @lengths(%lengths: tensor<5xi32>, %x: tensor<5x77xf16>) -> (tensor<5x77xf16>, tensor<5x77xi32>) {
  %e = tensor.empty() : tensor<5x77xf16>
  %i = tensor.empty() : tensor<5x77xi32>
  %low = arith.constant -65504.0 : f16
  %three = arith.constant 3 : i32
  %y:2 = linalg.generic {indexing_maps = [#row, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%lengths, %x : tensor<5xi32>, tensor<5x77xf16>) outs(%e, %i : tensor<5x77xf16>, tensor<5x77xi32>) {
  ^bb0(%n: i32, %a: f16, %out: f16, %other: i32):
    %k = linalg.index 1 : index
    %position = arith.index_cast %k : index to i32
    %is_inside = arith.cmpi slt, %position, %n : i32
    %s = arith.select %is_inside, %a, %low : f16
    %left = arith.subi %position, %n : i32
    %times = arith.muli %left, %three : i32
    linalg.yield %s, %times : f16, i32
  } -> (tensor<5x77xf16>, tensor<5x77xi32>)
  return %y#0, %y#1 : tensor<5x77xf16>, tensor<5x77xi32>
}

//--- rows.mlir
// Positions of what a mask leaves, as RoBERTa has them: a running sum that chooses rows of a table.
#id = affine_map<(b, k) -> (b, k)>
#index = affine_map<(b, k, d) -> (b, k)>
#rows = affine_map<(b, k, d) -> (b, k, d)>
func.func @rows(%mask: tensor<2x37xi64>, %table: tensor<50x80xf16>) -> tensor<2x37x80xf16> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<2x37xi64>
  %start = linalg.fill ins(%zero : i64) outs(%e : tensor<2x37xi64>) -> tensor<2x37xi64>
  %f = tensor.empty() : tensor<2xi64>
  %last = linalg.fill ins(%zero : i64) outs(%f : tensor<2xi64>) -> tensor<2xi64>
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%mask : tensor<2x37xi64>) outs(%start, %last : tensor<2x37xi64>, tensor<2xi64>) {
  ^bb0(%a: i64, %b: i64):
    %s = arith.addi %a, %b : i64
    tm_tensor.yield %s : i64
  } -> tensor<2x37xi64>, tensor<2xi64>
  %positions = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%sums#0, %mask : tensor<2x37xi64>, tensor<2x37xi64>) outs(%e : tensor<2x37xi64>) {
  ^bb0(%s: i64, %m: i64, %out: i64):
    %one = arith.constant 1 : i64
    %kept = arith.muli %s, %m : i64
    %next = arith.addi %kept, %one : i64
    linalg.yield %next : i64
  } -> tensor<2x37xi64>
  %r = tensor.empty() : tensor<2x37x80xf16>
  %y = linalg.generic {indexing_maps = [#index, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%positions : tensor<2x37xi64>) outs(%r : tensor<2x37x80xf16>) {
  ^bb0(%p: i64, %out: f16):
    %fifty = arith.constant 50 : index
    %at = arith.index_cast %p : i64 to index
    %fits = arith.cmpi slt, %at, %fifty : index
    cf.assert %fits, "index must be smaller than dim size"
    %d = linalg.index 2 : index
    %element = tensor.extract %table[%at, %d] : tensor<50x80xf16>
    linalg.yield %element : f16
  } -> tensor<2x37x80xf16>
  return %y : tensor<2x37x80xf16>
}

//--- along.mlir
// Indices along one dimension while another one is the iteration's: one element of each row, and a row of each matrix.
#one = affine_map<(b) -> (b)>
#id = affine_map<(b, d) -> (b, d)>
#of = affine_map<(b, d) -> (b)>
func.func @along(%x: tensor<5x77xf16>, %at: tensor<5xi64>, %y: tensor<5x77x24xf16>) -> (tensor<5xf16>, tensor<5x24xf16>) {
  %e = tensor.empty() : tensor<5xf16>
  %a = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%at : tensor<5xi64>) outs(%e : tensor<5xf16>) {
  ^bb0(%i: i64, %out: f16):
    %b = linalg.index 0 : index
    %k = arith.index_cast %i : i64 to index
    %element = tensor.extract %x[%b, %k] : tensor<5x77xf16>
    linalg.yield %element : f16
  } -> tensor<5xf16>
  %f = tensor.empty() : tensor<5x24xf16>
  %c = linalg.generic {indexing_maps = [#of, #id], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<5xi64>) outs(%f : tensor<5x24xf16>) {
  ^bb0(%i: i64, %out: f16):
    %b = linalg.index 0 : index
    %d = linalg.index 1 : index
    %k = arith.index_cast %i : i64 to index
    %element = tensor.extract %y[%b, %k, %d] : tensor<5x77x24xf16>
    linalg.yield %element : f16
  } -> tensor<5x24xf16>
  return %a, %c : tensor<5xf16>, tensor<5x24xf16>
}

//--- argmax.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @argmax(%x: tensor<5x77xf16>) -> (tensor<5xi64>, tensor<5xi64>) {
  %low = arith.constant 0xFC00 : f16
  %high = arith.constant 0x7C00 : f16
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<5xf16>
  %i = tensor.empty() : tensor<5xi64>
  %l = linalg.fill ins(%low : f16) outs(%e : tensor<5xf16>) -> tensor<5xf16>
  %h = linalg.fill ins(%high : f16) outs(%e : tensor<5xf16>) -> tensor<5xf16>
  %z = linalg.fill ins(%zero : i64) outs(%i : tensor<5xi64>) -> tensor<5xi64>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<5x77xf16>) outs(%l, %z : tensor<5xf16>, tensor<5xi64>) {
  ^bb0(%a: f16, %most: f16, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.maximumf %a, %most : f16
    %c = arith.cmpf ogt, %a, %most : f16
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : f16, i64
  } -> (tensor<5xf16>, tensor<5xi64>)
  %n:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<5x77xf16>) outs(%h, %z : tensor<5xf16>, tensor<5xi64>) {
  ^bb0(%a: f16, %least: f16, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.minimumf %a, %least : f16
    %c = arith.cmpf ole, %a, %least : f16
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : f16, i64
  } -> (tensor<5xf16>, tensor<5xi64>)
  return %m#1, %n#1 : tensor<5xi64>, tensor<5xi64>
}

// How many of the caller's truth values hold: a truth value is 0 or 1, whatever is known of its range.
//--- truths.mlir
func.func @truths(%mask: tensor<9xi1>) -> tensor<i64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %start = linalg.fill ins(%zero : i64) outs(%e : tensor<i64>) -> tensor<i64>
  %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
    ins(%mask : tensor<9xi1>) outs(%start : tensor<i64>) {
  ^bb0(%in: i1, %sum: i64):
    %number = arith.extui %in : i1 to i64
    %more = arith.addi %number, %sum : i64
    linalg.yield %more : i64
  } -> tensor<i64>
  return %n : tensor<i64>
}

// A loss that leaves out label 0: what is chosen by a comparison of an index follows from that index alone.
//--- label.mlir
func.func @label(%x: tensor<9x30xf16>, %t: tensor<9xi64>) -> (tensor<9xf16>) {
  %c0 = arith.constant 0 : i64
  %e = tensor.empty() : tensor<9xi64>
  %s = linalg.generic {indexing_maps = [affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} ins(%t : tensor<9xi64>) outs(%e : tensor<9xi64>) {
    ^bb0(%in: i64, %out: i64):
      %c = arith.cmpi ne, %in, %c0 : i64
      %v = arith.select %c, %in, %c0 : i64
      linalg.yield %v : i64
    } -> tensor<9xi64>
  %f = tensor.empty() : tensor<9xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} ins(%s : tensor<9xi64>) outs(%f : tensor<9xf16>) {
    ^bb0(%in: i64, %out: f16):
      %i = linalg.index 0 : index
      %j = arith.index_cast %in : i64 to index
      %v = tensor.extract %x[%i, %j] : tensor<9x30xf16>
      linalg.yield %v : f16
    } -> tensor<9xf16>
  return %r : tensor<9xf16>
}
