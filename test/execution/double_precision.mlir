// Arguments, constants and results of f64: the device computes them in the widest format that it has.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/double.mlir -o %t/double --validate > %t.log && spyre-run %t/double --seed 3 --check %t/parts/double.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/half.mlir -o %t/half --validate > %t.log && spyre-run %t/half --check %t/parts/half.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

//--- double.mlir
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @double(%x: tensor<5x33xf64>, %y: tensor<5x33xf32>) -> (tensor<5x33xf64>, tensor<5xf64>, tensor<2xf64>) {
  %bias = arith.constant dense_resource<bias> : tensor<33xf64>
  %e = tensor.empty() : tensor<5x33xf64>
  %sum = linalg.generic {indexing_maps = [#whole, #whole, #column, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %bias : tensor<5x33xf64>, tensor<5x33xf32>, tensor<33xf64>) outs(%e : tensor<5x33xf64>) {
  ^bb0(%a: f64, %b: f32, %c: f64, %out: f64):
    %third = arith.constant 0.33333333333333331 : f64
    %wide = arith.extf %b : f32 to f64
    %product = arith.mulf %wide, %third : f64
    %all = arith.addf %product, %a : f64
    %r = arith.addf %all, %c : f64
    linalg.yield %r : f64
  } -> tensor<5x33xf64>
  %zero = arith.constant dense<0.0> : tensor<5xf64>
  %total = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%sum : tensor<5x33xf64>) outs(%zero : tensor<5xf64>) {
  ^bb0(%a: f64, %out: f64):
    %r = arith.addf %a, %out : f64
    linalg.yield %r : f64
  } -> tensor<5xf64>
  %known = arith.constant dense<[0.5, -3.0]> : tensor<2xf64>
  return %sum, %total, %known : tensor<5x33xf64>, tensor<5xf64>, tensor<2xf64>
}

{-# dialect_resources: { builtin: { bias: "0x0800000000000000000000C0000000000000FEBF000000000000FCBF000000000000FABF000000000000F8BF000000000000F6BF000000000000F4BF000000000000F2BF000000000000F0BF000000000000ECBF000000000000E8BF000000000000E4BF000000000000E0BF000000000000D8BF000000000000D0BF000000000000C0BF0000000000000000000000000000C03F000000000000D03F000000000000D83F000000000000E03F000000000000E43F000000000000E83F000000000000EC3F000000000000F03F000000000000F23F000000000000F43F000000000000F63F000000000000F83F000000000000FA3F000000000000FC3F000000000000FE3F0000000000000040" } } #-}

//--- half.mlir
#whole = affine_map<(d0, d1) -> (d0, d1)>
func.func @half(%x: tensor<5x33xf64>, %y: tensor<5x33xf16>) -> (tensor<5x33xf64>, tensor<5x33xf16>, tensor<5x33xf64>) {
  %e0 = tensor.empty() : tensor<5x33xf64>
  %e1 = tensor.empty() : tensor<5x33xf16>
  %both:2 = linalg.generic {indexing_maps = [#whole, #whole, #whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x33xf64>, tensor<5x33xf16>) outs(%e0, %e1 : tensor<5x33xf64>, tensor<5x33xf16>) {
  ^bb0(%a: f64, %b: f16, %out0: f64, %out1: f16):
    %wide = arith.extf %b : f16 to f64
    %r = arith.addf %a, %wide : f64
    %narrow = arith.truncf %r : f64 to f16
    linalg.yield %r, %narrow : f64, f16
  } -> (tensor<5x33xf64>, tensor<5x33xf16>)
  return %both#0, %both#1, %x : tensor<5x33xf64>, tensor<5x33xf16>, tensor<5x33xf64>
}
