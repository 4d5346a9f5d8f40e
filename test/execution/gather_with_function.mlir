// A gather that computes a function on its way: of rows of a given and of a computed table, under other dimensions, at sizes that are no
// multiple of a stick, in f32; and one whose rows others read as well.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t/log && spyre-run %t/out --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/out --seed 7 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// RUN: spyre-compile %s --compile-to import | FileCheck %s --check-prefix=FUSED
// FUSED: spyre.gather{{.*}}function = "exp"
// FUSED: spyre.gather{{.*}}function = "neg"
// FUSED: spyre.gather{{.*}}function = "abs"
// FUSED: spyre.gather
// FUSED-NOT: function
// FUSED: return

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
#index = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%table: tensor<50x70xf16>, %index: tensor<24xi64>, %wide: tensor<50x70xf32>, %other: tensor<50x70xf16>)
    -> (tensor<24x70xf16>, tensor<4x6x70xf16>, tensor<24x70xf32>, tensor<24x70xf16>) {
  %0 = tensor.empty() : tensor<24x70xf16>
  %rows = linalg.generic {indexing_maps = [#index, #all], iterator_types = ["parallel", "parallel"]} ins(%index : tensor<24xi64>) outs(%0 : tensor<24x70xf16>) {
  ^bb0(%i: i64, %o: f16):
    %row = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%row, %column] : tensor<50x70xf16>
    %exp = math.exp %element : f16
    linalg.yield %exp : f16
  } -> tensor<24x70xf16>

  %twice = arith.addf %table, %table : tensor<50x70xf16>
  %chosen = linalg.generic {indexing_maps = [#index, #all], iterator_types = ["parallel", "parallel"]} ins(%index : tensor<24xi64>) outs(%0 : tensor<24x70xf16>) {
  ^bb0(%i: i64, %o: f16):
    %row = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %twice[%row, %column] : tensor<50x70xf16>
    linalg.yield %element : f16
  } -> tensor<24x70xf16>
  %grouped = tensor.expand_shape %chosen [[0, 1], [2]] output_shape [4, 6, 70] : tensor<24x70xf16> into tensor<4x6x70xf16>
  %negative = arith.negf %grouped : tensor<4x6x70xf16>

  %1 = tensor.empty() : tensor<24x70xf32>
  %exact = linalg.generic {indexing_maps = [#index, #all], iterator_types = ["parallel", "parallel"]} ins(%index : tensor<24xi64>) outs(%1 : tensor<24x70xf32>) {
  ^bb0(%i: i64, %o: f32):
    %row = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %wide[%row, %column] : tensor<50x70xf32>
    %absolute = math.absf %element : f32
    linalg.yield %absolute : f32
  } -> tensor<24x70xf32>

  %both = linalg.generic {indexing_maps = [#index, #all], iterator_types = ["parallel", "parallel"]} ins(%index : tensor<24xi64>) outs(%0 : tensor<24x70xf16>) {
  ^bb0(%i: i64, %o: f16):
    %row = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %other[%row, %column] : tensor<50x70xf16>
    %root = math.tanh %element : f16
    %product = arith.mulf %root, %element : f16
    linalg.yield %product : f16
  } -> tensor<24x70xf16>
  return %rows, %negative, %exact, %both : tensor<24x70xf16>, tensor<4x6x70xf16>, tensor<24x70xf32>, tensor<24x70xf16>
}
