// RUN: spyre-opt %s --spyre-import-linalg --split-input-file --verify-diagnostics

// An element of 8 bits that chooses a row.
// expected-error@+1 {{'func.func' op expected row indices of i32 or i64, found an argument of tensor<65xi8> that selects rows of a table; give the argument one of these types}}
func.func @rows(%table: tensor<100x64xf16>, %rows: tensor<65xi8>) -> tensor<65x64xf16> {
  %e = tensor.empty() : tensor<65x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%rows : tensor<65xi8>) outs(%e : tensor<65x64xf16>) {
  ^bb0(%row: i8, %out: f16):
    %column = linalg.index 1 : index
    %index = arith.index_cast %row : i8 to index
    %x = tensor.extract %table[%index, %column] : tensor<100x64xf16>
    linalg.yield %x : f16
  } -> tensor<65x64xf16>
  return %r : tensor<65x64xf16>
}
