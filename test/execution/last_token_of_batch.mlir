// The last token of each row of a batch by the number of ones in a mask: a table of two indices, one of which counts. The position is shown under
// the indices of the batch before it is wrapped.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: FileCheck %s --check-prefix=RANGE --input-file=%t/program.json
// CHECK: result0: correct
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 2

#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#list = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<3x16x64xf16>, %mask: tensor<3x16xi64>) -> tensor<3x64xf16> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %c16 = arith.constant 16 : i64
  %e = tensor.empty() : tensor<3xi64>
  %zeros = linalg.fill ins(%c0 : i64) outs(%e : tensor<3xi64>) -> tensor<3xi64>
  %sums = linalg.reduce ins(%mask : tensor<3x16xi64>) outs(%zeros : tensor<3xi64>) dimensions = [1] (%in: i64, %sum: i64) {
    %next = arith.addi %in, %sum : i64
    linalg.yield %next : i64
  }
  %batch = linalg.generic {indexing_maps = [#list], iterator_types = ["parallel"]} outs(%e : tensor<3xi64>) {
  ^bb0(%out: i64):
    %at = linalg.index 0 : index
    %number = arith.index_cast %at : index to i64
    linalg.yield %number : i64
  } -> tensor<3xi64>
  %last = linalg.generic {indexing_maps = [#list, #list], iterator_types = ["parallel"]} ins(%sums : tensor<3xi64>) outs(%e : tensor<3xi64>) {
  ^bb0(%sum: i64, %out: i64):
    %before = arith.subi %sum, %c1 : i64
    linalg.yield %before : i64
  } -> tensor<3xi64>
  %r = tensor.empty() : tensor<3x64xf16>
  %rows = linalg.generic {indexing_maps = [#row, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%batch, %last : tensor<3xi64>, tensor<3xi64>) outs(%r : tensor<3x64xf16>) {
  ^bb0(%b: i64, %p: i64, %out: f16):
    %b_is_negative = arith.cmpi slt, %b, %c0 : i64
    %b_wrapped = arith.addi %b, %c3 : i64
    %b_row = arith.select %b_is_negative, %b_wrapped, %b : i64
    %b_at = arith.index_cast %b_row : i64 to index
    %p_is_negative = arith.cmpi slt, %p, %c0 : i64
    %p_wrapped = arith.addi %p, %c16 : i64
    %p_row = arith.select %p_is_negative, %p_wrapped, %p : i64
    %p_at = arith.index_cast %p_row : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %x[%b_at, %p_at, %column] : tensor<3x16x64xf16>
    linalg.yield %element : f16
  } -> tensor<3x64xf16>
  return %rows : tensor<3x64xf16>
}
