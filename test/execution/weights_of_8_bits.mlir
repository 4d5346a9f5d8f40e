// A linear layer of 8-bit weights with a scale for each column, as exporters of weight-only quantisation write it: weights given and weights
// known, with columns that fill no stick; and 8-bit activations that are compared and summed.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t/log && spyre-run %t/out --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/out --seed 7 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t/three.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// The host has bytes; the device computes with numbers of its half precision, which are exact to 1,024.
// RUN: FileCheck %s --check-prefix=PROGRAM --input-file=%t/out/program.json
// PROGRAM: "element_type": "i8",
// PROGRAM-NEXT: "format": "SEN169_FP16",
// PROGRAM: "index_range": [
// PROGRAM-NEXT: -128,
// PROGRAM-NEXT: 128

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<16x128xf16>, %weights: tensor<128x70xi8>, %scales: tensor<70xf16>, %bytes: tensor<16x70xi8>)
    -> (tensor<16x70xf16>, tensor<16x3xf16>, tensor<16x70xf16>) {
  %zero = arith.constant 0.0 : f16
  %0 = tensor.empty() : tensor<128x70xf16>
  %scaled = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%weights, %scales : tensor<128x70xi8>, tensor<70xf16>) outs(%0 : tensor<128x70xf16>) {
  ^bb0(%weight: i8, %scale: f16, %out: f16):
    %number = arith.sitofp %weight : i8 to f16
    %product = arith.mulf %number, %scale : f16
    linalg.yield %product : f16
  } -> tensor<128x70xf16>
  %1 = tensor.empty() : tensor<16x70xf16>
  %2 = linalg.fill ins(%zero : f16) outs(%1 : tensor<16x70xf16>) -> tensor<16x70xf16>
  %linear = linalg.matmul ins(%x, %scaled : tensor<16x128xf16>, tensor<128x70xf16>) outs(%2 : tensor<16x70xf16>) -> tensor<16x70xf16>

  %known = arith.constant dense<[[-128, 0, 5], [127, -1, 64]]> : tensor<2x3xi8>
  %known_numbers = arith.sitofp %known : tensor<2x3xi8> to tensor<2x3xf16>
  %two = tensor.extract_slice %x[0, 0] [16, 2] [1, 1] : tensor<16x128xf16> to tensor<16x2xf16>
  %3 = tensor.empty() : tensor<16x3xf16>
  %4 = linalg.fill ins(%zero : f16) outs(%3 : tensor<16x3xf16>) -> tensor<16x3xf16>
  %small = linalg.matmul ins(%two, %known_numbers : tensor<16x2xf16>, tensor<2x3xf16>) outs(%4 : tensor<16x3xf16>) -> tensor<16x3xf16>

  %compared = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%bytes : tensor<16x70xi8>) outs(%1 : tensor<16x70xf16>) {
  ^bb0(%byte: i8, %out: f16):
    %limit = arith.constant 5 : i32
    %wide = arith.extsi %byte : i8 to i32
    %is_small = arith.cmpi slt, %wide, %limit : i32
    %sum = arith.addi %wide, %limit : i32
    %chosen = arith.select %is_small, %sum, %limit : i32
    %number = arith.sitofp %chosen : i32 to f16
    linalg.yield %number : f16
  } -> tensor<16x70xf16>
  return %linear, %small, %compared : tensor<16x70xf16>, tensor<16x3xf16>, tensor<16x70xf16>
}
