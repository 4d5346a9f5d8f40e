// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg=precision=strict %s

// The device compares and selects in one format, which precision=strict does not change.
func.func @truth_in_two_formats(%x: tensor<64x64xf16>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f16, %b: f32, %c: f32, %o: f32):
    %zero = arith.constant 0.0 : f16
    %p = arith.cmpf ogt, %a, %zero : f16
    // expected-error @+1 {{'func.func' op expected i1 values of comparisons in f32, found a comparison in f16; compare and select in one element type}}
    %s = arith.select %p, %b, %c : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// The first error is about the cause, which the user can change, and not about bounds of an index into the rejected table.
func.func @bounds_of_an_index(%x: tensor<32x64xf16>, %list: tensor<4xi64>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'arith.extf' op converts f16 to f32, which --precision strict does not support; give --precision mixed}}
  %wide = arith.extf %x : tensor<32x64xf16> to tensor<32x64xf32>
  %table = math.tanh %wide : tensor<32x64xf32>
  %e = tensor.empty() : tensor<4x64xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%list : tensor<4xi64>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%at: i64, %o: f32):
    %high = arith.constant 32 : i64
    %is_within = arith.cmpi slt, %at, %high : i64
    cf.assert %is_within, "beyond the rows"
    %row = arith.index_cast %at : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%row, %j] : tensor<32x64xf32>
    linalg.yield %element : f32
  } -> tensor<4x64xf32>
  %narrow = arith.truncf %rows : tensor<4x64xf32> to tensor<4x64xf16>
  return %narrow : tensor<4x64xf16>
}

// -----

// and a concatenation of a rejected slice and a slice of its own element type.
func.func @part_of_a_tensor(%x: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %part = tensor.extract_slice %x[0, 0] [16, 64] [1, 1] : tensor<32x64xf16> to tensor<16x64xf16>
  // expected-error @+1 {{'arith.extf' op converts f16 to f32, which --precision strict does not support; give --precision mixed}}
  %wide = arith.extf %part : tensor<16x64xf16> to tensor<16x64xf32>
  %tanh = math.tanh %wide : tensor<16x64xf32>
  %narrow = arith.truncf %tanh : tensor<16x64xf32> to tensor<16x64xf16>
  %whole = tensor.insert_slice %narrow into %x[0, 0] [16, 64] [1, 1] : tensor<16x64xf16> into tensor<32x64xf16>
  %sum = arith.addf %whole, %x : tensor<32x64xf16>
  return %sum : tensor<32x64xf16>
}

// -----

// and a slice at a runtime offset, of rows that are broadcast from a rejected value.
func.func @part_at_an_offset_of_run_time(%x: tensor<64x64xf16>, %at: tensor<1xi64>) -> tensor<2x64x1xf16> {
  // expected-error @+1 {{'arith.extf' op converts f16 to f32, which --precision strict does not support; give --precision mixed}}
  %wide = arith.extf %x : tensor<64x64xf16> to tensor<64x64xf32>
  %tanh = math.tanh %wide : tensor<64x64xf32>
  %narrow = arith.truncf %tanh : tensor<64x64xf32> to tensor<64x64xf16>
  %e = tensor.empty() : tensor<2x64x64xf16>
  %repeated = linalg.broadcast ins(%narrow : tensor<64x64xf16>) outs(%e : tensor<2x64x64xf16>) dimensions = [0]
  %zero = arith.constant 0 : index
  %number = tensor.extract %at[%zero] : tensor<1xi64>
  %column = arith.index_cast %number : i64 to index
  %part = tensor.extract_slice %repeated[0, 0, %column] [2, 64, 1] [1, 1, 1] : tensor<2x64x64xf16> to tensor<2x64x1xf16>
  return %part : tensor<2x64x1xf16>
}

// -----

// A rejected value has the shape of the value that it replaces, so that it can be padded.
func.func @pad_of_merged_and_narrowed(%x: tensor<5x3x40xf32>) -> tensor<8x120xf16> {
  %zero = arith.constant 0.0 : f16
  // expected-error @+1 {{'arith.truncf' op converts f32 to f16, which --precision strict does not support; give --precision mixed}}
  %narrow = arith.truncf %x : tensor<5x3x40xf32> to tensor<5x3x40xf16>
  %merged = tensor.collapse_shape %narrow [[0], [1, 2]] : tensor<5x3x40xf16> into tensor<5x120xf16>
  %padded = tensor.pad %merged low[0, 0] high[3, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f16
  } : tensor<5x120xf16> to tensor<8x120xf16>
  return %padded : tensor<8x120xf16>
}
