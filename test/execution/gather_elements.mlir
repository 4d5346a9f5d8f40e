// Elements that indices choose: rows of one element, of a list and of a column, of what is computed, of infinities beside what is chosen.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/f16.mlir -o %t/half --validate > %t/log && spyre-run %t/half --wipe-lx --draw infinite --check %t/f16.mlir | FileCheck %s
// RUN: spyre-compile %t/f32.mlir -o %t/single --validate > %t/log && spyre-run %t/single --wipe-lx --check %t/f32.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

//--- f16.mlir
func.func @main(%list: tensor<1000xf16>, %column: tensor<70x1xf16>, %i: tensor<5xi64>, %j: tensor<3x7xi64>)
    -> (tensor<5xf16>, tensor<5x1xf16>, tensor<3x7xf16>) {
  %e0 = tensor.empty() : tensor<5xf16>
  %of_list = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<5xi64>) outs(%e0 : tensor<5xf16>) {
  ^bb0(%at: i64, %out: f16):
    %k = arith.index_cast %at : i64 to index
    %v = tensor.extract %list[%k] : tensor<1000xf16>
    linalg.yield %v : f16
  } -> tensor<5xf16>
  %e1 = tensor.empty() : tensor<5x1xf16>
  %of_column = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<5xi64>) outs(%e1 : tensor<5x1xf16>) {
  ^bb0(%at: i64, %out: f16):
    %k = arith.index_cast %at : i64 to index
    %l = linalg.index 1 : index
    %v = tensor.extract %column[%k, %l] : tensor<70x1xf16>
    linalg.yield %v : f16
  } -> tensor<5x1xf16>
  %computed = math.tanh %list : tensor<1000xf16>
  %e2 = tensor.empty() : tensor<3x7xf16>
  %of_computed = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%j : tensor<3x7xi64>) outs(%e2 : tensor<3x7xf16>) {
  ^bb0(%at: i64, %out: f16):
    %k = arith.index_cast %at : i64 to index
    %v = tensor.extract %computed[%k] : tensor<1000xf16>
    linalg.yield %v : f16
  } -> tensor<3x7xf16>
  return %of_list, %of_column, %of_computed : tensor<5xf16>, tensor<5x1xf16>, tensor<3x7xf16>
}

//--- f32.mlir
func.func @main(%list: tensor<1000xf32>, %many: tensor<1000x3xf32>, %column: tensor<70x1xf32>, %i: tensor<5xi64>, %j: tensor<3x7xi64>)
    -> (tensor<5xf32>, tensor<5x1xf32>, tensor<3x7xf32>) {
  %e0 = tensor.empty() : tensor<5xf32>
  %of_list = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<5xi64>) outs(%e0 : tensor<5xf32>) {
  ^bb0(%at: i64, %out: f32):
    %k = arith.index_cast %at : i64 to index
    %v = tensor.extract %list[%k] : tensor<1000xf32>
    linalg.yield %v : f32
  } -> tensor<5xf32>
  %e1 = tensor.empty() : tensor<5x1xf32>
  %of_column = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<5xi64>) outs(%e1 : tensor<5x1xf32>) {
  ^bb0(%at: i64, %out: f32):
    %k = arith.index_cast %at : i64 to index
    %l = linalg.index 1 : index
    %v = tensor.extract %column[%k, %l] : tensor<70x1xf32>
    linalg.yield %v : f32
  } -> tensor<5x1xf32>
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<1000xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1000xf32>) -> tensor<1000xf32>
  %computed = linalg.reduce ins(%many : tensor<1000x3xf32>) outs(%f3 : tensor<1000xf32>) dimensions = [1] (%one: f32, %sum: f32) {
    %next = arith.addf %one, %sum : f32
    linalg.yield %next : f32
  }
  %e2 = tensor.empty() : tensor<3x7xf32>
  %of_computed = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%j : tensor<3x7xi64>) outs(%e2 : tensor<3x7xf32>) {
  ^bb0(%at: i64, %out: f32):
    %k = arith.index_cast %at : i64 to index
    %v = tensor.extract %computed[%k] : tensor<1000xf32>
    linalg.yield %v : f32
  } -> tensor<3x7xf32>
  return %of_list, %of_column, %of_computed : tensor<5xf32>, tensor<5x1xf32>, tensor<3x7xf32>
}
