// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

func.func @difference(%x: tensor<8x64xf16>, %rows: tensor<3x1x64xf16>, %places: tensor<3x1xi64>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'tm_tensor.scatter' op expected a body that returns or combines the update, found another body}}
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x1x64xf16>, tensor<3x1xi64>) outs(%x : tensor<8x64xf16>) {
  ^bb0(%part: f16, %old: f16):
    %difference = arith.subf %old, %part : f16
    tm_tensor.yield %difference : f16
  } -> tensor<8x64xf16>
  return %new : tensor<8x64xf16>
}

// -----

func.func @windows(%x: tensor<8x64xf16>, %rows: tensor<3x2x64xf16>, %places: tensor<3x1xi64>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'tm_tensor.scatter' op expected whole rows at one index each, found windows of rows; scatter whole rows}}
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x2x64xf16>, tensor<3x1xi64>) outs(%x : tensor<8x64xf16>) {
  ^bb0(%part: f16, %old: f16):
    tm_tensor.yield %part : f16
  } -> tensor<8x64xf16>
  return %new : tensor<8x64xf16>
}

// -----

func.func @many_places(%x: tensor<40000x64xf16>, %rows: tensor<3x1x64xf16>, %places: tensor<3x1xi64>) -> tensor<40000x64xf16> {
  // expected-error @+1 {{expected at most 1024 slices at runtime indices, 32768 positions, and 33554432 pairs of a slice and a position, found 3 slices, 40000 positions and 120000 pairs; write fewer slices at a time}}
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x1x64xf16>, tensor<3x1xi64>) outs(%x : tensor<40000x64xf16>) {
  ^bb0(%part: f16, %old: f16):
    tm_tensor.yield %part : f16
  } -> tensor<40000x64xf16>
  return %new : tensor<40000x64xf16>
}

// -----

func.func @truths(%x: tensor<8x64xi1>, %rows: tensor<3x1x64xi1>, %places: tensor<3x1xi64>) -> tensor<8x64xi1> {
  // expected-error @+1 {{'tm_tensor.scatter' op writes truth values at runtime indices, which is not supported; convert the elements to f16 or f32}}
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x1x64xi1>, tensor<3x1xi64>) outs(%x : tensor<8x64xi1>) {
  ^bb0(%part: i1, %old: i1):
    tm_tensor.yield %part : i1
  } -> tensor<8x64xi1>
  return %new : tensor<8x64xi1>
}

// -----

func.func @unwritten(%rows: tensor<3x1x64xi64>, %places: tensor<3x1xi64>) -> tensor<8x64xi64> {
  %x = tensor.empty() : tensor<8x64xi64>
  // expected-remark @+1 {{f32 values are computed in the device's 16-bit format: the device has no 'batchmatmul' in f32}}
  %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%rows, %places : tensor<3x1x64xi64>, tensor<3x1xi64>) outs(%x : tensor<8x64xi64>) {
  ^bb0(%part: i64, %old: i64):
    tm_tensor.yield %part : i64
  } -> tensor<8x64xi64>
  // expected-error @+1 {{'func.return' op reads a tensor that no op has written; fill it first}}
  return %new : tensor<8x64xi64>
}

// -----

func.func @every_second(%x: tensor<8x64xf16>, %part: tensor<2x64xf16>, %at: tensor<i32>) -> tensor<8x64xf16> {
  %number = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %number : i32 to index
  // expected-error @+1 {{'tensor.insert_slice' op with a stride above 1 requires a constant offset, found a runtime value; make the offset a constant}}
  %new = tensor.insert_slice %part into %x[%i, 0] [2, 64] [2, 1] : tensor<2x64xf16> into tensor<8x64xf16>
  return %new : tensor<8x64xf16>
}

// -----

func.func @known_places_beyond(%x: tensor<64x64xf16>, %parts: tensor<2x64xf16>) -> tensor<64x64xf16> {
  %rows = arith.constant dense<[[0], [70]]> : tensor<2x1xi32>
  // expected-error @+1 {{'tm_tensor.scatter' op expected indices from 0 to 63 of dimension 0, found 70; give indices within the tensor}}
  %y = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%parts, %rows : tensor<2x64xf16>, tensor<2x1xi32>) outs(%x : tensor<64x64xf16>) {
  ^bb0(%new: f16, %old: f16):
    tm_tensor.yield %new : f16
  } -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
