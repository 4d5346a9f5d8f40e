// Tensors without elements: a part of a whole that adds nothing, a sum and a product over nothing.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/f16.mlir -o %t/half --validate > %t/log && spyre-run %t/half --wipe-lx --check %t/f16.mlir | FileCheck %s
// RUN: spyre-compile %t/f32.mlir -o %t/single --validate > %t/log && spyre-run %t/single --wipe-lx --check %t/f32.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

//--- f16.mlir
func.func @main(%x: tensor<4x70xf16>, %w: tensor<70x33xf16>) -> (tensor<4x70xf16>, tensor<4xf16>, tensor<4x33xf16>) {
  %zero = arith.constant 0.0 : f16
  %none = tensor.extract_slice %x[0, 0] [4, 0] [1, 1] : tensor<4x70xf16> to tensor<4x0xf16>
  %all = tensor.concat dim(1) %none, %x, %none : (tensor<4x0xf16>, tensor<4x70xf16>, tensor<4x0xf16>) -> tensor<4x70xf16>
  %whole = tensor.insert_slice %none into %all[0, 7] [4, 0] [1, 1] : tensor<4x0xf16> into tensor<4x70xf16>
  %y = math.tanh %whole : tensor<4x70xf16>
  %e = tensor.empty() : tensor<4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %sum = linalg.reduce { arith.addf } ins(%none : tensor<4x0xf16>) outs(%f : tensor<4xf16>) dimensions = [1]
  %rows = tensor.extract_slice %w[0, 0] [0, 33] [1, 1] : tensor<70x33xf16> to tensor<0x33xf16>
  %start = tensor.extract_slice %w[3, 0] [4, 33] [1, 1] : tensor<70x33xf16> to tensor<4x33xf16>
  %product = linalg.matmul ins(%none, %rows : tensor<4x0xf16>, tensor<0x33xf16>) outs(%start : tensor<4x33xf16>) -> tensor<4x33xf16>
  return %y, %sum, %product : tensor<4x70xf16>, tensor<4xf16>, tensor<4x33xf16>
}

//--- f32.mlir
func.func @main(%x: tensor<4x70xf32>, %w: tensor<70x33xf32>) -> (tensor<4x70xf32>, tensor<4xf32>, tensor<4x33xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tensor.extract_slice %x[0, 0] [4, 0] [1, 1] : tensor<4x70xf32> to tensor<4x0xf32>
  %all = tensor.concat dim(1) %none, %x, %none : (tensor<4x0xf32>, tensor<4x70xf32>, tensor<4x0xf32>) -> tensor<4x70xf32>
  %whole = tensor.insert_slice %none into %all[0, 7] [4, 0] [1, 1] : tensor<4x0xf32> into tensor<4x70xf32>
  %y = math.tanh %whole : tensor<4x70xf32>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%none : tensor<4x0xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %rows = tensor.extract_slice %w[0, 0] [0, 33] [1, 1] : tensor<70x33xf32> to tensor<0x33xf32>
  %start = tensor.extract_slice %w[3, 0] [4, 33] [1, 1] : tensor<70x33xf32> to tensor<4x33xf32>
  %product = linalg.matmul ins(%none, %rows : tensor<4x0xf32>, tensor<0x33xf32>) outs(%start : tensor<4x33xf32>) -> tensor<4x33xf32>
  return %y, %sum, %product : tensor<4x70xf32>, tensor<4xf32>, tensor<4x33xf32>
}
