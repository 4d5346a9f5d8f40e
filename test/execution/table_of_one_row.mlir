// A table of one row: its rows are the same whatever is chosen, and the arguments that choose are within it nevertheless.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: FileCheck %s --check-prefix=RANGE < %t/program.json

// CHECK: correct
// RANGE:      "index_range": [
// RANGE-NEXT:   0,
// RANGE-NEXT:   1
func.func @table_of_one_row(%t: tensor<1x64xf16>, %v7: tensor<4xi64>) -> tensor<4x64xf16> {
  %e8 = tensor.empty() : tensor<4x64xf16>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v7 : tensor<4xi64>) outs(%e8 : tensor<4x64xf16>) {
  ^bb0(%x0: i64, %out: f16):
    %n = arith.index_cast %x0 : i64 to index
    %n1 = linalg.index 1 : index
    %q = tensor.extract %t[%n, %n1] : tensor<1x64xf16>
    linalg.yield %q : f16
  } -> tensor<4x64xf16>
  return %v8 : tensor<4x64xf16>
}
