// Places among 1,500 elements, of a table of 1,400 rows.
// RUN: spyre-opt --verify-diagnostics --spyre-import-linalg %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
func.func @main(%scores: tensor<2x1500xf16>, %table: tensor<1400x40xf16>) -> (tensor<2xi64>, tensor<2x40xf16>) {
  %least = arith.constant 0xFC00 : f16
  %zero = arith.constant 0 : i64
  %size = arith.constant 1500 : i64
  %0 = tensor.empty() : tensor<2xf16>
  %1 = linalg.fill ins(%least : f16) outs(%0 : tensor<2xf16>) -> tensor<2xf16>
  %2 = tensor.empty() : tensor<2xi64>
  %3 = linalg.fill ins(%zero : i64) outs(%2 : tensor<2xi64>) -> tensor<2xi64>
  %found:2 = linalg.generic {indexing_maps = [#all, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%scores : tensor<2x1500xf16>) outs(%1, %3 : tensor<2xf16>, tensor<2xi64>) {
  ^bb0(%score: f16, %most: f16, %place: i64):
    %column = linalg.index 1 : index
    %here = arith.index_cast %column : index to i64
    %larger = arith.maximumf %score, %most : f16
    %is_larger = arith.cmpf ogt, %score, %most : f16
    %new = arith.select %is_larger, %here, %place : i64
    linalg.yield %larger, %new : f16, i64
  } -> (tensor<2xf16>, tensor<2xi64>)
  %4 = tensor.empty() : tensor<2x40xf16>
  %chosen = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%found#1 : tensor<2xi64>) outs(%4 : tensor<2x40xf16>) {
  ^bb0(%place: i64, %out: f16):
    %is_negative = arith.cmpi slt, %place, %zero : i64
    %from_behind = arith.addi %place, %size : i64
    %wrapped = arith.select %is_negative, %from_behind, %place : i64
    %row = arith.index_cast %wrapped : i64 to index
    %column = linalg.index 1 : index
    // expected-error @+1 {{'tensor.extract' op uses positions above 1024 in a shorter table, or together with a second index, which is not supported; reduce a smaller dimension}}
    %element = tensor.extract %table[%row, %column] : tensor<1400x40xf16>
    linalg.yield %element : f16
  } -> tensor<2x40xf16>
  return %found#1, %chosen : tensor<2xi64>, tensor<2x40xf16>
}
