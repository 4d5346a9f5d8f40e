// Along the normalised dimension.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
#a_2 = affine_map<(a) -> (a)>
#b = affine_map<(a, b) -> (b)>
func.func @normalised(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                      %gamma: tensor<256xf16> {spyre.dims = ["B"]},
                      %beta: tensor<256xf16> {spyre.dims = ["B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(B = 4) {
    %mean_sum_empty = tensor.empty() : tensor<64xf16>
    %mean_sum_from = arith.constant 0.0 : f16
    %mean_sum_start = linalg.fill ins(%mean_sum_from : f16) outs(%mean_sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %mean_sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%mean_sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %mean_empty = tensor.empty() : tensor<64xf16>
    %mean = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%mean_sum : tensor<64xf16>) outs(%mean_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 256.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %centred_empty = tensor.empty() : tensor<64x256xf16>
    %centred = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<64x256xf16>, tensor<64xf16>) outs(%centred_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %square_empty = tensor.empty() : tensor<64x256xf16>
    %square = linalg.mul ins(%centred, %centred : tensor<64x256xf16>, tensor<64x256xf16>) outs(%square_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %variance_sum_empty = tensor.empty() : tensor<64xf16>
    %variance_sum_from = arith.constant 0.0 : f16
    %variance_sum_start = linalg.fill ins(%variance_sum_from : f16) outs(%variance_sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %variance_sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%square : tensor<64x256xf16>) outs(%variance_sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %variance_empty = tensor.empty() : tensor<64xf16>
    %variance = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%variance_sum : tensor<64xf16>) outs(%variance_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 256.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %deviation_empty = tensor.empty() : tensor<64xf16>
    %deviation = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%variance : tensor<64xf16>) outs(%deviation_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 1.0e-3 : f16
      %s = arith.addf %left, %c : f16
      %r = math.rsqrt %s : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %normal_empty = tensor.empty() : tensor<64x256xf16>
    %normal = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %deviation : tensor<64x256xf16>, tensor<64xf16>) outs(%normal_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %scaled_empty = tensor.empty() : tensor<64x256xf16>
    %scaled = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%normal, %gamma : tensor<64x256xf16>, tensor<256xf16>) outs(%scaled_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%scaled, %beta : tensor<64x256xf16>, tensor<256xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %shifted : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// Each tile has whole rows.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
#a_2 = affine_map<(a) -> (a)>
#b = affine_map<(a, b) -> (b)>
func.func @rows(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                %gamma: tensor<256xf16> {spyre.dims = ["B"]},
                %beta: tensor<256xf16> {spyre.dims = ["B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 4) {
    %mean_sum_empty = tensor.empty() : tensor<64xf16>
    %mean_sum_from = arith.constant 0.0 : f16
    %mean_sum_start = linalg.fill ins(%mean_sum_from : f16) outs(%mean_sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %mean_sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%mean_sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %mean_empty = tensor.empty() : tensor<64xf16>
    %mean = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%mean_sum : tensor<64xf16>) outs(%mean_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 256.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %centred_empty = tensor.empty() : tensor<64x256xf16>
    %centred = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<64x256xf16>, tensor<64xf16>) outs(%centred_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %square_empty = tensor.empty() : tensor<64x256xf16>
    %square = linalg.mul ins(%centred, %centred : tensor<64x256xf16>, tensor<64x256xf16>) outs(%square_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %variance_sum_empty = tensor.empty() : tensor<64xf16>
    %variance_sum_from = arith.constant 0.0 : f16
    %variance_sum_start = linalg.fill ins(%variance_sum_from : f16) outs(%variance_sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %variance_sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%square : tensor<64x256xf16>) outs(%variance_sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %variance_empty = tensor.empty() : tensor<64xf16>
    %variance = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%variance_sum : tensor<64xf16>) outs(%variance_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 256.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %deviation_empty = tensor.empty() : tensor<64xf16>
    %deviation = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%variance : tensor<64xf16>) outs(%deviation_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 1.0e-3 : f16
      %s = arith.addf %left, %c : f16
      %r = math.rsqrt %s : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %normal_empty = tensor.empty() : tensor<64x256xf16>
    %normal = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %deviation : tensor<64x256xf16>, tensor<64xf16>) outs(%normal_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %scaled_empty = tensor.empty() : tensor<64x256xf16>
    %scaled = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%normal, %gamma : tensor<64x256xf16>, tensor<256xf16>) outs(%scaled_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%scaled, %beta : tensor<64x256xf16>, tensor<256xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %shifted : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
// -----
// Both.
#a_b = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>
#a_2 = affine_map<(a) -> (a)>
#b = affine_map<(a, b) -> (b)>
func.func @rows_and_normalised(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]},
                               %gamma: tensor<256xf16> {spyre.dims = ["B"]},
                               %beta: tensor<256xf16> {spyre.dims = ["B"]})
    -> tensor<64x256xf16> {
  %tiled = spyre.hint tiles(A = 2, B = 2) {
    %mean_sum_empty = tensor.empty() : tensor<64xf16>
    %mean_sum_from = arith.constant 0.0 : f16
    %mean_sum_start = linalg.fill ins(%mean_sum_from : f16) outs(%mean_sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %mean_sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf16>) outs(%mean_sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %mean_empty = tensor.empty() : tensor<64xf16>
    %mean = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%mean_sum : tensor<64xf16>) outs(%mean_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 256.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %centred_empty = tensor.empty() : tensor<64x256xf16>
    %centred = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<64x256xf16>, tensor<64xf16>) outs(%centred_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.subf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %square_empty = tensor.empty() : tensor<64x256xf16>
    %square = linalg.mul ins(%centred, %centred : tensor<64x256xf16>, tensor<64x256xf16>) outs(%square_empty : tensor<64x256xf16>) -> tensor<64x256xf16>
    %variance_sum_empty = tensor.empty() : tensor<64xf16>
    %variance_sum_from = arith.constant 0.0 : f16
    %variance_sum_start = linalg.fill ins(%variance_sum_from : f16) outs(%variance_sum_empty : tensor<64xf16>) -> tensor<64xf16>
    %variance_sum = linalg.generic {indexing_maps = [#a_b, #a], iterator_types = ["parallel", "reduction"]}
      ins(%square : tensor<64x256xf16>) outs(%variance_sum_start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %variance_empty = tensor.empty() : tensor<64xf16>
    %variance = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%variance_sum : tensor<64xf16>) outs(%variance_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 256.0 : f16
      %r = arith.divf %left, %c : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %deviation_empty = tensor.empty() : tensor<64xf16>
    %deviation = linalg.generic {indexing_maps = [#a_2, #a_2], iterator_types = ["parallel"]}
      ins(%variance : tensor<64xf16>) outs(%deviation_empty : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %c = arith.constant 1.0e-3 : f16
      %s = arith.addf %left, %c : f16
      %r = math.rsqrt %s : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    %normal_empty = tensor.empty() : tensor<64x256xf16>
    %normal = linalg.generic {indexing_maps = [#a_b, #a, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %deviation : tensor<64x256xf16>, tensor<64xf16>) outs(%normal_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %scaled_empty = tensor.empty() : tensor<64x256xf16>
    %scaled = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%normal, %gamma : tensor<64x256xf16>, tensor<256xf16>) outs(%scaled_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.mulf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %shifted_empty = tensor.empty() : tensor<64x256xf16>
    %shifted = linalg.generic {indexing_maps = [#a_b, #b, #a_b], iterator_types = ["parallel", "parallel"]}
      ins(%scaled, %beta : tensor<64x256xf16>, tensor<256xf16>) outs(%shifted_empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %r = arith.addf %left, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    spyre.yield %shifted : tensor<64x256xf16>
  }
  return %tiled : tensor<64x256xf16>
}
