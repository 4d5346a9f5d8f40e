// Each tile has whole rows.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @rows(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %max_empty = tensor.empty() : tensor<64xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<64xf16>) -> tensor<64xf16>
    %max = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x256xf16>, tensor<64xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %exp_empty = tensor.empty() : tensor<64x256xf16>
    %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %weights_empty = tensor.empty() : tensor<64x256xf16>
    %weights = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x256xf16>, tensor<64xf16>) outs(%weights_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %weights : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// Maximum and sum are made tile by tile, then the rest.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @columns(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %max_empty = tensor.empty() : tensor<64xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<64xf16>) -> tensor<64xf16>
    %max = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x256xf16>, tensor<64xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %exp_empty = tensor.empty() : tensor<64x256xf16>
    %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %weights_empty = tensor.empty() : tensor<64x256xf16>
    %weights = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x256xf16>, tensor<64xf16>) outs(%weights_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %weights : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// Columns in rows.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @rows_and_columns(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4, B = 2) {
    %max_empty = tensor.empty() : tensor<64xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<64xf16>) -> tensor<64xf16>
    %max = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x256xf16>, tensor<64xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %exp_empty = tensor.empty() : tensor<64x256xf16>
    %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %weights_empty = tensor.empty() : tensor<64x256xf16>
    %weights = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x256xf16>, tensor<64xf16>) outs(%weights_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %weights : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// Rows in columns.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @columns_and_rows(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(B = 2, A = 4) {
    %max_empty = tensor.empty() : tensor<64xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<64xf16>) -> tensor<64xf16>
    %max = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x256xf16>, tensor<64xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %exp_empty = tensor.empty() : tensor<64x256xf16>
    %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<64xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %weights_empty = tensor.empty() : tensor<64x256xf16>
    %weights = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x256xf16>, tensor<64xf16>) outs(%weights_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %weights : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The maximum is that of a column, and columns are cut.
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @down_the_columns(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %max_empty = tensor.empty() : tensor<256xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<256xf16>) -> tensor<256xf16>
    %max = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x256xf16>, tensor<256xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %exp_empty = tensor.empty() : tensor<64x256xf16>
    %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<256xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %weights_empty = tensor.empty() : tensor<64x256xf16>
    %weights = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x256xf16>, tensor<256xf16>) outs(%weights_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %weights : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The maximum is that of a column, and rows are cut.
#a_b = affine_map<(a, b) -> (a, b)>
#b = affine_map<(a, b) -> (b)>
func.func @down_the_columns_by_rows(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %max_empty = tensor.empty() : tensor<256xf16>
    %max_from = arith.constant 0xFC00 : f16
    %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<256xf16>) -> tensor<256xf16>
    %max = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.maximumf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x256xf16>, tensor<256xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %exp_empty = tensor.empty() : tensor<64x256xf16>
    %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %sum_empty = tensor.empty() : tensor<256xf16>
    %sum_from = arith.constant 0.0 : f16
    %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<256xf16>) -> tensor<256xf16>
    %sum = linalg.generic {indexing_maps = [#a_b, #b], iterator_types = ["reduction", "parallel"]}
      ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<256xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<256xf16>
    %weights_empty = tensor.empty() : tensor<64x256xf16>
    %weights = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x256xf16>, tensor<256xf16>) outs(%weights_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.divf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %weights : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// The scopes say which loops there are: rows, and in them a loop for each reduction.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
func.func @in_scopes(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}) -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %maxima = spyre.hint tiles(B = 2) {
      %max_empty = tensor.empty() : tensor<64xf16>
      %max_from = arith.constant 0xFC00 : f16
      %max_start = linalg.fill ins(%max_from : f16) outs(%max_empty : tensor<64xf16>) -> tensor<64xf16>
      %max = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<64x256xf16>) outs(%max_start : tensor<64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.maximumf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<64xf16>
      spyre.yield %max : tensor<64xf16>
    }
    %powers, %sums = spyre.hint tiles(B = 2) {
      %shifted_empty = tensor.empty() : tensor<64x256xf16>
      %shifted = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
        ins(%x, %maxima : tensor<64x256xf16>, tensor<64xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %r = arith.subf %left, %right : f16
        linalg.yield %r : f16
      } -> tensor<64x256xf16>
      %exp_empty = tensor.empty() : tensor<64x256xf16>
      %exp = linalg.exp ins(%shifted : tensor<64x256xf16>) outs(%exp_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
      %sum_empty = tensor.empty() : tensor<64xf16>
      %sum_from = arith.constant 0.0 : f16
      %sum_start = linalg.fill ins(%sum_from : f16) outs(%sum_empty : tensor<64xf16>) -> tensor<64xf16>
      %sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
        ins(%exp : tensor<64x256xf16>) outs(%sum_start : tensor<64xf16>) {
      ^bb0(%left: f16, %out: f16):
        %r = arith.addf %left, %out : f16
        linalg.yield %r : f16
      } -> tensor<64xf16>
      spyre.yield %exp, %sum : tensor<64x256xf16>, tensor<64xf16>
    }
    %parts = spyre.hint tiles(B = 2) {
      %weights_empty = tensor.empty() : tensor<64x256xf16>
      %weights = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
        ins(%powers, %sums : tensor<64x256xf16>, tensor<64xf16>) outs(%weights_empty : tensor<64x256xf16>) {
      ^bb0(%left: f16, %right: f16, %out: f16):
        %r = arith.divf %left, %right : f16
        linalg.yield %r : f16
      } -> tensor<64x256xf16>
      spyre.yield %weights : tensor<64x256xf16>
    }
    spyre.yield %parts : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
