// 70 rows and 100 columns fill no stick: padding is masked where it would count.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/unplanned --lx-planner none > %t.log && spyre-run %t/unplanned --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/baked --addresses baked > %t.log && spyre-run %t/baked --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 > %t.log && spyre-run %t/three --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/small --lx-bytes 2048 > %t.log && spyre-run %t/small --check %s | FileCheck %s

// CHECK: result0: correct
#matrix = affine_map<(row, column) -> (row, column)>
#per_row = affine_map<(row, column) -> (row)>

func.func @softmax(%x: tensor<70x100xf16>) -> tensor<70x100xf16> {
  %matrix = tensor.empty() : tensor<70x100xf16>
  %rows = tensor.empty() : tensor<70xf16>
  %rows_f32 = tensor.empty() : tensor<70xf32>

  %minus_infinity = arith.constant 0xFC00 : f16
  %lowest = linalg.fill ins(%minus_infinity : f16) outs(%rows : tensor<70xf16>) -> tensor<70xf16>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<70x100xf16>) outs(%lowest : tensor<70xf16>) dimensions = [1]

  %shifted = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : tensor<70x100xf16>, tensor<70xf16>) outs(%matrix : tensor<70x100xf16>) {
  ^bb0(%element: f16, %row_max: f16, %out: f16):
    %difference = arith.subf %element, %row_max : f16
    linalg.yield %difference : f16
  } -> tensor<70x100xf16>

  %exp = linalg.exp ins(%shifted : tensor<70x100xf16>) outs(%matrix : tensor<70x100xf16>) -> tensor<70x100xf16>

  %zero = arith.constant 0.0 : f32
  %nothing = linalg.fill ins(%zero : f32) outs(%rows_f32 : tensor<70xf32>) -> tensor<70xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%exp : tensor<70x100xf16>) outs(%nothing : tensor<70xf32>) {
  ^bb0(%element: f16, %so_far: f32):
    %wide = arith.extf %element : f16 to f32
    %more = arith.addf %so_far, %wide : f32
    linalg.yield %more : f32
  } -> tensor<70xf32>

  %softmax = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum : tensor<70x100xf16>, tensor<70xf32>) outs(%matrix : tensor<70x100xf16>) {
  ^bb0(%element: f16, %row_sum: f32, %out: f16):
    %wide = arith.extf %element : f16 to f32
    %quotient = arith.divf %wide, %row_sum : f32
    %rounded = arith.truncf %quotient : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<70x100xf16>
  return %softmax : tensor<70x100xf16>
}
