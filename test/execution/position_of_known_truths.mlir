// Where the first token is that a model looks for, when no token can be it: CLIP's end of text in a vocabulary of 512.
// RUN: rm -rf %t && spyre-compile %s -o %t --validate && spyre-run %t --check %s | FileCheck %s
// CHECK: result0: correct

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%tokens: tensor<1x64xi64>, %table: tensor<512x128xf16>) -> (tensor<1x64x128xf16>, tensor<1x128xf16>) {
  %c49407 = arith.constant 49407 : i64
  %c-1 = arith.constant -2147483648 : i32
  %c0 = arith.constant 0 : i64
  %embedded_init = tensor.empty() : tensor<1x64x128xf16>
  %embedded = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%tokens : tensor<1x64xi64>) outs(%embedded_init : tensor<1x64x128xf16>) {
  ^bb0(%token: i64, %out: f16):
    %index = arith.index_cast %token : i64 to index
    %column = linalg.index 2 : index
    %element = tensor.extract %table[%index, %column] : tensor<512x128xf16>
    linalg.yield %element : f16
  } -> tensor<1x64x128xf16>
  %truth_init = tensor.empty() : tensor<1x64xi32>
  %is_end = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<1x64xi64>) outs(%truth_init : tensor<1x64xi32>) {
  ^bb0(%token: i64, %out: i32):
    %same = arith.cmpi eq, %token, %c49407 : i64
    %number = arith.extui %same : i1 to i32
    linalg.yield %number : i32
  } -> tensor<1x64xi32>
  %largest_init = tensor.empty() : tensor<1xi32>
  %largest = linalg.fill ins(%c-1 : i32) outs(%largest_init : tensor<1xi32>) -> tensor<1xi32>
  %place_init = tensor.empty() : tensor<1xi64>
  %place = linalg.fill ins(%c0 : i64) outs(%place_init : tensor<1xi64>) -> tensor<1xi64>
  %end:2 = linalg.generic {indexing_maps = [#map, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%is_end : tensor<1x64xi32>) outs(%largest, %place : tensor<1xi32>, tensor<1xi64>) {
  ^bb0(%number: i32, %most: i32, %at: i64):
    %position = linalg.index 1 : index
    %here = arith.index_cast %position : index to i64
    %more = arith.maxsi %number, %most : i32
    %is_more = arith.cmpi sgt, %number, %most : i32
    %best = arith.select %is_more, %here, %at : i64
    linalg.yield %more, %best : i32, i64
  } -> (tensor<1xi32>, tensor<1xi64>)
  %pooled_init = tensor.empty() : tensor<1x128xf16>
  %pooled = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%end#1 : tensor<1xi64>) outs(%pooled_init : tensor<1x128xf16>) {
  ^bb0(%position: i64, %out: f16):
    %index = arith.index_cast %position : i64 to index
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %element = tensor.extract %embedded[%row, %index, %column] : tensor<1x64x128xf16>
    linalg.yield %element : f16
  } -> tensor<1x128xf16>
  return %embedded, %pooled : tensor<1x64x128xf16>, tensor<1x128xf16>
}
