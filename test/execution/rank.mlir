// Tensors of seven and eight dimensions: neighbours are one where an operation walks along them together. Arguments and results keep their shapes for
// the caller.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/half.mlir -o %t/half --validate > %t/log && spyre-run %t/half --wipe-lx --check %t/half.mlir | FileCheck %s
// RUN: spyre-compile %t/half.mlir -o %t/three --cores 3 --lx-planner none > %t/log && spyre-run %t/three --seed 2 --check %t/half.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SHAPE --input-file=%t/half/program.json
// RUN: spyre-compile %t/single.mlir -o %t/single --validate > %t/log && spyre-run %t/single --wipe-lx --check %t/single.mlir | FileCheck %s
// RUN: spyre-compile %t/moved.mlir -o %t/moved --validate > %t/log && spyre-run %t/moved --wipe-lx --check %t/moved.mlir | FileCheck %s
// RUN: spyre-compile %t/products.mlir -o %t/products --validate > %t/log && spyre-run %t/products --wipe-lx --check %t/products.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// SHAPE: "name": "arg0",
// SHAPE-NEXT: "shape": [
// SHAPE-NEXT: 2,
// SHAPE-NEXT: 3,
// SHAPE-NEXT: 2,
// SHAPE-NEXT: 3,
// SHAPE-NEXT: 2,
// SHAPE-NEXT: 3,
// SHAPE-NEXT: 70

//--- half.mlir
func.func @half(%x: tensor<2x3x2x3x2x3x70xf16>, %b: tensor<2x2x2x70xf16>) -> (tensor<2x3x2x3x2x3x70xf16>, tensor<2x2x3x3x70xf16>) {
  %ey = tensor.empty() : tensor<2x3x2x3x2x3x70xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d4, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4, d5, d6)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x, %b : tensor<2x3x2x3x2x3x70xf16>, tensor<2x2x2x70xf16>) outs(%ey : tensor<2x3x2x3x2x3x70xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %p = arith.addf %a, %c : f16
    linalg.yield %p : f16
  } -> tensor<2x3x2x3x2x3x70xf16>
  %zs = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<2x2x3x3x70xf16>
  %fs = linalg.fill ins(%zs : f16) outs(%es : tensor<2x2x3x3x70xf16>) -> tensor<2x2x3x3x70xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d3, d5, d6)>], iterator_types = ["parallel", "reduction", "parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%y : tensor<2x3x2x3x2x3x70xf16>) outs(%fs : tensor<2x2x3x3x70xf16>) {
  ^bb0(%a: f16, %o: f16):
    %p = arith.addf %a, %o : f16
    linalg.yield %p : f16
  } -> tensor<2x2x3x3x70xf16>
  return %y, %s : tensor<2x3x2x3x2x3x70xf16>, tensor<2x2x3x3x70xf16>
}

//--- single.mlir
func.func @single(%x: tensor<2x3x2x3x2x1x2x70xf32>, %b: tensor<2x3x70xf32>) -> (tensor<2x3x2x3x2x1x2x70xf32>, tensor<2x3x2x3x2x1x2xf32>) {
  %ey = tensor.empty() : tensor<2x3x2x3x2x1x2x70xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4, d5, d6, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4, d5, d6, d7)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x, %b : tensor<2x3x2x3x2x1x2x70xf32>, tensor<2x3x70xf32>) outs(%ey : tensor<2x3x2x3x2x1x2x70xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.addf %a, %c : f32
    linalg.yield %p : f32
  } -> tensor<2x3x2x3x2x1x2x70xf32>
  %zs = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x3x2x3x2x1x2xf32>
  %fs = linalg.fill ins(%zs : f32) outs(%es : tensor<2x3x2x3x2x1x2xf32>) -> tensor<2x3x2x3x2x1x2xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4, d5, d6, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4, d5, d6)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%y : tensor<2x3x2x3x2x1x2x70xf32>) outs(%fs : tensor<2x3x2x3x2x1x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<2x3x2x3x2x1x2xf32>
  return %y, %s : tensor<2x3x2x3x2x1x2x70xf32>, tensor<2x3x2x3x2x1x2xf32>
}

//--- moved.mlir
func.func @moved(%x: tensor<2x3x2x3x2x3x70xf16>, %table: tensor<5x3x2x3x2x3x70xf16>, %rows: tensor<2xi64>) -> (tensor<2x3x2x3x2x3x70xf16>, tensor<4x3x2x3x2x3x70xf16>, tensor<70x3x2x3x2x3x2xf16>, tensor<2x3x2x5x2x3x70xf16>, tensor<2x3x2x3x2x3x70xf16>) {
  %et = tensor.empty() : tensor<2x3x2x3x2x3x70xf16>
  %t = linalg.transpose ins(%x : tensor<2x3x2x3x2x3x70xf16>) outs(%et : tensor<2x3x2x3x2x3x70xf16>) permutation = [2, 3, 0, 1, 4, 5, 6]
  %c = tensor.concat dim(0) %x, %x : (tensor<2x3x2x3x2x3x70xf16>, tensor<2x3x2x3x2x3x70xf16>) -> tensor<4x3x2x3x2x3x70xf16>
  %eu = tensor.empty() : tensor<70x3x2x3x2x3x2xf16>
  %u = linalg.transpose ins(%x : tensor<2x3x2x3x2x3x70xf16>) outs(%eu : tensor<70x3x2x3x2x3x2xf16>) permutation = [6, 5, 4, 3, 2, 1, 0]
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 0, 1, 0, 0, 0] high[0, 0, 0, 1, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c0: index, %d: index, %e: index, %f: index, %g: index):
    tensor.yield %zero : f16
  } : tensor<2x3x2x3x2x3x70xf16> to tensor<2x3x2x5x2x3x70xf16>
  %eg = tensor.empty() : tensor<2x3x2x3x2x3x70xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4, d5, d6)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%rows : tensor<2xi64>) outs(%eg : tensor<2x3x2x3x2x3x70xf16>) {
  ^bb0(%row: i64, %o: f16):
    %i = arith.index_cast %row : i64 to index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %i3 = linalg.index 3 : index
    %i4 = linalg.index 4 : index
    %i5 = linalg.index 5 : index
    %i6 = linalg.index 6 : index
    %v = tensor.extract %table[%i, %i1, %i2, %i3, %i4, %i5, %i6] : tensor<5x3x2x3x2x3x70xf16>
    linalg.yield %v : f16
  } -> tensor<2x3x2x3x2x3x70xf16>
  return %t, %c, %u, %p, %g : tensor<2x3x2x3x2x3x70xf16>, tensor<4x3x2x3x2x3x70xf16>, tensor<70x3x2x3x2x3x2xf16>, tensor<2x3x2x5x2x3x70xf16>, tensor<2x3x2x3x2x3x70xf16>
}

//--- products.mlir
func.func @products(%g: tensor<2x3x2x1x2x5x33xf16>, %h: tensor<2x3x2x1x2x33x70xf16>, %v: tensor<2x1x2x2x2x2x5x64xf16>, %w: tensor<2x1x2x2x2x2x64x64xf16>) -> (tensor<2x3x2x1x2x5x70xf16>, tensor<2x1x2x2x2x2x5x64xf16>) {
  %zx = arith.constant 0.0 : f16
  %ex = tensor.empty() : tensor<2x3x2x1x2x5x70xf16>
  %fx = linalg.fill ins(%zx : f16) outs(%ex : tensor<2x3x2x1x2x5x70xf16>) -> tensor<2x3x2x1x2x5x70xf16>
  %x = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, m, n, k) -> (d0, d1, d2, d3, d4, m, k)>, affine_map<(d0, d1, d2, d3, d4, m, n, k) -> (d0, d1, d2, d3, d4, k, n)>, affine_map<(d0, d1, d2, d3, d4, m, n, k) -> (d0, d1, d2, d3, d4, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%g, %h : tensor<2x3x2x1x2x5x33xf16>, tensor<2x3x2x1x2x33x70xf16>) outs(%fx : tensor<2x3x2x1x2x5x70xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %p = arith.mulf %a, %c : f16
    %q = arith.addf %p, %o : f16
    linalg.yield %q : f16
  } -> tensor<2x3x2x1x2x5x70xf16>
  %zy = arith.constant 0.0 : f16
  %ey = tensor.empty() : tensor<2x1x2x2x2x2x5x64xf16>
  %fy = linalg.fill ins(%zy : f16) outs(%ey : tensor<2x1x2x2x2x2x5x64xf16>) -> tensor<2x1x2x2x2x2x5x64xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, m, n, k) -> (d0, d1, d2, d3, d4, d5, m, k)>, affine_map<(d0, d1, d2, d3, d4, d5, m, n, k) -> (d0, d1, d2, d3, d4, d5, k, n)>, affine_map<(d0, d1, d2, d3, d4, d5, m, n, k) -> (d0, d1, d2, d3, d4, d5, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v, %w : tensor<2x1x2x2x2x2x5x64xf16>, tensor<2x1x2x2x2x2x64x64xf16>) outs(%fy : tensor<2x1x2x2x2x2x5x64xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %p = arith.mulf %a, %c : f16
    %q = arith.addf %p, %o : f16
    linalg.yield %q : f16
  } -> tensor<2x1x2x2x2x2x5x64xf16>
  return %x, %y : tensor<2x3x2x1x2x5x70xf16>, tensor<2x1x2x2x2x2x5x64xf16>
}
