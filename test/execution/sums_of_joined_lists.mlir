// Running sums of a list that is joined of two arguments at the end of a block: both have integers from 0 to 2, since the sums of blocks must not be negative.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: FileCheck %s --check-prefix=RANGE --input-file=%t/program.json
// CHECK: result0: correct
// RANGE-COUNT-2: "index_range": [{{[[:space:]]+}}0,{{[[:space:]]+}}3

func.func @main(%x: tensor<4xf16>, %a: tensor<512xi64>, %b: tensor<1024xi64>) -> (tensor<1536xi32>, tensor<4xf16>) {
  %e = tensor.empty() : tensor<1536xi64>
  %one = tensor.insert_slice %a into %e[0] [512] [1] : tensor<512xi64> into tensor<1536xi64>
  %both = tensor.insert_slice %b into %one[512] [1024] [1] : tensor<1024xi64> into tensor<1536xi64>
  %last = tensor.empty() : tensor<i64>
  %sums:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%both : tensor<1536xi64>) outs(%e, %last : tensor<1536xi64>, tensor<i64>) {
  ^bb0(%sum: i64, %element: i64):
    %next = arith.addi %sum, %element : i64
    tm_tensor.yield %next : i64
  } -> tensor<1536xi64>, tensor<i64>
  %r = arith.trunci %sums#0 : tensor<1536xi64> to tensor<1536xi32>
  return %r, %x : tensor<1536xi32>, tensor<4xf16>
}
