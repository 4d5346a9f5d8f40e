// Where the largest or smallest of more than 1,024 numbers is: two digits in the device's 16-bit format, of which the caller makes an integer; in f32 one number.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/f16.mlir -o %t/f16 --validate > %t.log && spyre-run %t/f16 --draw ties --check %t/parts/f16.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/bf16.mlir -o %t/bf16 --validate > %t.log && spyre-run %t/bf16 --draw ties --check %t/parts/bf16.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/f32.mlir -o %t/f32 --validate > %t.log && spyre-run %t/f32 --draw ties --check %t/parts/f32.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/just.mlir -o %t/just --validate > %t.log && spyre-run %t/just --draw ties --check %t/parts/just.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/vocabulary.mlir -o %t/vocabulary --validate > %t.log && spyre-run %t/vocabulary --draw random --check %t/parts/vocabulary.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/f16.mlir -o %t/one --cores 1 --lx-planner none > %t.log && spyre-run %t/one --draw ties --check %t/parts/f16.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/first.mlir -o %t/first --validate > %t.log && spyre-run %t/first --check %t/parts/first.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=DIGITS --input-file=%t/f16/program.json
// RUN: FileCheck %s --check-prefix=WHOLE --input-file=%t/f32/program.json
// RUN: spyre-compile %t/parts/read.mlir -o %t/read --validate > %t.log && spyre-run %t/read --draw ties --check %t/parts/read.mlir | FileCheck %s
// RUN: not spyre-compile %t/parts/product.mlir -o %t/product 2>&1 | FileCheck %s --check-prefix=PRODUCT

// CHECK: result0: correct
// DIGITS: "results": [
// DIGITS: "shape": [
// DIGITS-NEXT: 2,
// DIGITS-NEXT: 3
// DIGITS: "digit_base": 1024
// WHOLE-NOT: digit_base
// PRODUCT: error{{.*}}'arith.muli' op computes with integers above 1024

//--- f16.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<3x5000xf16>) -> tensor<3xi64> {
  %low = arith.constant dense<0xFC00> : tensor<3xf16>
  %zero = arith.constant dense<0> : tensor<3xi64>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5000xf16>) outs(%low, %zero : tensor<3xf16>, tensor<3xi64>) {
  ^bb0(%a: f16, %most: f16, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.maximumf %a, %most : f16
    %c = arith.cmpf ogt, %a, %most : f16
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : f16, i64
  } -> (tensor<3xf16>, tensor<3xi64>)
  return %m#1 : tensor<3xi64>
}

//--- bf16.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<3x5000xbf16>) -> tensor<3xi64> {
  %low = arith.constant dense<0xFF80> : tensor<3xbf16>
  %zero = arith.constant dense<0> : tensor<3xi64>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5000xbf16>) outs(%low, %zero : tensor<3xbf16>, tensor<3xi64>) {
  ^bb0(%a: bf16, %most: bf16, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.maximumf %a, %most : bf16
    %c = arith.cmpf ogt, %a, %most : bf16
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : bf16, i64
  } -> (tensor<3xbf16>, tensor<3xi64>)
  return %m#1 : tensor<3xi64>
}

//--- f32.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<3x5000xf32>) -> tensor<3xi64> {
  %low = arith.constant dense<0xFF800000> : tensor<3xf32>
  %zero = arith.constant dense<0> : tensor<3xi64>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5000xf32>) outs(%low, %zero : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%a: f32, %most: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.maximumf %a, %most : f32
    %c = arith.cmpf ogt, %a, %most : f32
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  return %m#1 : tensor<3xi64>
}

//--- just.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<5x1026xf16>) -> tensor<5xi32> {
  %low = arith.constant dense<0x7C00> : tensor<5xf16>
  %zero = arith.constant dense<0> : tensor<5xi32>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<5x1026xf16>) outs(%low, %zero : tensor<5xf16>, tensor<5xi32>) {
  ^bb0(%a: f16, %most: f16, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %n = arith.minimumf %a, %most : f16
    %c = arith.cmpf ole, %a, %most : f16
    %s = arith.select %c, %k, %at : i32
    linalg.yield %n, %s : f16, i32
  } -> (tensor<5xf16>, tensor<5xi32>)
  return %m#1 : tensor<5xi32>
}

//--- vocabulary.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<2x50257xf16>) -> (tensor<2x1xi32>, tensor<2xf16>) {
  %low = arith.constant dense<0xFC00> : tensor<2xf16>
  %zero = arith.constant dense<0> : tensor<2xi64>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<2x50257xf16>) outs(%low, %zero : tensor<2xf16>, tensor<2xi64>) {
  ^bb0(%a: f16, %most: f16, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.maximumf %a, %most : f16
    %c = arith.cmpf ogt, %a, %most : f16
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : f16, i64
  } -> (tensor<2xf16>, tensor<2xi64>)
  %keep = tensor.expand_shape %m#1 [[0, 1]] output_shape [2, 1] : tensor<2xi64> into tensor<2x1xi64>
  %narrow = arith.trunci %keep : tensor<2x1xi64> to tensor<2x1xi32>
  return %narrow, %m#0 : tensor<2x1xi32>, tensor<2xf16>
}

//--- read.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<3x5000xf16>) -> tensor<3xi64> {
  %low = arith.constant dense<0xFC00> : tensor<3xf16>
  %zero = arith.constant dense<0> : tensor<3xi64>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5000xf16>) outs(%low, %zero : tensor<3xf16>, tensor<3xi64>) {
  ^bb0(%a: f16, %most: f16, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.maximumf %a, %most : f16
    %c = arith.cmpf ogt, %a, %most : f16
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : f16, i64
  } -> (tensor<3xf16>, tensor<3xi64>)
  %one = arith.constant dense<1> : tensor<3xi64>
  %next = arith.addi %m#1, %one : tensor<3xi64>
  return %next : tensor<3xi64>
}

//--- product.mlir
#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<3x5000xf16>) -> tensor<3xi64> {
  %low = arith.constant dense<0xFC00> : tensor<3xf16>
  %zero = arith.constant dense<0> : tensor<3xi64>
  %m:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5000xf16>) outs(%low, %zero : tensor<3xf16>, tensor<3xi64>) {
  ^bb0(%a: f16, %most: f16, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %n = arith.maximumf %a, %most : f16
    %c = arith.cmpf ogt, %a, %most : f16
    %s = arith.select %c, %k, %at : i64
    linalg.yield %n, %s : f16, i64
  } -> (tensor<3xf16>, tensor<3xi64>)
  %next = arith.muli %m#1, %m#1 : tensor<3xi64>
  return %next : tensor<3xi64>
}

// The first three of 3,001 numbers in falling order, and where they stand.
//--- first.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<3x3001xf16>) -> (tensor<3x2xi64>, tensor<3x2xf16>) {
  %shape = tensor.empty() : tensor<3x3001xi64>
  %places = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<3x3001xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<3x3001xi64>
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %places : tensor<3x3001xf16>, tensor<3x3001xi64>) {
  ^bb0(%a: f16, %b: f16, %i: i64, %j: i64):
    %before = arith.cmpf oge, %a, %b : f16
    tm_tensor.yield %before : i1
  } -> tensor<3x3001xf16>, tensor<3x3001xi64>
  %first = tensor.extract_slice %sorted#0[0, 0] [3, 2] [1, 1] : tensor<3x3001xf16> to tensor<3x2xf16>
  %at = tensor.extract_slice %sorted#1[0, 0] [3, 2] [1, 1] : tensor<3x3001xi64> to tensor<3x2xi64>
  return %at, %first : tensor<3x2xi64>, tensor<3x2xf16>
}
