// Softmax over the rows of a 512 x 1024 matrix, written with linalg on tensors.
//
//   p[i, j] = exp(x[i, j] - max of row i) / (sum of exp(x[i, j] - max of row i) over row i)
//
// Subtracting the row's maximum changes nothing in exact arithmetic, but keeps `exp` from overflowing in f16.
//
// Nothing here knows the accelerator. The compiler's first step makes five ops of it, one for each function of the
// device (max, sub, exp, sum, realdiv):
//
//   spyre-opt --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),spyre-import-linalg,canonicalize,cse)' examples/softmax.mlir

// How the two loops of an operation, over rows and over columns, index a matrix, and a vector with one number per row.
#matrix = affine_map<(row, column) -> (row, column)>
#per_row = affine_map<(row, column) -> (row)>

func.func @softmax(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  // An operation on tensors needs a tensor to write "into"; for most of them only its shape matters.
  %matrix = tensor.empty() : tensor<512x1024xf16>
  %rows = tensor.empty() : tensor<512xf16>
  %rows_f32 = tensor.empty() : tensor<512xf32>

  // The maximum of each row. A maximum starts from minus infinity, which is smaller than everything.
  %minus_infinity = arith.constant 0xFC00 : f16
  %lowest = linalg.fill ins(%minus_infinity : f16) outs(%rows : tensor<512xf16>) -> tensor<512xf16>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<512x1024xf16>) outs(%lowest : tensor<512xf16>) dimensions = [1]

  // x - max. The map #per_row repeats the maximum along its row.
  %shifted = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : tensor<512x1024xf16>, tensor<512xf16>) outs(%matrix : tensor<512x1024xf16>) {
  ^bb0(%element: f16, %row_max: f16, %out: f16):
    %difference = arith.subf %element, %row_max : f16
    linalg.yield %difference : f16
  } -> tensor<512x1024xf16>

  %exp = linalg.exp ins(%shifted : tensor<512x1024xf16>) outs(%matrix : tensor<512x1024xf16>) -> tensor<512x1024xf16>

  // The sum of each row. It starts from zero and is kept in f32: a thousand additions in f16 would lose most digits.
  %zero = arith.constant 0.0 : f32
  %nothing = linalg.fill ins(%zero : f32) outs(%rows_f32 : tensor<512xf32>) -> tensor<512xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%exp : tensor<512x1024xf16>) outs(%nothing : tensor<512xf32>) {
  ^bb0(%element: f16, %so_far: f32):
    %wide = arith.extf %element : f16 to f32
    %more = arith.addf %so_far, %wide : f32
    linalg.yield %more : f32
  } -> tensor<512xf32>

  // exp / sum, rounded to f16 at the end.
  %softmax = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum : tensor<512x1024xf16>, tensor<512xf32>) outs(%matrix : tensor<512x1024xf16>) {
  ^bb0(%element: f16, %row_sum: f32, %out: f16):
    %wide = arith.extf %element : f16 to f32
    %quotient = arith.divf %wide, %row_sum : f32
    %rounded = arith.truncf %quotient : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<512x1024xf16>
  return %softmax : tensor<512x1024xf16>
}
