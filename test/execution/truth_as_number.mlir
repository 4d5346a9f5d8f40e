// A truth value that is given, or comes out of a scope, becomes a number of the format that the program says.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/given.mlir -o %t/given > %t.log && spyre-run %t/given --check %t/given.mlir | FileCheck %s
// RUN: spyre-compile %t/scope.mlir -o %t/scope > %t.log && spyre-run %t/scope --check %t/scope.mlir | FileCheck %s

// CHECK: result0: correct

//--- given.mlir
func.func @given(%x: tensor<8x64xf32>, %mask: tensor<8x64xi1>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %mask : tensor<8x64xf32>, tensor<8x64xi1>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %m: i1, %out: f32):
    %n = arith.uitofp %m : i1 to f32
    %r = arith.mulf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

//--- scope.mlir
func.func @scope(%x: tensor<8x64xbf16> {spyre.dims = ["M", "N"]}, %w: tensor<8x64xbf16> {spyre.dims = ["M", "N"]}) -> tensor<8x64xbf16> {
  %mask = spyre.hint tiles(M = 2) {
    %b = tensor.empty() : tensor<8x64xi1>
    %less = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<8x64xbf16>, tensor<8x64xbf16>) outs(%b : tensor<8x64xi1>) {
    ^bb0(%a: bf16, %c: bf16, %out: i1):
      %l = arith.cmpf olt, %a, %c : bf16
      linalg.yield %l : i1
    } -> tensor<8x64xi1>
    spyre.yield %less : tensor<8x64xi1>
  }
  %e = tensor.empty() : tensor<8x64xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %mask : tensor<8x64xbf16>, tensor<8x64xi1>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: bf16, %m: i1, %out: bf16):
    %n = arith.uitofp %m : i1 to bf16
    %r = arith.mulf %a, %n : bf16
    linalg.yield %r : bf16
  } -> tensor<8x64xbf16>
  return %y : tensor<8x64xbf16>
}
