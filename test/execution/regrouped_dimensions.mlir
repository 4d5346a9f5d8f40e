// Dimensions that are merged and split inside of sticks: copies with another stick dimension are inserted.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/heads.mlir -o %t/heads --validate | FileCheck %s
// RUN: spyre-compile %t/token.mlir -o %t/token --validate | FileCheck %s
// RUN: spyre-compile %t/sparse.mlir -o %t/sparse --validate | FileCheck %s
// RUN: spyre-compile %t/flat.mlir -o %t/flat --validate | FileCheck %s
// RUN: spyre-compile %t/parts.mlir -o %t/parts --validate | FileCheck %s
// RUN: spyre-compile %t/rows.mlir -o %t/rows --validate | FileCheck %s && spyre-run %t/rows --check %t/rows.mlir | FileCheck %s --check-prefix=NUMBERS
// RUN: spyre-compile %t/rows.mlir -o %t/rows --validate --cores 3 --sticks greedy | FileCheck %s
// RUN: spyre-compile %t/shifted.mlir -o %t/shifted --validate | FileCheck %s && spyre-run %t/shifted --check %t/shifted.mlir | FileCheck %s --check-prefix=SHIFTED
// RUN: spyre-compile %t/windows.mlir -o %t/windows --validate | FileCheck %s && spyre-run %t/windows --check %t/windows.mlir | FileCheck %s --check-prefix=WINDOWS
// RUN: spyre-compile %t/many.mlir -o %t/many --validate | FileCheck %s && spyre-run %t/many --check %t/many.mlir | FileCheck %s --check-prefix=MANY
// RUN: spyre-compile %t/merged.mlir -o %t/merged --validate | FileCheck %s
// RUN: spyre-compile %t/longer.mlir -o %t/longer --validate | FileCheck %s && spyre-run %t/longer --check %t/longer.mlir | FileCheck %s --check-prefix=LONGER
// RUN: spyre-compile %t/columns.mlir -o %t/columns --validate | FileCheck %s && spyre-run %t/columns --check %t/columns.mlir | FileCheck %s --check-prefix=COLUMNS
// CHECK: validated: the files and the imported program agree
// NUMBERS: result0: correct
// NUMBERS: result1: correct
// NUMBERS: result2: correct
// NUMBERS: result3: correct
// MANY: result0: correct
// COLUMNS: result0: correct
// LONGER: result0: correct
// LONGER: result1: correct
// LONGER: result2: correct
// LONGER: result3: correct
// WINDOWS: result0: correct
// WINDOWS: result1: correct
// SHIFTED: result0: correct
// SHIFTED: result1: correct

// Three heads of 16 in a stick, of 2 x 9 tokens.
//--- heads.mlir
func.func @main(%x: tensor<18x64xf16>, %w: tensor<64x48xf16>, %k: tensor<2x3x16x5xf16>) -> (tensor<2x3x9x16xf16>, tensor<2x3x9x5xf16>) {
  %two = spyre.constant dense<2.0> : tensor<1x1x1x1xf16>
  %all = spyre.matmul(%x, %w) : (tensor<18x64xf16>, tensor<64x48xf16>) -> tensor<18x48xf16>
  %heads = spyre.view %all by affine_map<(d0, d1, d2, d3) -> (d0 * 9 + d2, d1 * 16 + d3)> : tensor<18x48xf16> -> tensor<2x3x9x16xf16>
  %scaled = spyre.pointwise mul(%heads, %two) : (tensor<2x3x9x16xf16>, tensor<1x1x1x1xf16>) -> tensor<2x3x9x16xf16>
  %scores = spyre.matmul(%heads, %k) : (tensor<2x3x9x16xf16>, tensor<2x3x16x5xf16>) -> tensor<2x3x9x5xf16>
  return %scaled, %scores : tensor<2x3x9x16xf16>, tensor<2x3x9x5xf16>
}

// Heads of one token: there is no other dimension for the sticks.
//--- token.mlir
func.func @main(%x: tensor<1x64xf16>, %w: tensor<64x40xf16>) -> tensor<5x1x8xf16> {
  %two = spyre.constant dense<2.0> : tensor<1x1x1xf16>
  %all = spyre.matmul(%x, %w) : (tensor<1x64xf16>, tensor<64x40xf16>) -> tensor<1x40xf16>
  %heads = spyre.view %all by affine_map<(d0, d1, d2) -> (d1, d0 * 8 + d2)> : tensor<1x40xf16> -> tensor<5x1x8xf16>
  %scaled = spyre.pointwise mul(%heads, %two) : (tensor<5x1x8xf16>, tensor<1x1x1xf16>) -> tensor<5x1x8xf16>
  return %scaled : tensor<5x1x8xf16>
}

// One element a stick, beside sticks of 64; and rows of 8 of them.
//--- sparse.mlir
func.func @main(%x: tensor<64x48xf16>, %v: tensor<64xf16>) -> (tensor<64xf16>, tensor<8x64xf16>, tensor<8x64xf16>) {
  %s = spyre.reduce sum(%x) dims [1] : tensor<64x48xf16> -> tensor<64x1xf16>
  %t = spyre.view %s by affine_map<(d0) -> (d0, 0)> : tensor<64x1xf16> -> tensor<64xf16>
  %y = spyre.pointwise add(%t, %v) : tensor<64xf16>
  %w = spyre.view %t by affine_map<(d0, d1) -> (d1)> : tensor<64xf16> -> tensor<8x64xf16>
  %c = spyre.copy %w : tensor<8x64xf16> -> tensor<8x64xf16>
  %q = spyre.view %t by affine_map<(d0, d1) -> (d0 * 8 + d1)> : tensor<64xf16> -> tensor<8x8xf16>
  %z = spyre.view %v by affine_map<(d0, d1) -> (d0 * 8 + d1)> : tensor<64xf16> -> tensor<8x8xf16>
  %p = spyre.matmul(%q, %z) : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  %again = spyre.view %p by affine_map<(d0, d1) -> (d0, d1 mod 8)> : tensor<8x8xf16> -> tensor<8x64xf16>
  %r = spyre.pointwise exp(%again) : tensor<8x64xf16>
  return %y, %c, %r : tensor<64xf16>, tensor<8x64xf16>, tensor<8x64xf16>
}

// Rows of 100 columns are returned as one dimension, in which sticks of 64 begin anywhere in a row.
//--- flat.mlir
func.func @main(%x: tensor<8x128xf16>, %y: tensor<128x100xf16>) -> tensor<800xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<8x128xf16>, tensor<128x100xf16>) -> tensor<8x100xf16>
  %flat = spyre.view %product by affine_map<(d0) -> (d0 floordiv 100, d0 mod 100)> : tensor<8x100xf16> -> tensor<800xf16>
  return %flat : tensor<800xf16>
}

// A buffer that was written in slices of rows of 2 is returned as rows of 8.
//--- parts.mlir
func.func @main(%x: tensor<72x64xf16>, %w: tensor<64x2xf16>, %y: tensor<17x72x2xf16>) -> tensor<324x8xf16> {
  %buffer = spyre.empty : tensor<18x72x2xf16>
  %product = spyre.matmul(%x, %w) : (tensor<72x64xf16>, tensor<64x2xf16>) -> tensor<72x2xf16>
  %part = spyre.view %product by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<72x2xf16> -> tensor<1x72x2xf16>
  %first = spyre.insert %part into %buffer at [0, 0, 0] : tensor<1x72x2xf16> into tensor<18x72x2xf16>
  %both = spyre.insert %y into %first at [1, 0, 0] : tensor<17x72x2xf16> into tensor<18x72x2xf16>
  %shown = spyre.view %both by affine_map<(d0, d1) -> (d0 floordiv 18, (d0 mod 18) * 4 + d1 floordiv 2, d1 mod 2)> : tensor<18x72x2xf16> -> tensor<324x8xf16>
  return %shown : tensor<324x8xf16>
}

// Rows of 10 are viewed as rows of 9: all rows, rows from the second on, rows of a window, and rows of a single matrix.
//--- rows.mlir
func.func @main(%x: tensor<2x9x10xf16>, %y: tensor<2x10x9xf16>, %z: tensor<9x10xf16>, %w: tensor<9x7xf16>)
    -> (tensor<2x9x9xf16>, tensor<2x8x10xf16>, tensor<10x9xf16>, tensor<10x7xf16>) {
  %zero = arith.constant 0.0 : f16
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<2x9x10xf16> into tensor<2x90xf16>
  %rows = tensor.expand_shape %flat [[0], [1, 2]] output_shape [2, 10, 9] : tensor<2x90xf16> into tensor<2x10x9xf16>
  %rest = tensor.extract_slice %rows[0, 1, 0] [2, 9, 9] [1, 1, 1] : tensor<2x10x9xf16> to tensor<2x9x9xf16>
  %empty0 = tensor.empty() : tensor<2x9x9xf16>
  %result0 = linalg.exp ins(%rest : tensor<2x9x9xf16>) outs(%empty0 : tensor<2x9x9xf16>) -> tensor<2x9x9xf16>
  %window = tensor.extract_slice %y[0, 0, 1] [2, 10, 8] [1, 1, 1] : tensor<2x10x9xf16> to tensor<2x10x8xf16>
  %flat1 = tensor.collapse_shape %window [[0], [1, 2]] : tensor<2x10x8xf16> into tensor<2x80xf16>
  %rows1 = tensor.expand_shape %flat1 [[0], [1, 2]] output_shape [2, 8, 10] : tensor<2x80xf16> into tensor<2x8x10xf16>
  %empty1 = tensor.empty() : tensor<2x8x10xf16>
  %result1 = linalg.exp ins(%rows1 : tensor<2x8x10xf16>) outs(%empty1 : tensor<2x8x10xf16>) -> tensor<2x8x10xf16>
  %flat2 = tensor.collapse_shape %z [[0, 1]] : tensor<9x10xf16> into tensor<90xf16>
  %rows2 = tensor.expand_shape %flat2 [[0, 1]] output_shape [10, 9] : tensor<90xf16> into tensor<10x9xf16>
  %empty2 = tensor.empty() : tensor<10x9xf16>
  %result2 = linalg.exp ins(%rows2 : tensor<10x9xf16>) outs(%empty2 : tensor<10x9xf16>) -> tensor<10x9xf16>
  %empty3 = tensor.empty() : tensor<10x7xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty3 : tensor<10x7xf16>) -> tensor<10x7xf16>
  %result3 = linalg.matmul ins(%rows2, %w : tensor<10x9xf16>, tensor<9x7xf16>) outs(%zeros : tensor<10x7xf16>) -> tensor<10x7xf16>
  return %result0, %result1, %result2, %result3 : tensor<2x9x9xf16>, tensor<2x8x10xf16>, tensor<10x9xf16>, tensor<10x7xf16>
}

// Scores by distance become scores by position (Transformer-XL): pad a column, reshape to rows of another length, drop the first row.
//--- shifted.mlir
func.func @main(%x0: tensor<2x6x32xf16>, %x1: tensor<6x32xf16>) -> (tensor<2x6x32xf16>, tensor<6x32xf16>) {
  %zero = arith.constant 0.0 : f16
  %front0 = tensor.empty() : tensor<2x6x1xf16>
  %column0 = linalg.fill ins(%zero : f16) outs(%front0 : tensor<2x6x1xf16>) -> tensor<2x6x1xf16>
  %padded0 = tensor.concat dim(2) %column0, %x0 : (tensor<2x6x1xf16>, tensor<2x6x32xf16>) -> tensor<2x6x33xf16>
  %flat0 = tensor.collapse_shape %padded0 [[0], [1, 2]] : tensor<2x6x33xf16> into tensor<2x198xf16>
  %turned0 = tensor.expand_shape %flat0 [[0], [1, 2]] output_shape [2, 33, 6] : tensor<2x198xf16> into tensor<2x33x6xf16>
  %rest0 = tensor.extract_slice %turned0[0, 1, 0] [2, 32, 6] [1, 1, 1] : tensor<2x33x6xf16> to tensor<2x32x6xf16>
  %again0 = tensor.collapse_shape %rest0 [[0], [1, 2]] : tensor<2x32x6xf16> into tensor<2x192xf16>
  %result0 = tensor.expand_shape %again0 [[0], [1, 2]] output_shape [2, 6, 32] : tensor<2x192xf16> into tensor<2x6x32xf16>
  %front1 = tensor.empty() : tensor<6x1xf16>
  %column1 = linalg.fill ins(%zero : f16) outs(%front1 : tensor<6x1xf16>) -> tensor<6x1xf16>
  %padded1 = tensor.concat dim(1) %column1, %x1 : (tensor<6x1xf16>, tensor<6x32xf16>) -> tensor<6x33xf16>
  %flat1 = tensor.collapse_shape %padded1 [[0, 1]] : tensor<6x33xf16> into tensor<198xf16>
  %turned1 = tensor.expand_shape %flat1 [[0, 1]] output_shape [33, 6] : tensor<198xf16> into tensor<33x6xf16>
  %rest1 = tensor.extract_slice %turned1[1, 0] [32, 6] [1, 1] : tensor<33x6xf16> to tensor<32x6xf16>
  %again1 = tensor.collapse_shape %rest1 [[0, 1]] : tensor<32x6xf16> into tensor<192xf16>
  %result1 = tensor.expand_shape %again1 [[0, 1]] output_shape [6, 32] : tensor<192xf16> into tensor<6x32xf16>
  return %result0, %result1 : tensor<2x6x32xf16>, tensor<6x32xf16>
}

// Windows of 4 by 4 are merged, and a slice of rows and columns is read, as when Swin's windows are shifted back.
//--- windows.mlir
func.func @main(%x: tensor<4x16x16xf16>) -> (tensor<8x8x16xf16>, tensor<6x7x16xf16>) {
  %windows = tensor.expand_shape %x [[0, 1], [2, 3], [4]] output_shape [2, 2, 4, 4, 16] : tensor<4x16x16xf16> into tensor<2x2x4x4x16xf16>
  %empty = tensor.empty() : tensor<2x4x2x4x16xf16>
  %turned = linalg.transpose ins(%windows : tensor<2x2x4x4x16xf16>) outs(%empty : tensor<2x4x2x4x16xf16>) permutation = [0, 2, 1, 3, 4]
  %rows = tensor.collapse_shape %turned [[0, 1], [2, 3], [4]] : tensor<2x4x2x4x16xf16> into tensor<8x8x16xf16>
  %last = tensor.extract_slice %rows[6, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<8x8x16xf16> to tensor<2x8x16xf16>
  %first = tensor.extract_slice %rows[0, 0, 0] [6, 8, 16] [1, 1, 1] : tensor<8x8x16xf16> to tensor<6x8x16xf16>
  %shifted = tensor.concat dim(0) %last, %first : (tensor<2x8x16xf16>, tensor<6x8x16xf16>) -> tensor<8x8x16xf16>
  %corner = tensor.extract_slice %rows[0, 0, 0] [6, 7, 16] [1, 1, 1] : tensor<8x8x16xf16> to tensor<6x7x16xf16>
  %empty1 = tensor.empty() : tensor<6x7x16xf16>
  %result1 = linalg.exp ins(%corner : tensor<6x7x16xf16>) outs(%empty1 : tensor<6x7x16xf16>) -> tensor<6x7x16xf16>
  return %shifted, %result1 : tensor<8x8x16xf16>, tensor<6x7x16xf16>
}

// Six dimensions are merged step by step, because an op has no seventh one: blocks of local attention, and of [2, 2, 2, 2, 2, 2].
//--- many.mlir
func.func @main(%x: tensor<2x4x5x8x16xf16>, %w: tensor<64x64xf16>, %y: tensor<2x2x2x2x2x2xf16>, %v: tensor<8x8xf16>)
    -> (tensor<80x64xf16>, tensor<8x8xf16>) {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<2x5x8x4x16xf16>
  %turned = linalg.transpose ins(%x : tensor<2x4x5x8x16xf16>) outs(%empty : tensor<2x5x8x4x16xf16>) permutation = [0, 2, 3, 1, 4]
  %rows = tensor.collapse_shape %turned [[0, 1, 2], [3, 4]] : tensor<2x5x8x4x16xf16> into tensor<80x64xf16>
  %empty0 = tensor.empty() : tensor<80x64xf16>
  %zeros0 = linalg.fill ins(%zero : f16) outs(%empty0 : tensor<80x64xf16>) -> tensor<80x64xf16>
  %result0 = linalg.matmul ins(%rows, %w : tensor<80x64xf16>, tensor<64x64xf16>) outs(%zeros0 : tensor<80x64xf16>) -> tensor<80x64xf16>
  %shown = tensor.collapse_shape %y [[0, 1, 2], [3, 4, 5]] : tensor<2x2x2x2x2x2xf16> into tensor<8x8xf16>
  %empty1 = tensor.empty() : tensor<8x8xf16>
  %zeros1 = linalg.fill ins(%zero : f16) outs(%empty1 : tensor<8x8xf16>) -> tensor<8x8xf16>
  %result1 = linalg.matmul ins(%shown, %v : tensor<8x8xf16>, tensor<8x8xf16>) outs(%zeros1 : tensor<8x8xf16>) -> tensor<8x8xf16>
  return %result0, %result1 : tensor<80x64xf16>, tensor<8x8xf16>
}

// Rows of 32 begin inside rows of 16, five rows in a group, seven groups in a batch; and parts of merged dimensions are returned.
//--- longer.mlir
func.func @main(%x: tensor<8x7x5x16xf16>, %y: tensor<2x4x2xf16>, %z: tensor<2x3x2x2x2xf16>, %u: tensor<1x1x1x1x9x2xf16>)
    -> (tensor<140x32xf16>, tensor<2x7xf16>, tensor<2x23xf16>, tensor<17xf16>) {
  %flat = tensor.collapse_shape %x [[0, 1, 2, 3]] : tensor<8x7x5x16xf16> into tensor<4480xf16>
  %rows = tensor.expand_shape %flat [[0, 1]] output_shape [140, 32] : tensor<4480xf16> into tensor<140x32xf16>
  %merged = tensor.collapse_shape %y [[0], [1, 2]] : tensor<2x4x2xf16> into tensor<2x8xf16>
  %part = tensor.extract_slice %merged[0, 0] [2, 7] [1, 1] : tensor<2x8xf16> to tensor<2x7xf16>
  %merged2 = tensor.collapse_shape %z [[0], [1, 2, 3, 4]] : tensor<2x3x2x2x2xf16> into tensor<2x24xf16>
  %part2 = tensor.extract_slice %merged2[0, 0] [2, 23] [1, 1] : tensor<2x24xf16> to tensor<2x23xf16>
  %merged3 = tensor.collapse_shape %u [[0, 1, 2, 3, 4, 5]] : tensor<1x1x1x1x9x2xf16> into tensor<18xf16>
  %part3 = tensor.extract_slice %merged3[1] [17] [1] : tensor<18xf16> to tensor<17xf16>
  return %rows, %part, %part2, %part3 : tensor<140x32xf16>, tensor<2x7xf16>, tensor<2x23xf16>, tensor<17xf16>
}

// Columns that are written row by row have one element a stick: sums of their windows are doubled before a product reads them.
//--- columns.mlir
func.func @main(%x: tensor<1x1xf16>, %w: tensor<2x1xf16>) -> (tensor<2x1xf16>) {
  %zero = arith.constant 0.0 : f16
  %column = tensor.pad %x low[0, 0] high[3, 0] {
  ^bb0(%i0: index, %i1: index):
    tensor.yield %zero : f16
  } : tensor<1x1xf16> to tensor<4x1xf16>
  %columns = tensor.concat dim(1) %column, %column : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x2xf16>
  %sums_empty = tensor.empty() : tensor<2x2xf16>
  %sums_zero = linalg.fill ins(%zero : f16) outs(%sums_empty : tensor<2x2xf16>) -> tensor<2x2xf16>
  %window = tensor.empty() : tensor<2xf16>
  %sums = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 * 2 + d2 * 1, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%columns, %window : tensor<4x2xf16>, tensor<2xf16>) outs(%sums_zero : tensor<2x2xf16>) {
  ^bb0(%x0: f16, %x1: f16, %out: f16):
    %q0 = arith.addf %x0, %out : f16
    linalg.yield %q0 : f16
  } -> tensor<2x2xf16>
  %empty = tensor.empty() : tensor<2x1xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x1xf16>) -> tensor<2x1xf16>
  %product = linalg.matmul ins(%sums, %w : tensor<2x2xf16>, tensor<2x1xf16>) outs(%zeros : tensor<2x1xf16>) -> tensor<2x1xf16>
  return %product : tensor<2x1xf16>
}

// Sums and maxima over merged dimensions, of which the innermost fills no stick.
//--- merged.mlir
func.func @main(%x: tensor<2x17x2x5x3x3xf16>, %y: tensor<6x5x7x3xf16>) -> (tensor<f16>, tensor<30xf16>, tensor<105xf16>) {
  %zero = arith.constant 0.0 : f16
  %least = arith.constant 0xFC00 : f16
  %flat = tensor.collapse_shape %x [[0, 1, 2, 3, 4, 5]] : tensor<2x17x2x5x3x3xf16> into tensor<3060xf16>
  %one_empty = tensor.empty() : tensor<f16>
  %one_zero = linalg.fill ins(%zero : f16) outs(%one_empty : tensor<f16>) -> tensor<f16>
  %total = linalg.reduce { arith.addf } ins(%flat : tensor<3060xf16>) outs(%one_zero : tensor<f16>) dimensions = [0]
  %rows = tensor.collapse_shape %y [[0, 1], [2, 3]] : tensor<6x5x7x3xf16> into tensor<30x21xf16>
  %rows_empty = tensor.empty() : tensor<30xf16>
  %rows_least = linalg.fill ins(%least : f16) outs(%rows_empty : tensor<30xf16>) -> tensor<30xf16>
  %largest = linalg.reduce { arith.maximumf } ins(%rows : tensor<30x21xf16>) outs(%rows_least : tensor<30xf16>) dimensions = [1]
  %columns = tensor.collapse_shape %y [[0], [1, 2, 3]] : tensor<6x5x7x3xf16> into tensor<6x105xf16>
  %columns_empty = tensor.empty() : tensor<105xf16>
  %columns_zero = linalg.fill ins(%zero : f16) outs(%columns_empty : tensor<105xf16>) -> tensor<105xf16>
  %sums = linalg.reduce { arith.addf } ins(%columns : tensor<6x105xf16>) outs(%columns_zero : tensor<105xf16>) dimensions = [0]
  return %total, %largest, %sums : tensor<f16>, tensor<30xf16>, tensor<105xf16>
}
