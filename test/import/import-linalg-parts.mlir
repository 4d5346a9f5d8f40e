// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// Parts of tensors: slices are views, what is put together is written part by part.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> (tensor<4x64xf16>, tensor<8x16xf16>, tensor<64xf16>) {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0 + 2, d1)> : tensor<8x64xf16> -> tensor<4x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0, d1 * 4)> : tensor<8x64xf16> -> tensor<8x16xf16>
// CHECK-NEXT:    [[VIEW3:%.+]] = spyre.view [[X]] by affine_map<(d0) -> (3, d0)> : tensor<8x64xf16> -> tensor<64xf16>
// CHECK-NEXT:    return [[VIEW]], [[VIEW2]], [[VIEW3]] : tensor<4x64xf16>, tensor<8x16xf16>, tensor<64xf16>

func.func @slices(%x: tensor<8x64xf16>) -> (tensor<4x64xf16>, tensor<8x16xf16>, tensor<64xf16>) {
  %rows = tensor.extract_slice %x[2, 0] [4, 64] [1, 1] : tensor<8x64xf16> to tensor<4x64xf16>
  %every_fourth = tensor.extract_slice %x[0, 0] [8, 16] [1, 4] : tensor<8x64xf16> to tensor<8x16xf16>
  %row = tensor.extract_slice %x[3, 0] [1, 64] [1, 1] : tensor<8x64xf16> to tensor<64xf16>
  return %rows, %every_fourth, %row : tensor<4x64xf16>, tensor<8x16xf16>, tensor<64xf16>
}

// -----

// CHECK-LABEL: func.func @reshape_by_a_shape(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<2x4x64xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1, d2) -> (d0 * 4 + d1, d2)> : tensor<8x64xf16> -> tensor<2x4x64xf16>
// CHECK-NEXT:    return [[VIEW]] : tensor<2x4x64xf16>
func.func @reshape_by_a_shape(%x: tensor<8x64xf16>) -> tensor<2x4x64xf16> {
  %shape = arith.constant dense<[2, 4, 64]> : tensor<3xindex>
  %y = tensor.reshape %x(%shape) : (tensor<8x64xf16>, tensor<3xindex>) -> tensor<2x4x64xf16>
  return %y : tensor<2x4x64xf16>
}

// -----

// CHECK-LABEL: func.func @concatenation(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x128xf16>) -> tensor<8x192xf16> {
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<8x192xf16>
// CHECK-NEXT:    [[WRITTEN:%.+]] = spyre.insert [[X]] into [[BUFFER]] at [0, 0] : tensor<8x64xf16> into tensor<8x192xf16>
// CHECK-NEXT:    [[WRITTEN2:%.+]] = spyre.insert [[Y]] into [[WRITTEN]] at [0, 64] : tensor<8x128xf16> into tensor<8x192xf16>
// CHECK-NEXT:    return [[WRITTEN2]] : tensor<8x192xf16>
func.func @concatenation(%x: tensor<8x64xf16>, %y: tensor<8x128xf16>) -> tensor<8x192xf16> {
  %z = tensor.concat dim(1) %x, %y : (tensor<8x64xf16>, tensor<8x128xf16>) -> tensor<8x192xf16>
  return %z : tensor<8x192xf16>
}

// -----

// TOSA inserts slice after slice; the first memory is its own.
// CHECK-LABEL: func.func @inserted_slices(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x128xf16>) -> tensor<8x192xf16> {
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<8x192xf16>
// CHECK-NEXT:    [[WRITTEN:%.+]] = spyre.insert [[X]] into [[BUFFER]] at [0, 0] : tensor<8x64xf16> into tensor<8x192xf16>
// CHECK-NEXT:    [[WRITTEN2:%.+]] = spyre.insert [[Y]] into [[WRITTEN]] at [0, 64] : tensor<8x128xf16> into tensor<8x192xf16>
// CHECK-NEXT:    return [[WRITTEN2]] : tensor<8x192xf16>
func.func @inserted_slices(%x: tensor<8x64xf16>, %y: tensor<8x128xf16>) -> tensor<8x192xf16> {
  %shape = tensor.empty() : tensor<8x192xf16>
  %first = tensor.insert_slice %x into %shape[0, 0] [8, 64] [1, 1] : tensor<8x64xf16> into tensor<8x192xf16>
  %both = tensor.insert_slice %y into %first[0, 64] [8, 128] [1, 1] : tensor<8x128xf16> into tensor<8x192xf16>
  return %both : tensor<8x192xf16>
}

// -----

// An argument is not written over: the row goes into a copy.
// CHECK-LABEL: func.func @row_of_an_argument(
// CHECK-SAME:    [[CACHE:%.+]]: tensor<8x64xf16>, [[ROW:%.+]]: tensor<64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[ROW]] by affine_map<(d0, d1) -> (d1)> : tensor<64xf16> -> tensor<1x64xf16>
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<8x64xf16>
// CHECK-NEXT:    [[WRITTEN:%.+]] = spyre.insert [[CACHE]] into [[BUFFER]] at [0, 0] : tensor<8x64xf16> into tensor<8x64xf16>
// CHECK-NEXT:    [[WRITTEN2:%.+]] = spyre.insert [[VIEW]] into [[WRITTEN]] at [5, 0] : tensor<1x64xf16> into tensor<8x64xf16>
// CHECK-NEXT:    return [[WRITTEN2]] : tensor<8x64xf16>
func.func @row_of_an_argument(%cache: tensor<8x64xf16>, %row: tensor<64xf16>) -> tensor<8x64xf16> {
  %y = tensor.insert_slice %row into %cache[5, 0] [1, 64] [1, 1] : tensor<64xf16> into tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @padding(
// CHECK-SAME:    [[X:%.+]]: tensor<6x64xf16>) -> tensor<8x128xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[NUMBER]] by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<1x128xf16>
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<8x128xf16>
// CHECK-NEXT:    [[WRITTEN:%.+]] = spyre.insert [[VIEW]] into [[BUFFER]] at [0, 0] : tensor<1x128xf16> into tensor<8x128xf16>
// CHECK-NEXT:    [[WRITTEN2:%.+]] = spyre.insert [[VIEW]] into [[WRITTEN]] at [7, 0] : tensor<1x128xf16> into tensor<8x128xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[NUMBER]] by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<6x64xf16>
// CHECK-NEXT:    [[WRITTEN3:%.+]] = spyre.insert [[VIEW2]] into [[WRITTEN2]] at [1, 64] : tensor<6x64xf16> into tensor<8x128xf16>
// CHECK-NEXT:    [[WRITTEN4:%.+]] = spyre.insert [[X]] into [[WRITTEN3]] at [1, 0] : tensor<6x64xf16> into tensor<8x128xf16>
// CHECK-NEXT:    return [[WRITTEN4]] : tensor<8x128xf16>
func.func @padding(%x: tensor<6x64xf16>) -> tensor<8x128xf16> {
  %y = tensor.pad %x low[1, 0] high[1, 64] {
  ^bb0(%i: index, %j: index):
    %zero = arith.constant 0.0 : f16
    tensor.yield %zero : f16
  } : tensor<6x64xf16> to tensor<8x128xf16>
  return %y : tensor<8x128xf16>
}

// -----

// JAX writes a concatenation as branches over the index: each part is read where it is, and nowhere else.
// CHECK-LABEL: func.func @concatenation_by_branches(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x128xf16>, [[Z:%.+]]: tensor<8x64xf16>) -> tensor<8x256xf16> {
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<8x256xf16>
// CHECK-NEXT:    [[WRITTEN:%.+]] = spyre.insert [[X]] into [[BUFFER]] at [0, 0] : tensor<8x64xf16> into tensor<8x256xf16>
// CHECK-NEXT:    [[WRITTEN2:%.+]] = spyre.insert [[Y]] into [[WRITTEN]] at [0, 64] : tensor<8x128xf16> into tensor<8x256xf16>
// CHECK-NEXT:    [[WRITTEN3:%.+]] = spyre.insert [[Z]] into [[WRITTEN2]] at [0, 192] : tensor<8x64xf16> into tensor<8x256xf16>
// CHECK-NEXT:    return [[WRITTEN3]] : tensor<8x256xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @concatenation_by_branches(%x: tensor<8x64xf16>, %y: tensor<8x128xf16>, %z: tensor<8x64xf16>) -> tensor<8x256xf16> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  %shape = tensor.empty() : tensor<8x256xf16>
  %all = linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<8x256xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %in_x = arith.cmpi ult, %j, %c64 : index
    %element = scf.if %in_x -> (f16) {
      %k = arith.subi %j, %c0 : index
      %e = tensor.extract %x[%i, %k] : tensor<8x64xf16>
      scf.yield %e : f16
    } else {
      %in_y = arith.cmpi ult, %j, %c192 : index
      %other = scf.if %in_y -> (f16) {
        %k = arith.subi %j, %c64 : index
        %e = tensor.extract %y[%i, %k] : tensor<8x128xf16>
        scf.yield %e : f16
      } else {
        %k = arith.subi %j, %c192 : index
        %e = tensor.extract %z[%i, %k] : tensor<8x64xf16>
        scf.yield %e : f16
      }
      scf.yield %other : f16
    }
    linalg.yield %element : f16
  } -> tensor<8x256xf16>
  return %all : tensor<8x256xf16>
}

// -----

// Rows of an input in one part, a number in the other: the input is read in its window only.
// CHECK-LABEL: func.func @branches_with_inputs(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d0 + 2, d1)> : tensor<8x64xf16> -> tensor<6x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[VIEW]]) : tensor<6x64xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[NUMBER]] by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<2x64xf16>
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<8x64xf16>
// CHECK-NEXT:    [[WRITTEN:%.+]] = spyre.insert [[VIEW2]] into [[BUFFER]] at [0, 0] : tensor<2x64xf16> into tensor<8x64xf16>
// CHECK-NEXT:    [[WRITTEN2:%.+]] = spyre.insert [[EXP]] into [[WRITTEN]] at [2, 0] : tensor<6x64xf16> into tensor<8x64xf16>
// CHECK-NEXT:    return [[WRITTEN2]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @branches_with_inputs(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant 0.0 : f16
  %c2 = arith.constant 2 : index
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %i = linalg.index 0 : index
    %is_first = arith.cmpi ult, %i, %c2 : index
    %element = scf.if %is_first -> (f16) {
      scf.yield %zero : f16
    } else {
      %e = math.exp %in : f16
      scf.yield %e : f16
    }
    linalg.yield %element : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// The result is transposed: the parts are along its first dimension. One branch is never taken.
// CHECK-LABEL: func.func @branches_of_a_transposed_result(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf16>) -> tensor<128x8xf16> {
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[X]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
// CHECK-NEXT:    [[VIEW2:%.+]] = spyre.view [[Y]] by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
// CHECK-NEXT:    [[BUFFER:%.+]] = spyre.empty : tensor<128x8xf16>
// CHECK-NEXT:    [[WRITTEN:%.+]] = spyre.insert [[VIEW]] into [[BUFFER]] at [0, 0] : tensor<64x8xf16> into tensor<128x8xf16>
// CHECK-NEXT:    [[WRITTEN2:%.+]] = spyre.insert [[VIEW2]] into [[WRITTEN]] at [64, 0] : tensor<64x8xf16> into tensor<128x8xf16>
// CHECK-NEXT:    return [[WRITTEN2]] : tensor<128x8xf16>
func.func @branches_of_a_transposed_result(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<128x8xf16> {
  %c64 = arith.constant 64 : index
  %c200 = arith.constant 200 : index
  %shape = tensor.empty() : tensor<128x8xf16>
  %all = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<128x8xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %in_x = arith.cmpi ult, %j, %c64 : index
    %element = scf.if %in_x -> (f16) {
      %e = tensor.extract %x[%i, %j] : tensor<8x64xf16>
      scf.yield %e : f16
    } else {
      %k = arith.subi %j, %c64 : index
      %inside = arith.cmpi ult, %j, %c200 : index
      %other = scf.if %inside -> (f16) {
        %e = tensor.extract %y[%i, %k] : tensor<8x64xf16>
        scf.yield %e : f16
      } else {
        %e = tensor.extract %y[%i, %j] : tensor<8x64xf16>
        scf.yield %e : f16
      }
      scf.yield %other : f16
    }
    linalg.yield %element : f16
  } -> tensor<128x8xf16>
  return %all : tensor<128x8xf16>
}

// -----

// A branch on data is a choice, and both sides are computed.
// CHECK-LABEL: func.func @branches_on_data(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[GREATERTHAN:%.+]] = spyre.pointwise greaterthan([[X]], [[NUMBER]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[SQRT:%.+]] = spyre.pointwise sqrt([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[X]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[WHERE3:%.+]] = spyre.pointwise where3([[GREATERTHAN]], [[SQRT]], [[EXP]]) : tensor<8x64xf16>
// CHECK-NEXT:    return [[WHERE3]] : tensor<8x64xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @branches_on_data(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<8x64xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %is_positive = arith.cmpf ogt, %in, %zero : f16
    %element = scf.if %is_positive -> (f16) {
      %e = math.sqrt %in : f16
      scf.yield %e : f16
    } else {
      %e = math.exp %in : f16
      scf.yield %e : f16
    }
    linalg.yield %element : f16
  } -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// A condition on two indices is a mask.
// CHECK-LABEL: func.func @branches_on_two_indices(
// CHECK-SAME:    [[X:%.+]]: tensor<2x2xf16>) -> tensor<2x2xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00]]> : tensor<2x2xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[WHERE3:%.+]] = spyre.pointwise where3([[NUMBER]], [[X]], [[NUMBER2]]) : (tensor<2x2xf16>, tensor<2x2xf16>, tensor<1x1xf16>) -> tensor<2x2xf16>
// CHECK-NEXT:    return [[WHERE3]] : tensor<2x2xf16>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @branches_on_two_indices(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %zero = arith.constant 0.0 : f16
  %shape = tensor.empty() : tensor<2x2xf16>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x2xf16>) outs(%shape : tensor<2x2xf16>) {
  ^bb0(%in: f16, %out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_below = arith.cmpi ule, %j, %i : index
    %element = scf.if %is_below -> (f16) {
      scf.yield %in : f16
    } else {
      scf.yield %zero : f16
    }
    linalg.yield %element : f16
  } -> tensor<2x2xf16>
  return %y : tensor<2x2xf16>
}
