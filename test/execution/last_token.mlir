// The last token of each row by the number of ones in a mask, with a wrapped index: the range of the mask follows from the table.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// RUN: FileCheck %s --check-prefix=RANGE --input-file=%t/program.json
// CHECK: result0: correct
// RANGE: "index_range": [
// RANGE-NEXT: 0,
// RANGE-NEXT: 2

func.func @main(%x: tensor<16x64xf16>, %mask: tensor<3x16xi64>) -> tensor<3x64xf16> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %e = tensor.empty() : tensor<3xi64>
  %zeros = linalg.fill ins(%c0 : i64) outs(%e : tensor<3xi64>) -> tensor<3xi64>
  %sums = linalg.reduce ins(%mask : tensor<3x16xi64>) outs(%zeros : tensor<3xi64>) dimensions = [1] (%in: i64, %sum: i64) {
    %next = arith.addi %in, %sum : i64
    linalg.yield %next : i64
  }
  %r = tensor.empty() : tensor<3x64xf16>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<3xi64>) outs(%r : tensor<3x64xf16>) {
  ^bb0(%sum: i64, %out: f16):
    %last = arith.subi %sum, %c1 : i64
    %is_negative = arith.cmpi slt, %last, %c0 : i64
    %wrapped = arith.addi %last, %c16 : i64
    %row = arith.select %is_negative, %wrapped, %last : i64
    %position = arith.index_cast %row : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %x[%position, %column] : tensor<16x64xf16>
    linalg.yield %element : f16
  } -> tensor<3x64xf16>
  return %rows : tensor<3x64xf16>
}
