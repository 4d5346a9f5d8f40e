// The last token of each row of a batch of 1,500 tokens by the number of ones in a mask: the sum is two digits, wrapped as an index is.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: FileCheck %s --check-prefix=RANGE --input-file=%t/program.json
// CHECK: result0: correct
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 2

#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#list = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<3x1500x64xf16>, %mask: tensor<3x1500xi64>) -> tensor<3x64xf16> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %size = arith.constant 1500 : i64
  %e = tensor.empty() : tensor<3xi64>
  %zeros = linalg.fill ins(%c0 : i64) outs(%e : tensor<3xi64>) -> tensor<3xi64>
  %sums = linalg.reduce ins(%mask : tensor<3x1500xi64>) outs(%zeros : tensor<3xi64>) dimensions = [1] (%in: i64, %sum: i64) {
    %next = arith.addi %in, %sum : i64
    linalg.yield %next : i64
  }
  %last = linalg.generic {indexing_maps = [#list, #list], iterator_types = ["parallel"]} ins(%sums : tensor<3xi64>) outs(%e : tensor<3xi64>) {
  ^bb0(%sum: i64, %out: i64):
    %before = arith.subi %sum, %c1 : i64
    linalg.yield %before : i64
  } -> tensor<3xi64>
  %r = tensor.empty() : tensor<3x64xf16>
  %rows = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%last : tensor<3xi64>) outs(%r : tensor<3x64xf16>) {
  ^bb0(%p: i64, %out: f16):
    %b = linalg.index 0 : index
    %is_negative = arith.cmpi slt, %p, %c0 : i64
    %wrapped = arith.addi %p, %size : i64
    %row = arith.select %is_negative, %wrapped, %p : i64
    %at = arith.index_cast %row : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %x[%b, %at, %column] : tensor<3x1500x64xf16>
    linalg.yield %element : f16
  } -> tensor<3x64xf16>
  return %rows : tensor<3x64xf16>
}
