// Sorted rows, by ranks and element by element, with positions and with other tensors; ties, infinities, both directions of comparison;
// along the last dimension and along another one. Sorted integers select rows.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/ranks.mlir -o %t/ranks --validate > %t.log && spyre-run %t/ranks --wipe-lx --check %t/parts/ranks.mlir | FileCheck %s
// RUN: spyre-run %t/ranks --draw ties --check %t/parts/ranks.mlir | FileCheck %s
// RUN: spyre-run %t/ranks --draw infinite --check %t/parts/ranks.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/ranks.mlir -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --draw ties --check %t/parts/ranks.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/rounds.mlir -o %t/rounds --validate > %t.log && spyre-run %t/rounds --wipe-lx --check %t/parts/rounds.mlir | FileCheck %s
// RUN: spyre-run %t/rounds --draw ties --check %t/parts/rounds.mlir | FileCheck %s
// RUN: spyre-run %t/rounds --draw infinite --check %t/parts/rounds.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/single.mlir -o %t/single --validate > %t.log && spyre-run %t/single --draw ties --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-run %t/single --seed 3 --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/integers.mlir -o %t/integers --validate > %t.log && spyre-run %t/integers --check %t/parts/integers.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/masked.mlir -o %t/masked --validate > %t.log && spyre-run %t/masked --check %t/parts/masked.mlir | FileCheck %s --check-prefix=MASKED
// RUN: spyre-compile %t/parts/topk.mlir -o %t/topk --validate > %t.log && spyre-run %t/topk --wipe-lx --check %t/parts/topk.mlir | FileCheck %s --check-prefix=TOPK
// RUN: spyre-run %t/topk --draw ties --check %t/parts/topk.mlir | FileCheck %s --check-prefix=TOPK
// RUN: spyre-run %t/topk --draw infinite --check %t/parts/topk.mlir | FileCheck %s --check-prefix=TOPK
// RUN: spyre-compile %t/parts/aware.mlir -o %t/aware --validate > %t.log && spyre-run %t/aware --draw infinite --check %t/parts/aware.mlir | FileCheck %s

// TOPK: result0: correct
// TOPK: result1: correct
// TOPK: result2: correct
// TOPK: result3: correct
// TOPK: result4: correct
// TOPK: result5: correct
// MASKED: result0: correct
// MASKED: result1: correct
// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

//--- ranks.mlir
func.func @ranks(%x: tensor<7x70xf16>, %y: tensor<7x70xf16>, %z: tensor<3x20x5xf16>) -> (tensor<7x70xf16>, tensor<7x70xf16>, tensor<3x20x5xf16>) {
  %rows:2 = tm_tensor.sort dimension(1) outs(%x, %y : tensor<7x70xf16>, tensor<7x70xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %d: f16):
    %stays = arith.cmpf ole, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<7x70xf16>, tensor<7x70xf16>
  %columns = tm_tensor.sort dimension(1) outs(%z : tensor<3x20x5xf16>) {
  ^bb0(%a: f16, %b: f16):
    %stays = arith.cmpf olt, %b, %a : f16
    tm_tensor.yield %stays : i1
  } -> tensor<3x20x5xf16>
  return %rows#0, %rows#1, %columns : tensor<7x70xf16>, tensor<7x70xf16>, tensor<3x20x5xf16>
}

//--- rounds.mlir
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @rounds(%x: tensor<5x200xf16>, %z: tensor<150x3xf16>, %table: tensor<150x70xf16>) -> (tensor<5x4xf16>, tensor<5x4xi64>, tensor<2x70xf16>) {
  %e = tensor.empty() : tensor<5x200xi64>
  %count = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x200xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<5x200xi64>
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %count : tensor<5x200xf16>, tensor<5x200xi64>) {
  ^bb0(%a: f16, %b: f16, %c: i64, %d: i64):
    %stays = arith.cmpf oge, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<5x200xf16>, tensor<5x200xi64>
  %values = tensor.extract_slice %sorted#0[0, 0] [5, 4] [1, 1] : tensor<5x200xf16> to tensor<5x4xf16>
  %places = tensor.extract_slice %sorted#1[0, 0] [5, 4] [1, 1] : tensor<5x200xi64> to tensor<5x4xi64>

  // The rows of a table where the second column is smallest.
  %e0 = tensor.empty() : tensor<150x3xi64>
  %down = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%e0 : tensor<150x3xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<150x3xi64>
  %lowest:2 = tm_tensor.sort dimension(0) outs(%z, %down : tensor<150x3xf16>, tensor<150x3xi64>) {
  ^bb0(%a: f16, %b: f16, %c: i64, %d: i64):
    %stays = arith.cmpf olt, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<150x3xf16>, tensor<150x3xi64>
  %which = tensor.extract_slice %lowest#1[0, 1] [2, 1] [1, 1] : tensor<150x3xi64> to tensor<2xi64>
  %e1 = tensor.empty() : tensor<2x70xf16>
  %rows = linalg.generic {indexing_maps = [#row, #whole], iterator_types = ["parallel", "parallel"]} ins(%which : tensor<2xi64>) outs(%e1 : tensor<2x70xf16>) {
  ^bb0(%in: i64, %out: f16):
    %i = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<150x70xf16>
    linalg.yield %element : f16
  } -> tensor<2x70xf16>
  return %values, %places, %rows : tensor<5x4xf16>, tensor<5x4xi64>, tensor<2x70xf16>
}

//--- single.mlir
#whole = affine_map<(d0, d1) -> (d0, d1)>
func.func @single(%x: tensor<5x33xf32>, %long: tensor<1x3000xf32>) -> (tensor<5x33xf32>, tensor<1x2xf32>, tensor<1x2xi64>) {
  %rows = tm_tensor.sort dimension(1) outs(%x : tensor<5x33xf32>) {
  ^bb0(%a: f32, %b: f32):
    %stays = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %stays : i1
  } -> tensor<5x33xf32>
  %e = tensor.empty() : tensor<1x3000xi64>
  %count = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x3000xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<1x3000xi64>
  %sorted:2 = tm_tensor.sort dimension(1) outs(%long, %count : tensor<1x3000xf32>, tensor<1x3000xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %stays = arith.cmpf ogt, %a, %b : f32
    tm_tensor.yield %stays : i1
  } -> tensor<1x3000xf32>, tensor<1x3000xi64>
  %values = tensor.extract_slice %sorted#0[0, 0] [1, 2] [1, 1] : tensor<1x3000xf32> to tensor<1x2xf32>
  %places = tensor.extract_slice %sorted#1[0, 0] [1, 2] [1, 1] : tensor<1x3000xi64> to tensor<1x2xi64>
  return %rows, %values, %places : tensor<5x33xf32>, tensor<1x2xf32>, tensor<1x2xi64>
}

//--- integers.mlir
func.func @integers(%x: tensor<6x9xi32>, %y: tensor<6x9xf16>, %z: tensor<6x9xi64>) -> (tensor<6x9xi32>, tensor<6x9xf16>, tensor<6x9xi64>) {
  %rows:3 = tm_tensor.sort dimension(1) outs(%x, %y, %z : tensor<6x9xi32>, tensor<6x9xf16>, tensor<6x9xi64>) {
  ^bb0(%a: i32, %b: i32, %c: f16, %d: f16, %e: i64, %f: i64):
    %stays = arith.cmpi sge, %a, %b : i32
    tm_tensor.yield %stays : i1
  } -> tensor<6x9xi32>, tensor<6x9xf16>, tensor<6x9xi64>
  return %rows#0, %rows#1, %rows#2 : tensor<6x9xi32>, tensor<6x9xf16>, tensor<6x9xi64>
}

//--- masked.mlir
#whole = affine_map<(d0, d1) -> (d0, d1)>
func.func @masked(%x: tensor<5x100xf16>) -> (tensor<5x6xf16>, tensor<5x6xi64>) {
  // Fewer elements than requested: the others are infinities, each with its own position.
  %two = arith.constant 2.0 : f16
  %lowest = arith.constant 0xFC00 : f16
  %e0 = tensor.empty() : tensor<5x100xf16>
  %e1 = tensor.empty() : tensor<5x100xi64>
  %few:2 = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x100xf16>) outs(%e0, %e1 : tensor<5x100xf16>, tensor<5x100xi64>) {
  ^bb0(%in: f16, %out0: f16, %out1: i64):
    %is_large = arith.cmpf ogt, %in, %two : f16
    %kept = arith.select %is_large, %in, %lowest : f16
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %kept, %n : f16, i64
  } -> (tensor<5x100xf16>, tensor<5x100xi64>)
  %sorted:2 = tm_tensor.sort dimension(1) outs(%few#0, %few#1 : tensor<5x100xf16>, tensor<5x100xi64>) {
  ^bb0(%a: f16, %b: f16, %c: i64, %d: i64):
    %stays = arith.cmpf oge, %a, %b : f16
    tm_tensor.yield %stays : i1
  } -> tensor<5x100xf16>, tensor<5x100xi64>
  %values = tensor.extract_slice %sorted#0[0, 0] [5, 6] [1, 1] : tensor<5x100xf16> to tensor<5x6xf16>
  %places = tensor.extract_slice %sorted#1[0, 0] [5, 6] [1, 1] : tensor<5x100xi64> to tensor<5x6xi64>
  return %values, %places : tensor<5x6xf16>, tensor<5x6xi64>
}

//--- topk.mlir
func.func @topk(%x: tensor<5x40xf32>, %y: tensor<300x3xf16>, %ids: tensor<300x3xi64>, %long: tensor<3x2500xf16>, %one: tensor<4x1xf16>)
    -> (tensor<5x4xf32>, tensor<5x4xi64>, tensor<2x3xf16>, tensor<2x3xi64>, tensor<3x7xf16>, tensor<4x1xi64>) {
  %lowest = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<5x4xf32>
  %from = linalg.fill ins(%lowest : f32) outs(%e0 : tensor<5x4xf32>) -> tensor<5x4xf32>
  %i0 = tensor.empty() : tensor<5x4xi64>
  %large:2 = tm_tensor.topk dimension(1) ins(%x : tensor<5x40xf32>) outs(%from, %i0 : tensor<5x4xf32>, tensor<5x4xi64>) {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf ogt, %a, %b : f32
    tm_tensor.yield %before : i1
  } -> tensor<5x4xf32>, tensor<5x4xi64>
  // The smallest elements along the rows, with integers of the caller as positions.
  %highest = arith.constant dense<0x7C00> : tensor<2x3xf16>
  %i1 = tensor.empty() : tensor<2x3xi64>
  %small:2 = tm_tensor.topk dimension(0) ins(%y, %ids : tensor<300x3xf16>, tensor<300x3xi64>) outs(%highest, %i1 : tensor<2x3xf16>, tensor<2x3xi64>) {
  ^bb0(%a: f16, %b: f16):
    %nan = arith.cmpf une, %b, %b : f16
    %number = arith.cmpf oeq, %a, %a : f16
    %alone = arith.andi %nan, %number : i1
    %less = arith.cmpf olt, %a, %b : f16
    %before = arith.ori %alone, %less : i1
    tm_tensor.yield %before : i1
  } -> tensor<2x3xf16>, tensor<2x3xi64>
  // Top-k of a sampler over a vocabulary: positions are stored as two digits.
  %none = arith.constant dense<0xFC00> : tensor<3x7xf16>
  %i2 = tensor.empty() : tensor<3x7xi64>
  %kept:2 = tm_tensor.topk dimension(1) ins(%long : tensor<3x2500xf16>) outs(%none, %i2 : tensor<3x7xf16>, tensor<3x7xi64>) {
  ^bb0(%a: f16, %b: f16):
    %before = arith.cmpf ogt, %a, %b : f16
    tm_tensor.yield %before : i1
  } -> tensor<3x7xf16>, tensor<3x7xi64>
  // Top-k of a single element.
  %none1 = arith.constant dense<0xFC00> : tensor<4x1xf16>
  %i3 = tensor.empty() : tensor<4x1xi64>
  %only:2 = tm_tensor.topk dimension(1) ins(%one : tensor<4x1xf16>) outs(%none1, %i3 : tensor<4x1xf16>, tensor<4x1xi64>) {
  ^bb0(%a: f16, %b: f16):
    %before = arith.cmpf ogt, %a, %b : f16
    tm_tensor.yield %before : i1
  } -> tensor<4x1xf16>, tensor<4x1xi64>
  return %large#0, %large#1, %small#0, %small#1, %kept#0, %only#1
      : tensor<5x4xf32>, tensor<5x4xi64>, tensor<2x3xf16>, tensor<2x3xi64>, tensor<3x7xf16>, tensor<4x1xi64>
}

//--- aware.mlir
func.func @aware(%x: tensor<5x40xf16>, %y: tensor<40x3xf16>, %z: tensor<3x9xf16>) -> (tensor<5x40xf16>, tensor<40x3xf16>, tensor<3x9xf16>) {
  %up = tm_tensor.sort dimension(1) outs(%x : tensor<5x40xf16>) {
  ^bb0(%a: f16, %b: f16):
    %nan = arith.cmpf une, %b, %b : f16
    %less = arith.cmpf ole, %a, %b : f16
    %stays = arith.ori %nan, %less : i1
    tm_tensor.yield %stays : i1
  } -> tensor<5x40xf16>
  %down = tm_tensor.sort dimension(0) outs(%y : tensor<40x3xf16>) {
  ^bb0(%a: f16, %b: f16):
    %nan = arith.cmpf une, %a, %a : f16
    %more = arith.cmpf oge, %a, %b : f16
    %stays = arith.ori %nan, %more : i1
    tm_tensor.yield %stays : i1
  } -> tensor<40x3xf16>
  %swapped = tm_tensor.sort dimension(1) outs(%z : tensor<3x9xf16>) {
  ^bb0(%a: f16, %b: f16):
    %number = arith.cmpf ord, %a, %b : f16
    %less = arith.cmpf ult, %b, %a : f16
    %stays = arith.andi %number, %less : i1
    tm_tensor.yield %stays : i1
  } -> tensor<3x9xf16>
  return %up, %down, %swapped : tensor<5x40xf16>, tensor<40x3xf16>, tensor<3x9xf16>
}
