// Functions of runtime positions and constants become lookups in tables: a rotary embedding as Hugging Face writes it, with i64 positions;
// functions of single integers; comparisons with one outcome for all row numbers. The range of the positions is that of the rows.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/rotary.mlir -o %t/rotary --validate > %t.log && spyre-run %t/rotary --check %t/parts/rotary.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ROWS --input-file=%t/rotary/program.json
// RUN: spyre-compile %t/parts/rotary.mlir -o %t/one --cores 1 > %t.log && spyre-run %t/one --seed 3 --check %t/parts/rotary.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/single.mlir -o %t/single --validate > %t.log && spyre-run %t/single --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/promised.mlir -o %t/promised --validate > %t.log && spyre-run %t/promised --check %t/parts/promised.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROMISED --input-file=%t/promised/program.json
// RUN: spyre-compile %t/parts/fill.mlir -o %t/fill --validate > %t.log && spyre-run %t/fill --check %t/parts/fill.mlir | FileCheck %s

// CHECK: result0: correct
// ROWS: "index_range": [
// ROWS-NEXT: 0,
// ROWS-NEXT: 4096
// PROMISED: "index_range": [
// PROMISED-NEXT: 0,
// PROMISED-NEXT: 300

//--- rotary.mlir
#id = affine_map<(a, b, c) -> (a, b, c)>
#whole = affine_map<(a, h, b, c) -> (a, h, b, c)>
#angle = affine_map<(a, h, b, c) -> (a, b, c)>
func.func @rotary(%positions: tensor<1x77xi64>, %x: tensor<1x4x77x16xf16>) -> tensor<1x4x77x16xf16> {
  %frequencies = arith.constant dense<[[[1.0], [0.316228], [0.1], [0.0316228], [0.01], [0.00316228], [0.001], [0.000316228]]]> : tensor<1x8x1xf32>
  %row = tensor.expand_shape %positions [[0, 1], [2]] output_shape [1, 1, 77] : tensor<1x77xi64> into tensor<1x1x77xi64>
  %e0 = tensor.empty() : tensor<1x1x77xf32>
  %numbers = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%row : tensor<1x1x77xi64>) outs(%e0 : tensor<1x1x77xf32>) {
  ^bb0(%i: i64, %out: f32):
    %n = arith.sitofp %i : i64 to f32
    linalg.yield %n : f32
  } -> tensor<1x1x77xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<1x8x77xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x8x77xf32>) -> tensor<1x8x77xf32>
  %angles = linalg.batch_matmul ins(%frequencies, %numbers : tensor<1x8x1xf32>, tensor<1x1x77xf32>) outs(%start : tensor<1x8x77xf32>) -> tensor<1x8x77xf32>
  %e2 = tensor.empty() : tensor<1x77x8xf32>
  %turned = linalg.transpose ins(%angles : tensor<1x8x77xf32>) outs(%e2 : tensor<1x77x8xf32>) permutation = [0, 2, 1]
  %twice = tensor.concat dim(2) %turned, %turned : (tensor<1x77x8xf32>, tensor<1x77x8xf32>) -> tensor<1x77x16xf32>
  %e3 = tensor.empty() : tensor<1x77x16xf16>
  %cos = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%twice : tensor<1x77x16xf32>) outs(%e3 : tensor<1x77x16xf16>) {
  ^bb0(%a: f32, %out: f16):
    %c = math.cos %a : f32
    %h = arith.truncf %c : f32 to f16
    linalg.yield %h : f16
  } -> tensor<1x77x16xf16>
  %sin = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%twice : tensor<1x77x16xf32>) outs(%e3 : tensor<1x77x16xf16>) {
  ^bb0(%a: f32, %out: f16):
    %c = math.sin %a : f32
    %h = arith.truncf %c : f32 to f16
    linalg.yield %h : f16
  } -> tensor<1x77x16xf16>
  %first = tensor.extract_slice %x[0, 0, 0, 0] [1, 4, 77, 8] [1, 1, 1, 1] : tensor<1x4x77x16xf16> to tensor<1x4x77x8xf16>
  %second = tensor.extract_slice %x[0, 0, 0, 8] [1, 4, 77, 8] [1, 1, 1, 1] : tensor<1x4x77x16xf16> to tensor<1x4x77x8xf16>
  %e4 = tensor.empty() : tensor<1x4x77x8xf16>
  %minus = linalg.negf ins(%second : tensor<1x4x77x8xf16>) outs(%e4 : tensor<1x4x77x8xf16>) -> tensor<1x4x77x8xf16>
  %half = tensor.concat dim(3) %minus, %first : (tensor<1x4x77x8xf16>, tensor<1x4x77x8xf16>) -> tensor<1x4x77x16xf16>
  %e5 = tensor.empty() : tensor<1x4x77x16xf16>
  %y = linalg.generic {indexing_maps = [#whole, #whole, #angle, #angle, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %half, %cos, %sin : tensor<1x4x77x16xf16>, tensor<1x4x77x16xf16>, tensor<1x77x16xf16>, tensor<1x77x16xf16>) outs(%e5 : tensor<1x4x77x16xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %s: f16, %out: f16):
    %p = arith.mulf %a, %c : f16
    %q = arith.mulf %b, %s : f16
    %r = arith.addf %p, %q : f16
    linalg.yield %r : f16
  } -> tensor<1x4x77x16xf16>
  return %y : tensor<1x4x77x16xf16>
}

//--- single.mlir
#id = affine_map<(a) -> (a)>
func.func @single(%positions: tensor<77xi32>) -> tensor<77xf32> {
  %e = tensor.empty() : tensor<77xf32>
  %three = arith.constant 3 : i32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%positions : tensor<77xi32>) outs(%e : tensor<77xf32>) {
  ^bb0(%i: i32, %out: f32):
    %r = arith.remsi %i, %three : i32
    %s = arith.addi %r, %i : i32
    %n = arith.sitofp %s : i32 to f32
    %c = math.cos %n : f32
    linalg.yield %c : f32
  } -> tensor<77xf32>
  return %y : tensor<77xf32>
}

//--- promised.mlir
#id = affine_map<(a) -> (a)>
func.func @promised(%positions: tensor<77xi64> {spyre.range = array<i64: 0, 300>}) -> tensor<77xf32> {
  %e = tensor.empty() : tensor<77xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%positions : tensor<77xi64>) outs(%e : tensor<77xf32>) {
  ^bb0(%i: i64, %out: f32):
    %n = arith.sitofp %i : i64 to f32
    %c = math.exp %n : f32
    %o = arith.constant 1.0 : f32
    %d = arith.addf %c, %o : f32
    %q = arith.divf %o, %d : f32
    linalg.yield %q : f32
  } -> tensor<77xf32>
  return %y : tensor<77xf32>
}

//--- fill.mlir
// jnp.take fills with NaN for indices out of range; the range of the caller's indices excludes these.
#index = affine_map<(a, b) -> (a)>
#id = affine_map<(a, b) -> (a, b)>
func.func @fill(%table: tensor<100x64xf16>, %indices: tensor<13xi32>) -> tensor<13x64xf16> {
  %e = tensor.empty() : tensor<13x64xf16>
  %y = linalg.generic {indexing_maps = [#index, #id], iterator_types = ["parallel", "parallel"]} ins(%indices : tensor<13xi32>) outs(%e : tensor<13x64xf16>) {
  ^bb0(%i: i32, %out: f16):
    %zero = arith.constant 0 : i32
    %rows = arith.constant 100 : i32
    %last = arith.constant 99 : i32
    %nan = arith.constant 0x7E00 : f16
    %is_negative = arith.cmpi slt, %i, %zero : i32
    %behind = arith.addi %i, %rows : i32
    %wrapped = arith.select %is_negative, %behind, %i : i32
    %above = arith.cmpi sge, %wrapped, %zero : i32
    %below = arith.cmpi sle, %wrapped, %last : i32
    %is_row = arith.andi %above, %below : i1
    %low = arith.maxsi %wrapped, %zero : i32
    %clamped = arith.minsi %low, %last : i32
    %at = arith.index_cast %clamped : i32 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%at, %column] : tensor<100x64xf16>
    %chosen = arith.select %is_row, %element, %nan : f16
    linalg.yield %chosen : f16
  } -> tensor<13x64xf16>
  return %y : tensor<13x64xf16>
}
