// Reductions and matmuls of broadcast operands: each repeated element counts as often as it is repeated.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/sums.mlir -o %t/sums > %t.log && spyre-run %t/sums --check %t/sums.mlir | FileCheck %s
// RUN: spyre-compile %t/sums.mlir -o %t/one --cores 1 --lx-planner none > %t.log && spyre-run %t/one --check %t/sums.mlir | FileCheck %s
// RUN: spyre-compile %t/products.mlir -o %t/products > %t.log && spyre-run %t/products --check %t/products.mlir | FileCheck %s
// RUN: spyre-compile %t/windows.mlir -o %t/windows > %t.log && spyre-run %t/windows --check %t/windows.mlir | FileCheck %s
// RUN: spyre-compile %t/diagonals.mlir -o %t/diagonals > %t.log && spyre-run %t/diagonals --check %t/diagonals.mlir | FileCheck %s

// CHECK:     result0: correct
// CHECK-NOT: {{differs|error:|error\[}}

//--- sums.mlir
// Sums of a broadcast argument, of a broadcast maximum along the sticks, of all its elements, and by slices.
func.func @sums(%s: tensor<f16>, %x: tensor<5x40xf16>, %v: tensor<31xf16>, %t: tensor<17x1x1xf16>)
    -> (tensor<f16>, tensor<5xf16>, tensor<f16>, tensor<17x2xf16>) {
  %zero = arith.constant 0.0 : f16
  %low = arith.constant 0xFC00 : f16
  %e0 = tensor.empty() : tensor<f16>
  %zero0 = linalg.fill ins(%zero : f16) outs(%e0 : tensor<f16>) -> tensor<f16>
  %low0 = linalg.fill ins(%low : f16) outs(%e0 : tensor<f16>) -> tensor<f16>
  %e3 = tensor.empty() : tensor<3xf16>
  %three = linalg.broadcast ins(%s : tensor<f16>) outs(%e3 : tensor<3xf16>) dimensions = [0]
  %sum = linalg.reduce ins(%three : tensor<3xf16>) outs(%zero0 : tensor<f16>) dimensions = [0]
    (%a: f16, %b: f16) { %r = arith.addf %a, %b : f16 linalg.yield %r : f16 }

  %e5 = tensor.empty() : tensor<5xf16>
  %low5 = linalg.fill ins(%low : f16) outs(%e5 : tensor<5xf16>) -> tensor<5xf16>
  %zero5 = linalg.fill ins(%zero : f16) outs(%e5 : tensor<5xf16>) -> tensor<5xf16>
  %max = linalg.reduce ins(%x : tensor<5x40xf16>) outs(%low5 : tensor<5xf16>) dimensions = [1]
    (%a: f16, %b: f16) { %r = arith.maximumf %a, %b : f16 linalg.yield %r : f16 }
  %e53 = tensor.empty() : tensor<5x3xf16>
  %wide = linalg.broadcast ins(%max : tensor<5xf16>) outs(%e53 : tensor<5x3xf16>) dimensions = [1]
  %of_max = linalg.reduce ins(%wide : tensor<5x3xf16>) outs(%zero5 : tensor<5xf16>) dimensions = [1]
    (%a: f16, %b: f16) { %r = arith.addf %a, %b : f16 linalg.yield %r : f16 }

  %largest = linalg.reduce ins(%v : tensor<31xf16>) outs(%low0 : tensor<f16>) dimensions = [0]
    (%a: f16, %b: f16) { %r = arith.maximumf %a, %b : f16 linalg.yield %r : f16 }
  %again = linalg.broadcast ins(%largest : tensor<f16>) outs(%e3 : tensor<3xf16>) dimensions = [0]
  %of_largest = linalg.reduce ins(%again : tensor<3xf16>) outs(%zero0 : tensor<f16>) dimensions = [0]
    (%a: f16, %b: f16) { %r = arith.addf %a, %b : f16 linalg.yield %r : f16 }

  %flat = tensor.collapse_shape %t [[0, 1, 2]] : tensor<17x1x1xf16> into tensor<17xf16>
  %e4 = tensor.empty() : tensor<17x2x2xf16>
  %tiles = linalg.broadcast ins(%flat : tensor<17xf16>) outs(%e4 : tensor<17x2x2xf16>) dimensions = [1, 2]
  %e17 = tensor.empty() : tensor<17x2xf16>
  %zero17 = linalg.fill ins(%zero : f16) outs(%e17 : tensor<17x2xf16>) -> tensor<17x2xf16>
  %of_tiles = linalg.reduce ins(%tiles : tensor<17x2x2xf16>) outs(%zero17 : tensor<17x2xf16>) dimensions = [2]
    (%a: f16, %b: f16) { %r = arith.addf %a, %b : f16 linalg.yield %r : f16 }
  return %sum, %of_max, %of_largest, %of_tiles : tensor<f16>, tensor<5xf16>, tensor<f16>, tensor<17x2xf16>
}

//--- products.mlir
// Repeated rows, and repeated batches.
func.func @products(%x: tensor<65x2xf16>, %y: tensor<65x2x17xf16>, %u: tensor<4x100xf16>, %w: tensor<4x2x200x130xf16>)
    -> (tensor<65x3x17xf16>, tensor<4x2x1x130xf16>) {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<65x3x2xf16>
  %rows = linalg.broadcast ins(%x : tensor<65x2xf16>) outs(%e : tensor<65x3x2xf16>) dimensions = [1]
  %e0 = tensor.empty() : tensor<65x3x17xf16>
  %zero0 = linalg.fill ins(%zero : f16) outs(%e0 : tensor<65x3x17xf16>) -> tensor<65x3x17xf16>
  %first = linalg.batch_matmul ins(%rows, %y : tensor<65x3x2xf16>, tensor<65x2x17xf16>) outs(%zero0 : tensor<65x3x17xf16>) -> tensor<65x3x17xf16>
  %eu = tensor.empty() : tensor<4x2x2x100xf16>
  %many = linalg.broadcast ins(%u : tensor<4x100xf16>) outs(%eu : tensor<4x2x2x100xf16>) dimensions = [1, 2]
  %left = tensor.collapse_shape %many [[0], [1], [2, 3]] : tensor<4x2x2x100xf16> into tensor<4x2x200xf16>
  %lhs = tensor.expand_shape %left [[0], [1], [2, 3]] output_shape [4, 2, 1, 200] : tensor<4x2x200xf16> into tensor<4x2x1x200xf16>
  %e1 = tensor.empty() : tensor<4x2x1x130xf16>
  %zero1 = linalg.fill ins(%zero : f16) outs(%e1 : tensor<4x2x1x130xf16>) -> tensor<4x2x1x130xf16>
  %second = linalg.generic {indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>, affine_map<(a, b, m, n, k) -> (a, b, k, n)>, affine_map<(a, b, m, n, k) -> (a, b, m, n)>],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%lhs, %w : tensor<4x2x1x200xf16>, tensor<4x2x200x130xf16>) outs(%zero1 : tensor<4x2x1x130xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %c, %p : f16
    linalg.yield %s : f16
  } -> tensor<4x2x1x130xf16>
  return %first, %second : tensor<65x3x17xf16>, tensor<4x2x1x130xf16>
}

//--- windows.mlir
// A linear layer on a window of a tensor of rank 4: its rows are three dimensions.
func.func @windows(%x: tensor<4x5x6x64xf16>, %w: tensor<64x128xf16>) -> tensor<4x4x4x128xf16> {
  %zero = arith.constant 0.0 : f16
  %window = tensor.extract_slice %x[0, 1, 2, 0] [4, 4, 4, 64] [1, 1, 1, 1] : tensor<4x5x6x64xf16> to tensor<4x4x4x64xf16>
  %rows = tensor.collapse_shape %window [[0, 1, 2], [3]] : tensor<4x4x4x64xf16> into tensor<64x64xf16>
  %e = tensor.empty() : tensor<64x128xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<64x128xf16>) -> tensor<64x128xf16>
  %product = linalg.matmul ins(%rows, %w : tensor<64x64xf16>, tensor<64x128xf16>) outs(%zeros : tensor<64x128xf16>) -> tensor<64x128xf16>
  %result = tensor.expand_shape %product [[0, 1, 2], [3]] output_shape [4, 4, 4, 128] : tensor<64x128xf16> into tensor<4x4x4x128xf16>
  return %result : tensor<4x4x4x128xf16>
}

//--- diagonals.mlir
// A diagonal, one of each batch, a trace, and the rows that an index names in each batch.
func.func @diagonals(%x: tensor<64x64xf16>, %y: tensor<3x70x70xf16>, %z: tensor<4x16x128xf16>, %at: tensor<4xi64>)
    -> (tensor<64xf16>, tensor<3x70xf16>, tensor<f16>, tensor<4x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64xf16>
  %diagonal = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64x64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %n = arith.negf %in : f16
    linalg.yield %n : f16
  } -> tensor<64xf16>
  %e1 = tensor.empty() : tensor<3x70xf16>
  %batches = linalg.generic {indexing_maps = [affine_map<(b, i) -> (b, i, i)>, affine_map<(b, i) -> (b, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<3x70x70xf16>) outs(%e1 : tensor<3x70xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<3x70xf16>
  %e0 = tensor.empty() : tensor<f16>
  %zero0 = linalg.fill ins(%zero : f16) outs(%e0 : tensor<f16>) -> tensor<f16>
  %trace = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<64x64xf16>) outs(%zero0 : tensor<f16>) {
  ^bb0(%in: f16, %out: f16):
    %s = arith.addf %in, %out : f16
    linalg.yield %s : f16
  } -> tensor<f16>
  %e2 = tensor.empty() : tensor<4x128xf16>
  %rows = linalg.generic {indexing_maps = [affine_map<(b, d) -> (b)>, affine_map<(b, d) -> (b, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<4xi64>) outs(%e2 : tensor<4x128xf16>) {
  ^bb0(%in: i64, %out: f16):
    %b = linalg.index 0 : index
    %d = linalg.index 1 : index
    %row = arith.index_cast %in : i64 to index
    %element = tensor.extract %z[%b, %row, %d] : tensor<4x16x128xf16>
    linalg.yield %element : f16
  } -> tensor<4x128xf16>
  return %diagonal, %batches, %trace, %rows : tensor<64xf16>, tensor<3x70xf16>, tensor<f16>, tensor<4x128xf16>
}
