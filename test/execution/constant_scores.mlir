// Attention whose scores follow from constants alone, and where each row has its largest score: both are computed when the program is
// compiled.
// RUN: rm -rf %t && spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: spyre-compile %s --compile-to import -o - | FileCheck %s --check-prefix=IMPORTED

// CHECK: result0: correct
// CHECK: result1: correct

// The one product that is left is that with the values.
// IMPORTED-COUNT-1: spyre.matmul
// IMPORTED-NOT: spyre.matmul
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%values: tensor<6x64xf16>) -> (tensor<6x64xf16>, tensor<6xi64>) {
  %zero = arith.constant 0.0 : f16
  %low = arith.constant 0xFC00 : f16
  %c0 = arith.constant 0 : i64
  %queries = arith.constant dense<[[-0.3125, 1.09375, 0.90625, -0.75, 0.21875, 1.15625, 0.625, 1.25], [1.0625, -1.0, 1.15625, -1.21875, 0.625, -0.21875, 0.9375, -0.34375], [-0.5, 0.625, 0.90625, 0.9375, 0.625, 0.3125, -0.65625, -0.34375], [-0.65625, 0.8125, 0.28125, -1.21875, -1.0, -0.625, 1.09375, -1.09375], [-0.0625, -1.15625, -0.1875, 0.625, 1.125, 0.28125, 0.4375, 0.3125], [1.03125, 0.5, -0.71875, 0.1875, -0.875, -1.125, -0.71875, 0.71875]]> : tensor<6x8xf16>
  %keys = arith.constant dense<[[-0.40625, -0.21875, 0.46875, 1.25, -0.0625, 0.40625], [0.75, 0.28125, 1.03125, 0.125, 0.875, 1.0625], [0.375, 1.0625, -0.34375, 0.09375, -1.15625, -0.15625], [1.15625, -0.625, 0.03125, 0.90625, 1.03125, 1.0], [-0.84375, -0.40625, 1.03125, -0.1875, -0.125, -0.78125], [-1.0, 0.65625, 0.65625, -0.90625, 0.125, -1.0], [0.375, -0.65625, -1.1875, -0.09375, 0.4375, 0.40625], [-0.78125, -1.09375, 1.15625, 1.1875, -1.09375, 0.25]]> : tensor<8x6xf16>
  %of_scores = tensor.empty() : tensor<6x6xf16>
  %nothing = linalg.fill ins(%zero : f16) outs(%of_scores : tensor<6x6xf16>) -> tensor<6x6xf16>
  %scores = linalg.matmul ins(%queries, %keys : tensor<6x8xf16>, tensor<8x6xf16>) outs(%nothing : tensor<6x6xf16>) -> tensor<6x6xf16>
  %of_rows = tensor.empty() : tensor<6xf16>
  %of_places = tensor.empty() : tensor<6xi64>
  %lowest = linalg.fill ins(%low : f16) outs(%of_rows : tensor<6xf16>) -> tensor<6xf16>
  %first = linalg.fill ins(%c0 : i64) outs(%of_places : tensor<6xi64>) -> tensor<6xi64>
  %max:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%scores : tensor<6x6xf16>) outs(%lowest, %first : tensor<6xf16>, tensor<6xi64>) {
  ^bb0(%in: f16, %largest: f16, %place: i64):
    %i = linalg.index 1 : index
    %own = arith.index_cast %i : index to i64
    %larger = arith.maximumf %in, %largest : f16
    %is_larger = arith.cmpf ogt, %in, %largest : f16
    %chosen = arith.select %is_larger, %own, %place : i64
    linalg.yield %larger, %chosen : f16, i64
  } -> (tensor<6xf16>, tensor<6xi64>)
  %weights = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%scores, %max#0 : tensor<6x6xf16>, tensor<6xf16>) outs(%of_scores : tensor<6x6xf16>) {
  ^bb0(%in: f16, %largest: f16, %out: f16):
    %shifted = arith.subf %in, %largest : f16
    %weight = math.exp %shifted : f16
    linalg.yield %weight : f16
  } -> tensor<6x6xf16>
  %empty = tensor.empty() : tensor<6x64xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<6x64xf16>) -> tensor<6x64xf16>
  %y = linalg.matmul ins(%weights, %values : tensor<6x6xf16>, tensor<6x64xf16>) outs(%start : tensor<6x64xf16>) -> tensor<6x64xf16>
  return %y, %max#1 : tensor<6x64xf16>, tensor<6xi64>
}
