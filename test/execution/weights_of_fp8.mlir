// Weights of 8-bit floating-point numbers with a scale for each column: given and known ones, read as f16 and as f32, with columns that fill no stick,
// small ones and infinities among them; a product that reads them as they are.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/half.mlir -o %t/out --validate > %t/log && spyre-run %t/out --wipe-lx --check %t/half.mlir | FileCheck %s
// RUN: spyre-run %t/out --seed 7 --check %t/half.mlir | FileCheck %s
// RUN: spyre-compile %t/half.mlir -o %t/three --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %t/half.mlir | FileCheck %s
// RUN: spyre-compile %t/single.mlir -o %t/one --validate > %t/log && spyre-run %t/one --wipe-lx --check %t/single.mlir | FileCheck %s
// RUN: spyre-compile %t/strict.mlir -o %t/strict-out --precision strict --validate > %t/log && spyre-run %t/strict-out --check %t/strict.mlir | FileCheck %s --check-prefix=ONE

// The host has bytes; the device computes with numbers of its half precision, which has all of theirs.
// RUN: FileCheck %s --check-prefix=PROGRAM --input-file=%t/out/program.json
// PROGRAM: "element_type": "f8E4M3FN",
// PROGRAM-NEXT: "format": "SEN169_FP16",

// CHECK: result0: correct
// CHECK: result1: correct
// ONE: result0: correct

//--- half.mlir
#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<16x128xf16>, %weights: tensor<128x70xf8E4M3FN>, %scales: tensor<70xf16>, %others: tensor<128x70xf8E5M2>)
    -> (tensor<16x70xf16>, tensor<16x70xf16>, tensor<16x3xf16>, tensor<2x4xf16>) {
  %zero = arith.constant 0.0 : f16
  %0 = tensor.empty() : tensor<128x70xf16>
  %scaled = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%weights, %scales : tensor<128x70xf8E4M3FN>, tensor<70xf16>) outs(%0 : tensor<128x70xf16>) {
  ^bb0(%weight: f8E4M3FN, %scale: f16, %out: f16):
    %number = arith.extf %weight : f8E4M3FN to f16
    %product = arith.mulf %number, %scale : f16
    linalg.yield %product : f16
  } -> tensor<128x70xf16>
  %1 = tensor.empty() : tensor<16x70xf16>
  %2 = linalg.fill ins(%zero : f16) outs(%1 : tensor<16x70xf16>) -> tensor<16x70xf16>
  %linear = linalg.matmul ins(%x, %scaled : tensor<16x128xf16>, tensor<128x70xf16>) outs(%2 : tensor<16x70xf16>) -> tensor<16x70xf16>

  %direct = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %others : tensor<16x128xf16>, tensor<128x70xf8E5M2>) outs(%2 : tensor<16x70xf16>) {
  ^bb0(%a: f16, %b: f8E5M2, %sum: f16):
    %number = arith.extf %b : f8E5M2 to f16
    %product = arith.mulf %a, %number : f16
    %next = arith.addf %sum, %product : f16
    linalg.yield %next : f16
  } -> tensor<16x70xf16>

  %known = arith.constant dense<[[-448.0, 0.0, 0.5], [0.001953125, -1.125, 240.0]]> : tensor<2x3xf8E4M3FN>
  %known_numbers = arith.extf %known : tensor<2x3xf8E4M3FN> to tensor<2x3xf16>
  %two = tensor.extract_slice %x[0, 0] [16, 2] [1, 1] : tensor<16x128xf16> to tensor<16x2xf16>
  %3 = tensor.empty() : tensor<16x3xf16>
  %4 = linalg.fill ins(%zero : f16) outs(%3 : tensor<16x3xf16>) -> tensor<16x3xf16>
  %small = linalg.matmul ins(%two, %known_numbers : tensor<16x2xf16>, tensor<2x3xf16>) outs(%4 : tensor<16x3xf16>) -> tensor<16x3xf16>

  %limits = arith.constant dense<[[0x7C, 0xFC, 0x01, 0x7B], [0x80, 0x3C, 0x7B, 0xFB]]> : tensor<2x4xf8E5M2>
  %wide = arith.extf %limits : tensor<2x4xf8E5M2> to tensor<2x4xf16>
  %corner = tensor.extract_slice %x[0, 0] [2, 4] [1, 1] : tensor<16x128xf16> to tensor<2x4xf16>
  %5 = tensor.empty() : tensor<2x4xf16>
  %larger = linalg.max ins(%corner, %wide : tensor<2x4xf16>, tensor<2x4xf16>) outs(%5 : tensor<2x4xf16>) -> tensor<2x4xf16>
  return %linear, %direct, %small, %larger : tensor<16x70xf16>, tensor<16x70xf16>, tensor<16x3xf16>, tensor<2x4xf16>
}

//--- single.mlir
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<16x100xf32>, %weights: tensor<100x70xf8E4M3FN>) -> (tensor<16x70xf32>, tensor<100x70xf32>) {
  %zero = arith.constant 0.0 : f32
  %numbers = arith.extf %weights : tensor<100x70xf8E4M3FN> to tensor<100x70xf32>
  %0 = tensor.empty() : tensor<16x70xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<16x70xf32>) -> tensor<16x70xf32>
  %linear = linalg.matmul ins(%x, %numbers : tensor<16x100xf32>, tensor<100x70xf32>) outs(%1 : tensor<16x70xf32>) -> tensor<16x70xf32>
  %half = arith.constant 0.5 : f32
  %2 = tensor.empty() : tensor<100x70xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%numbers : tensor<100x70xf32>) outs(%2 : tensor<100x70xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %half : f32
    linalg.yield %p : f32
  } -> tensor<100x70xf32>
  return %linear, %scaled : tensor<16x70xf32>, tensor<100x70xf32>
}

//--- strict.mlir
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<16x70xf32>, %weights: tensor<16x70xf8E4M3FN>) -> tensor<16x70xf32> {
  %0 = tensor.empty() : tensor<16x70xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %weights : tensor<16x70xf32>, tensor<16x70xf8E4M3FN>) outs(%0 : tensor<16x70xf32>) {
  ^bb0(%a: f32, %w: f8E4M3FN, %o: f32):
    %n = arith.extf %w : f8E4M3FN to f32
    %p = arith.mulf %a, %n : f32
    linalg.yield %p : f32
  } -> tensor<16x70xf32>
  return %scaled : tensor<16x70xf32>
}
