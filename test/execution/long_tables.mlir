// Rows of tables longer than the 16-bit format has whole numbers: some from a place of run time on, and those that computed integers choose. The rows are
// compared digit by digit.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t/log && spyre-run %t/out --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
func.func @main(%cache: tensor<4096x128xf16>, %place: tensor<i64>, %table: tensor<4000x64xf16>, %list: tensor<8xi64>)
    -> (tensor<4x128xf16>, tensor<8x64xf16>) {
  %first = arith.constant 0 : index
  %last = arith.constant 4092 : index
  %number = tensor.extract %place[] : tensor<i64>
  %row = arith.index_cast %number : i64 to index
  %at_least = arith.maxsi %row, %first : index
  %at_most = arith.minsi %at_least, %last : index
  %slice = tensor.extract_slice %cache[%at_most, 0] [4, 128] [1, 1] : tensor<4096x128xf16> to tensor<4x128xf16>
  %two = arith.constant 2 : i64
  %empty = tensor.empty() : tensor<8x64xf16>
  %rows = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%list : tensor<8xi64>) outs(%empty : tensor<8x64xf16>) {
  ^bb0(%chosen: i64, %out: f16):
    %even = arith.muli %chosen, %two : i64
    %even_row = arith.index_cast %even : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%even_row, %column] : tensor<4000x64xf16>
    linalg.yield %element : f16
  } -> tensor<8x64xf16>
  return %slice, %rows : tensor<4x128xf16>, tensor<8x64xf16>
}
