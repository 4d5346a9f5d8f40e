// Angles that a 16-bit program computes in f32 are as exact as its formats.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/rotary.mlir -o %t/rotary --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/rotary --check %t/parts/rotary.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/steps.mlir -o %t/steps --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/steps --check %t/parts/steps.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/features.mlir -o %t/features --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/features --check %t/parts/features.mlir | FileCheck %s --check-prefix=FEATURES
// RUN: spyre-compile %t/parts/both.mlir -o %t/both --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/both --check %t/parts/both.mlir | FileCheck %s --check-prefix=BOTH
// RUN: spyre-compile %t/parts/batch.mlir -o %t/batch --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/batch --check %t/parts/batch.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/rests.mlir -o %t/rests --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/rests --check %t/parts/rests.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/rows.mlir -o %t/rows --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/rows --check %t/parts/rows.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/steps.mlir -o %t/released --bundle-format=1.0 --validate=on 2>&1 | FileCheck %s --check-prefix=VALIDATED

// VALIDATED: validated: the files and the imported program agree
// VALIDATED: validated: the files and the program as written (MLIR's JIT) agree
// CHECK:      result0: correct
// CHECK-NEXT: root mean square error {{[0-9.]+}}e-4, {{[012][.][0-9]}} times that of the program in its own formats
// FEATURES: root mean square error {{[0-9.]+}}e-2, {{[012][.][0-9]}} times that of the program in its own formats
// BOTH: root mean square error {{[0-9.]+}}e-4, {{[012][.][0-9]}} times that of the program in its own formats

//--- rotary.mlir
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @rotary(%x: tensor<6x64xf16>, %p: tensor<6xi64> {spyre.range = array<i64: 0, 20000>}, %f: tensor<32xf32>) -> tensor<6x64xf16> {
  %narrow = tensor.empty() : tensor<6x32xf32>
  %wide = tensor.empty() : tensor<6x64xf16>
  %angle = linalg.generic {indexing_maps = [#column, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%p, %f : tensor<6xi64>, tensor<32xf32>) outs(%narrow : tensor<6x32xf32>) {
  ^bb0(%position: i64, %frequency: f32, %out: f32):
    %number = arith.sitofp %position : i64 to f32
    %product = arith.mulf %number, %frequency : f32
    linalg.yield %product : f32
  } -> tensor<6x32xf32>
  %all = tensor.concat dim(1) %angle, %angle : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x64xf32>
  %y = linalg.generic {indexing_maps = [#both, #both, #both], iterator_types = ["parallel", "parallel"]} ins(%x, %all : tensor<6x64xf16>, tensor<6x64xf32>) outs(%wide : tensor<6x64xf16>) {
  ^bb0(%in: f16, %a: f32, %out: f16):
    %cosine = math.cos %a : f32
    %factor = arith.truncf %cosine : f32 to f16
    %product = arith.mulf %in, %factor : f16
    linalg.yield %product : f16
  } -> tensor<6x64xf16>
  return %y : tensor<6x64xf16>
}

//--- steps.mlir
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @steps(%t: tensor<3xf32>) -> tensor<3x48xf16> {
  %f = arith.constant dense<[9.0e2, 7.5e2, 5.0e2, 3.3e2, 2.1e2, 1.1e2, 6.0e1, 4.1e1, 2.2e1, 1.3e1, 7.0e0, 4.4e0, 2.3e0, 1.7e0, 1.1e0, 6.0e-1, 3.0e-1, 1.2e-1, 7.0e-2, 4.0e-2, 2.0e-2, 1.0e-2, 4.0e-3, 1.0e-3]> : tensor<24xf32>
  %angles = tensor.empty() : tensor<3x24xf32>
  %a = linalg.generic {indexing_maps = [#column, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%t, %f : tensor<3xf32>, tensor<24xf32>) outs(%angles : tensor<3x24xf32>) {
  ^bb0(%time: f32, %frequency: f32, %out: f32):
    %product = arith.mulf %time, %frequency : f32
    linalg.yield %product : f32
  } -> tensor<3x24xf32>
  %sine = math.sin %a : tensor<3x24xf32>
  %cosine = math.cos %a : tensor<3x24xf32>
  %both = tensor.concat dim(1) %sine, %cosine : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x48xf32>
  %y = arith.truncf %both : tensor<3x48xf32> to tensor<3x48xf16>
  return %y : tensor<3x48xf16>
}

//--- features.mlir
func.func @features(%x: tensor<5x2xf16>, %f: tensor<2x33xf32>) -> (tensor<5x33xf16>, tensor<5x2xf16>) {
  %zero = arith.constant 0.0 : f32
  %large = arith.constant dense<5.0e1> : tensor<5x33xf32>
  %wide = arith.extf %x : tensor<5x2xf16> to tensor<5x2xf32>
  %empty = tensor.empty() : tensor<5x33xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x33xf32>) -> tensor<5x33xf32>
  %product = linalg.matmul ins(%wide, %f : tensor<5x2xf32>, tensor<2x33xf32>) outs(%start : tensor<5x33xf32>) -> tensor<5x33xf32>
  %angle = arith.mulf %product, %large : tensor<5x33xf32>
  %sine = math.sin %angle : tensor<5x33xf32>
  %narrow = arith.truncf %sine : tensor<5x33xf32> to tensor<5x33xf16>
  %twice = arith.addf %x, %x : tensor<5x2xf16>
  return %narrow, %twice : tensor<5x33xf16>, tensor<5x2xf16>
}

//--- both.mlir
func.func @both(%p: tensor<40xi64> {spyre.range = array<i64: 0, 1000>}, %f: tensor<40xf32>) -> (tensor<40xf16>, tensor<40xi64>, tensor<40xf16>) {
  %three = arith.constant dense<3> : tensor<40xi64>
  %zero = arith.constant dense<0.0> : tensor<40xf16>
  %number = arith.sitofp %p : tensor<40xi64> to tensor<40xf32>
  %angle = arith.mulf %f, %number : tensor<40xf32>
  %sine = math.sin %angle : tensor<40xf32>
  %narrow = arith.truncf %sine : tensor<40xf32> to tensor<40xf16>
  %is_far = arith.cmpi sge, %p, %three : tensor<40xi64>
  %result = arith.select %is_far, %narrow, %zero : tensor<40xi1>, tensor<40xf16>
  %more = arith.addi %p, %three : tensor<40xi64>
  %exp = math.exp %f : tensor<40xf32>
  %half = arith.truncf %exp : tensor<40xf32> to tensor<40xf16>
  return %result, %more, %half : tensor<40xf16>, tensor<40xi64>, tensor<40xf16>
}

//--- batch.mlir
// The readers of the cosines have the batch in their sticks.
#map = affine_map<(b, i, j) -> (b, i, j)>
func.func @batch(%x: tensor<2x5x64xf16>, %p: tensor<2x5xi32> {spyre.range = array<i64: 0, 1000>}, %f: tensor<32xf32>) -> tensor<2x5x32xf16> {
  %angles = tensor.empty() : tensor<2x5x32xf32>
  %result = tensor.empty() : tensor<2x5x32xf16>
  %angle = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (j)>, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %f : tensor<2x5xi32>, tensor<32xf32>) outs(%angles : tensor<2x5x32xf32>) {
  ^bb0(%position: i32, %frequency: f32, %out: f32):
    %number = arith.sitofp %position : i32 to f32
    %product = arith.mulf %number, %frequency : f32
    linalg.yield %product : f32
  } -> tensor<2x5x32xf32>
  %c = math.cos %angle : tensor<2x5x32xf32>
  %s = math.sin %angle : tensor<2x5x32xf32>
  %cosine = arith.truncf %c : tensor<2x5x32xf32> to tensor<2x5x32xf16>
  %sine = arith.truncf %s : tensor<2x5x32xf32> to tensor<2x5x32xf16>
  %low = tensor.extract_slice %x[0, 0, 0] [2, 5, 32] [1, 1, 1] : tensor<2x5x64xf16> to tensor<2x5x32xf16>
  %high = tensor.extract_slice %x[0, 0, 32] [2, 5, 32] [1, 1, 1] : tensor<2x5x64xf16> to tensor<2x5x32xf16>
  %a = arith.mulf %low, %cosine : tensor<2x5x32xf16>
  %b = arith.mulf %high, %sine : tensor<2x5x32xf16>
  %y = arith.subf %a, %b : tensor<2x5x32xf16>
  return %y : tensor<2x5x32xf16>
}

//--- rests.mlir
// No number of cores divides 70 rows well: the last ones are computed apart.
func.func @rests(%t: tensor<70xf16>, %f: tensor<32xf32>) -> tensor<70x32xf16> {
  %angles = tensor.empty() : tensor<70x32xf32>
  %angle = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t, %f : tensor<70xf16>, tensor<32xf32>) outs(%angles : tensor<70x32xf32>) {
  ^bb0(%time: f16, %frequency: f32, %out: f32):
    %number = arith.extf %time : f16 to f32
    %product = arith.mulf %number, %frequency : f32
    linalg.yield %product : f32
  } -> tensor<70x32xf32>
  %c = math.cos %angle : tensor<70x32xf32>
  %y = arith.truncf %c : tensor<70x32xf32> to tensor<70x32xf16>
  return %y : tensor<70x32xf16>
}

//--- rows.mlir
// Positions that select rows of a table too, and are bounded before they are numbers.
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @rows(%t: tensor<800x32xf16>, %p: tensor<5xi64>, %q: tensor<5xi64> {spyre.range = array<i64: 0, 1000>}, %f: tensor<32xf32>) -> tensor<5x32xf16> {
  %angles = tensor.empty() : tensor<5x32xf32>
  %shape = tensor.empty() : tensor<5x32xf16>
  %first = arith.constant 0 : i64
  %last = arith.constant 900 : i64
  %a = linalg.generic {indexing_maps = [#column, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%p, %f : tensor<5xi64>, tensor<32xf32>) outs(%angles : tensor<5x32xf32>) {
  ^bb0(%position: i64, %frequency: f32, %out: f32):
    %number = arith.sitofp %position : i64 to f32
    %product = arith.mulf %number, %frequency : f32
    linalg.yield %product : f32
  } -> tensor<5x32xf32>
  %b = linalg.generic {indexing_maps = [#column, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%q, %f : tensor<5xi64>, tensor<32xf32>) outs(%angles : tensor<5x32xf32>) {
  ^bb0(%position: i64, %frequency: f32, %out: f32):
    %low = arith.maxsi %position, %first : i64
    %within = arith.minsi %low, %last : i64
    %number = arith.sitofp %within : i64 to f32
    %product = arith.mulf %number, %frequency : f32
    linalg.yield %product : f32
  } -> tensor<5x32xf32>
  %y = linalg.generic {indexing_maps = [#column, #both, #both, #both], iterator_types = ["parallel", "parallel"]} ins(%p, %a, %b : tensor<5xi64>, tensor<5x32xf32>, tensor<5x32xf32>) outs(%shape : tensor<5x32xf16>) {
  ^bb0(%position: i64, %one: f32, %other: f32, %out: f16):
    %column = linalg.index 1 : index
    %at = arith.index_cast %position : i64 to index
    %row = tensor.extract %t[%at, %column] : tensor<800x32xf16>
    %c = math.cos %one : f32
    %s = math.sin %other : f32
    %cosine = arith.truncf %c : f32 to f16
    %sine = arith.truncf %s : f32 to f16
    %sum = arith.addf %row, %cosine : f16
    %all = arith.addf %sum, %sine : f16
    linalg.yield %all : f16
  } -> tensor<5x32xf16>
  return %y : tensor<5x32xf16>
}
