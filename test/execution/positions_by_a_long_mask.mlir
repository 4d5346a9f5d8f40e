// Positions of 1,100 tokens by the running sum of a mask, as transformers compute them: beyond 1,024 they are two digits. The mask is an argument of
// integers, whose range follows from the sums of its blocks; the positions are results, are compared, are limited, and select rows of a table.
// RUN: spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#rows = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%mask: tensor<1x1100xi64>, %table: tensor<1100x64xf16>, %offset_table: tensor<1102x64xf16>)
    -> (tensor<1x1100xi32>, tensor<1x1100x64xf16>, tensor<1x1100xf16>, tensor<1x1100xi32>, tensor<1x1100x64xf16>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %limit = arith.constant 1050 : i64
  %c2 = arith.constant 2 : i64
  %e = tensor.empty() : tensor<1x1100xi64>
  %last = tensor.empty() : tensor<1xi64>
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%mask : tensor<1x1100xi64>) outs(%e, %last : tensor<1x1100xi64>, tensor<1xi64>) {
  ^bb0(%sum: i64, %element: i64):
    %next = arith.addi %sum, %element : i64
    tm_tensor.yield %next : i64
  } -> tensor<1x1100xi64>, tensor<1xi64>
  // cumsum(mask) - 1, and 1 where the mask is 0.
  %positions = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums#0, %mask : tensor<1x1100xi64>, tensor<1x1100xi64>) outs(%e : tensor<1x1100xi64>) {
  ^bb0(%sum: i64, %m: i64, %out: i64):
    %before = arith.subi %sum, %c1 : i64
    %is_open = arith.cmpi eq, %m, %c0 : i64
    %position = arith.select %is_open, %c1, %before : i64
    linalg.yield %position : i64
  } -> tensor<1x1100xi64>
  %ie = tensor.empty() : tensor<1x1100xi32>
  %as_result = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%positions : tensor<1x1100xi64>) outs(%ie : tensor<1x1100xi32>) {
  ^bb0(%p: i64, %out: i32):
    %short = arith.trunci %p : i64 to i32
    linalg.yield %short : i32
  } -> tensor<1x1100xi32>
  %r = tensor.empty() : tensor<1x1100x64xf16>
  %rows = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%positions : tensor<1x1100xi64>) outs(%r : tensor<1x1100x64xf16>) {
  ^bb0(%p: i64, %out: f16):
    %at = arith.index_cast %p : i64 to index
    %column = linalg.index 2 : index
    %element = tensor.extract %table[%at, %column] : tensor<1100x64xf16>
    linalg.yield %element : f16
  } -> tensor<1x1100x64xf16>
  %fe = tensor.empty() : tensor<1x1100xf16>
  %is_late = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%positions : tensor<1x1100xi64>) outs(%fe : tensor<1x1100xf16>) {
  ^bb0(%p: i64, %out: f16):
    %late = arith.cmpi sgt, %p, %limit : i64
    %number = arith.uitofp %late : i1 to f16
    linalg.yield %number : f16
  } -> tensor<1x1100xf16>
  %limited = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%positions, %mask : tensor<1x1100xi64>, tensor<1x1100xi64>) outs(%ie : tensor<1x1100xi32>) {
  ^bb0(%p: i64, %m: i64, %out: i32):
    %least = arith.minsi %p, %limit : i64
    %shifted = arith.addi %least, %m : i64
    %from = arith.subi %shifted, %limit : i64
    %short = arith.trunci %from : i64 to i32
    linalg.yield %short : i32
  } -> tensor<1x1100xi32>
  // OPT: cumsum(mask) * mask - 1, and an offset of 2.
  %offset_rows = linalg.generic {indexing_maps = [#row, #row, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sums#0, %mask : tensor<1x1100xi64>, tensor<1x1100xi64>) outs(%r : tensor<1x1100x64xf16>) {
  ^bb0(%sum: i64, %m: i64, %out: f16):
    %masked = arith.muli %sum, %m : i64
    %before = arith.subi %masked, %c1 : i64
    %moved = arith.addi %before, %c2 : i64
    %at = arith.index_cast %moved : i64 to index
    %column = linalg.index 2 : index
    %element = tensor.extract %offset_table[%at, %column] : tensor<1102x64xf16>
    linalg.yield %element : f16
  } -> tensor<1x1100x64xf16>
  return %as_result, %rows, %is_late, %limited, %offset_rows
      : tensor<1x1100xi32>, tensor<1x1100x64xf16>, tensor<1x1100xf16>, tensor<1x1100xi32>, tensor<1x1100x64xf16>
}
