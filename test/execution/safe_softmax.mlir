// Rows that are masked as a whole give 0, as PyTorch's attention has it, and no other row is any different: rows of the lowest finite
// number, with infinities, with NaN. 100 columns end inside a stick.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: spyre-compile %t/half.mlir -o %t/half.out > %t/log && spyre-run %t/half.out --wipe-lx --check %t/half.mlir | FileCheck %s --check-prefix=HALF
// RUN: spyre-compile %t/half.mlir --lx-planner none --cores 1 -o %t/plain.out > %t/log && spyre-run %t/plain.out --check %t/half.mlir | FileCheck %s --check-prefix=HALF
// RUN: spyre-compile %t/single.mlir -o %t/single.out > %t/log && spyre-run %t/single.out --wipe-lx --check %t/single.mlir | FileCheck %s --check-prefix=SINGLE
// RUN: spyre-compile %t/half.mlir --compile-to import | FileCheck %s --check-prefix=IMPORT
// RUN: spyre-compile %t/single.mlir --compile-to import | FileCheck %s --check-prefix=IMPORT

// HALF: result0: correct
// SINGLE: result0: correct
// IMPORT-NOT: where3
// IMPORT-NOT: spyre.reduce min

//--- half.mlir
// Row 1 is masked, row 2 in part; row 3 holds the lowest number of f16, row 4 that of f32, which the device's f16 does not reach.
#matrix = affine_map<(row, column) -> (row, column)>
#per_row = affine_map<(row, column) -> (row, 0)>

func.func @safe_softmax(%x: tensor<5x100xf16>) -> tensor<5x100xf16> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %lowest_half = arith.constant -65504.0 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c40 = arith.constant 40 : index
  %wide = tensor.empty() : tensor<5x100xf32>
  %per_row = tensor.empty() : tensor<5x1xf32>
  %flags = tensor.empty() : tensor<5x100xi1>
  %flags_per_row = tensor.empty() : tensor<5x1xi1>

  %masked = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<5x100xf16>) outs(%wide : tensor<5x100xf32>) {
  ^bb0(%in: f16, %out: f32):
    %element = arith.extf %in : f16 to f32
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %is_1 = arith.cmpi eq, %row, %c1 : index
    %is_2 = arith.cmpi eq, %row, %c2 : index
    %is_3 = arith.cmpi eq, %row, %c3 : index
    %is_4 = arith.cmpi eq, %row, %c4 : index
    %is_far = arith.cmpi sge, %column, %c40 : index
    %in_part = arith.andi %is_2, %is_far : i1
    %no_key = arith.ori %is_1, %in_part : i1
    %m0 = arith.select %no_key, %infinity, %zero : f32
    %m1 = arith.select %is_3, %lowest_half, %m0 : f32
    %m2 = arith.select %is_4, %lowest, %m1 : f32
    // Beside the lowest number f32 would still see differences that f16 does not.
    %keeps = arith.select %is_3, %zero, %one : f32
    %kept = arith.mulf %element, %keeps : f32
    %sum = arith.addf %kept, %m2 : f32
    linalg.yield %sum : f32
  } -> tensor<5x100xf32>

  %low = linalg.fill ins(%infinity : f32) outs(%per_row : tensor<5x1xf32>) -> tensor<5x1xf32>
  %max = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%masked : tensor<5x100xf32>) outs(%low : tensor<5x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<5x1xf32>
  %exp = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%masked, %max : tensor<5x100xf32>, tensor<5x1xf32>) outs(%wide : tensor<5x100xf32>) {
  ^bb0(%in: f32, %row_max: f32, %out: f32):
    %d = arith.subf %in, %row_max : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<5x100xf32>
  %none = linalg.fill ins(%zero : f32) outs(%per_row : tensor<5x1xf32>) -> tensor<5x1xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%exp : tensor<5x100xf32>) outs(%none : tensor<5x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<5x1xf32>

  %is_masked = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%masked : tensor<5x100xf32>) outs(%flags : tensor<5x100xi1>) {
  ^bb0(%in: f32, %out: i1):
    %is = arith.cmpf oeq, %in, %infinity : f32
    linalg.yield %is : i1
  } -> tensor<5x100xi1>
  %all = linalg.fill ins(%true : i1) outs(%flags_per_row : tensor<5x1xi1>) -> tensor<5x1xi1>
  %is_row_masked = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%is_masked : tensor<5x100xi1>) outs(%all : tensor<5x1xi1>) {
  ^bb0(%in: i1, %out: i1):
    %and = arith.andi %in, %out : i1
    linalg.yield %and : i1
  } -> tensor<5x1xi1>

  %result = tensor.empty() : tensor<5x100xf16>
  %shares = linalg.generic {indexing_maps = [#per_row, #matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%is_row_masked, %exp, %sum : tensor<5x1xi1>, tensor<5x100xf32>, tensor<5x1xf32>) outs(%result : tensor<5x100xf16>) {
  ^bb0(%is: i1, %e: f32, %s: f32, %out: f16):
    %q = arith.divf %e, %s : f32
    %c = arith.select %is, %zero, %q : f32
    %n = arith.truncf %c : f32 to f16
    linalg.yield %n : f16
  } -> tensor<5x100xf16>
  return %shares : tensor<5x100xf16>
}

//--- single.mlir
// Row 1 is masked, row 2 in part; row 3 holds the lowest number; rows 4 to 6 have +inf, NaN, and both infinities.
#matrix = affine_map<(row, column) -> (row, column)>
#per_row = affine_map<(row, column) -> (row, 0)>

func.func @safe_softmax(%x: tensor<8x100xf32>) -> tensor<8x100xf32> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32
  %positive = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c40 = arith.constant 40 : index
  %wide = tensor.empty() : tensor<8x100xf32>
  %per_row = tensor.empty() : tensor<8x1xf32>
  %flags = tensor.empty() : tensor<8x100xi1>
  %flags_per_row = tensor.empty() : tensor<8x1xi1>

  %masked = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<8x100xf32>) outs(%wide : tensor<8x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %is_1 = arith.cmpi eq, %row, %c1 : index
    %is_2 = arith.cmpi eq, %row, %c2 : index
    %is_3 = arith.cmpi eq, %row, %c3 : index
    %is_4 = arith.cmpi eq, %row, %c4 : index
    %is_5 = arith.cmpi eq, %row, %c5 : index
    %is_6 = arith.cmpi eq, %row, %c6 : index
    %is_far = arith.cmpi sge, %column, %c40 : index
    %is_one = arith.cmpi eq, %column, %c40 : index
    %both = arith.ori %is_2, %is_6 : i1
    %in_part = arith.andi %both, %is_far : i1
    %no_key = arith.ori %is_1, %in_part : i1
    %m0 = arith.select %no_key, %infinity, %zero : f32
    %m1 = arith.select %is_3, %lowest, %m0 : f32
    %at_4 = arith.andi %is_4, %is_one : i1
    %m2 = arith.select %at_4, %positive, %m1 : f32
    %at_5 = arith.andi %is_5, %is_one : i1
    %m3 = arith.select %at_5, %nan, %m2 : f32
    %at_6 = arith.andi %is_6, %is_one : i1
    %m4 = arith.select %at_6, %positive, %m3 : f32
    %sum = arith.addf %in, %m4 : f32
    linalg.yield %sum : f32
  } -> tensor<8x100xf32>

  %low = linalg.fill ins(%infinity : f32) outs(%per_row : tensor<8x1xf32>) -> tensor<8x1xf32>
  %max = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%masked : tensor<8x100xf32>) outs(%low : tensor<8x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<8x1xf32>
  %exp = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%masked, %max : tensor<8x100xf32>, tensor<8x1xf32>) outs(%wide : tensor<8x100xf32>) {
  ^bb0(%in: f32, %row_max: f32, %out: f32):
    %d = arith.subf %in, %row_max : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<8x100xf32>
  %none = linalg.fill ins(%zero : f32) outs(%per_row : tensor<8x1xf32>) -> tensor<8x1xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%exp : tensor<8x100xf32>) outs(%none : tensor<8x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<8x1xf32>

  %is_masked = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%masked : tensor<8x100xf32>) outs(%flags : tensor<8x100xi1>) {
  ^bb0(%in: f32, %out: i1):
    %is = arith.cmpf oeq, %in, %infinity : f32
    linalg.yield %is : i1
  } -> tensor<8x100xi1>
  %all = linalg.fill ins(%true : i1) outs(%flags_per_row : tensor<8x1xi1>) -> tensor<8x1xi1>
  %is_row_masked = linalg.generic {indexing_maps = [#matrix, #per_row], iterator_types = ["parallel", "reduction"]}
    ins(%is_masked : tensor<8x100xi1>) outs(%all : tensor<8x1xi1>) {
  ^bb0(%in: i1, %out: i1):
    %and = arith.andi %in, %out : i1
    linalg.yield %and : i1
  } -> tensor<8x1xi1>

  %result = tensor.empty() : tensor<8x100xf32>
  %shares = linalg.generic {indexing_maps = [#per_row, #matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]}
    ins(%is_row_masked, %exp, %sum : tensor<8x1xi1>, tensor<8x100xf32>, tensor<8x1xf32>) outs(%result : tensor<8x100xf32>) {
  ^bb0(%is: i1, %e: f32, %s: f32, %out: f32):
    %q = arith.divf %e, %s : f32
    %c = arith.select %is, %zero, %q : f32
    linalg.yield %c : f32
  } -> tensor<8x100xf32>
  return %shares : tensor<8x100xf32>
}
