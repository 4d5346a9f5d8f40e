// Masks over so many positions that no constant holds them: rows and columns are compared where the mask is read, tile by tile, and nothing of the
// size of the mask goes through HBM.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/causal.mlir -o %t/causal | FileCheck %s --check-prefix=CAUSAL
// RUN: spyre-run %t/causal --check %t/parts/causal.mlir | FileCheck %s --check-prefix=AGREES
// CAUSAL: HBM traffic 32.{{.*}}, 1.0{{.}} times

// A window between two lines, or the first columns; what is outside of it is a number, for values below that, too.
// RUN: spyre-compile %t/parts/window.mlir -o %t/window | FileCheck %s --check-prefix=WINDOW
// RUN: spyre-run %t/window --check %t/parts/window.mlir --draw infinite | FileCheck %s --check-prefix=AGREES
// WINDOW: HBM traffic 32.{{.*}}, 1.0{{.}} times

// AGREES: result0: correct

//--- causal.mlir
#all = affine_map<(h, s, t) -> (h, s, t)>
#mask = affine_map<(h, s, t) -> (s, t)>
#row = affine_map<(h, s, t) -> (h, s)>
func.func @main(%x: tensor<2x256x16448xf16>) -> tensor<2x256x16448xf16> {
  %zero = arith.constant 0.0 : f16
  %hidden = arith.constant 0xFC00 : f16
  %ahead = arith.constant 16000 : index
  %mask_empty = tensor.empty() : tensor<256x16448xf16>
  %mask = linalg.generic {indexing_maps = [affine_map<(s, t) -> (s, t)>], iterator_types = ["parallel", "parallel"]} outs(%mask_empty : tensor<256x16448xf16>) {
  ^bb0(%out: f16):
    %s = linalg.index 0 : index
    %t = linalg.index 1 : index
    %end = arith.addi %s, %ahead : index
    %is_seen = arith.cmpi sle, %t, %end : index
    %r = arith.select %is_seen, %zero, %hidden : f16
    linalg.yield %r : f16
  } -> tensor<256x16448xf16>
  %empty = tensor.empty() : tensor<2x256x16448xf16>
  %masked = linalg.generic {indexing_maps = [#all, #mask, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %mask : tensor<2x256x16448xf16>, tensor<256x16448xf16>) outs(%empty : tensor<2x256x16448xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2x256x16448xf16>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%masked : tensor<2x256x16448xf16>) outs(%empty : tensor<2x256x16448xf16>) {
  ^bb0(%a: f16, %out: f16):
    %r = math.exp %a : f16
    linalg.yield %r : f16
  } -> tensor<2x256x16448xf16>
  return %y : tensor<2x256x16448xf16>
}

//--- window.mlir
#all = affine_map<(h, s, t) -> (h, s, t)>
func.func @main(%x: tensor<2x256x16448xf16>) -> tensor<2x256x16448xf16> {
  %low = arith.constant -2.0 : f16
  %behind = arith.constant 12000 : index
  %ahead = arith.constant 16000 : index
  %first = arith.constant 3 : index
  %empty = tensor.empty() : tensor<2x256x16448xf16>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<2x256x16448xf16>) outs(%empty : tensor<2x256x16448xf16>) {
  ^bb0(%a: f16, %out: f16):
    %s = linalg.index 1 : index
    %t = linalg.index 2 : index
    %distance = arith.subi %t, %s : index
    %is_behind = arith.cmpi slt, %behind, %distance : index
    %is_ahead = arith.cmpi sle, %distance, %ahead : index
    %is_near = arith.andi %is_behind, %is_ahead : i1
    %sum = arith.addi %t, %s : index
    %is_first = arith.cmpi slt, %sum, %first : index
    %is_seen = arith.ori %is_near, %is_first : i1
    %r = arith.select %is_seen, %a, %low : f16
    linalg.yield %r : f16
  } -> tensor<2x256x16448xf16>
  return %y : tensor<2x256x16448xf16>
}
