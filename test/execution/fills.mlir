// Fills where their full size is needed: under a sum, in a product, beside what others read, and in a tiled group.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t.log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t.log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/unplanned --lx-planner none > %t.log && spyre-run %t/unplanned --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/baked --addresses baked --loops unroll > %t.log && spyre-run %t/baked --check %t/linalg.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct

//--- spyre.mlir
func.func @fills(%x: tensor<64x128xf16> {spyre.dims = ["A", "B"]}, %y: tensor<128x64xf32>)
    -> (tensor<64x1xf16>, tensor<64x256xf16>, tensor<64x128xf16>, tensor<128x64xf32>) {
  %quarter = spyre.fill 0.25 : f16 -> tensor<64x128xf16>
  %sum = spyre.reduce sum(%quarter) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
  %half = spyre.fill 0.5 : f16 -> tensor<128x256xf16>
  %product = spyre.matmul(%x, %half) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
  %tiled = spyre.hint tiles(A = 2) {
    %three = spyre.fill 3.0 : f16 -> tensor<64x128xf16>
    %0 = spyre.pointwise add(%x, %three) : tensor<64x128xf16>
    %1 = spyre.pointwise mul(%0, %three) : tensor<64x128xf16>
    spyre.yield %1 : tensor<64x128xf16>
  }
  %third = spyre.fill 0.333333343 : f32 -> tensor<128x64xf32>
  %shifted = spyre.pointwise sub(%y, %third) : tensor<128x64xf32>
  return %sum, %product, %tiled, %shifted : tensor<64x1xf16>, tensor<64x256xf16>, tensor<64x128xf16>, tensor<128x64xf32>
}

//--- linalg.mlir
func.func @fills(%x: tensor<64x128xf16>, %y: tensor<128x64xf32>)
    -> (tensor<64x1xf16>, tensor<64x256xf16>, tensor<64x128xf16>, tensor<128x64xf32>) {
  %sum = arith.constant dense<32.0> : tensor<64x1xf16>
  %zero = arith.constant 0.0 : f16
  %halves = arith.constant dense<0.5> : tensor<128x256xf16>
  %threes = arith.constant dense<3.0> : tensor<64x128xf16>
  %thirds = arith.constant dense<0.333333343> : tensor<128x64xf32>
  %0 = tensor.empty() : tensor<64x256xf16>
  %1 = tensor.empty() : tensor<64x128xf16>
  %2 = tensor.empty() : tensor<128x64xf32>
  %3 = linalg.fill ins(%zero : f16) outs(%0 : tensor<64x256xf16>) -> tensor<64x256xf16>
  %product = linalg.matmul ins(%x, %halves : tensor<64x128xf16>, tensor<128x256xf16>) outs(%3 : tensor<64x256xf16>) -> tensor<64x256xf16>
  %4 = linalg.add ins(%x, %threes : tensor<64x128xf16>, tensor<64x128xf16>) outs(%1 : tensor<64x128xf16>) -> tensor<64x128xf16>
  %tiled = linalg.mul ins(%4, %threes : tensor<64x128xf16>, tensor<64x128xf16>) outs(%1 : tensor<64x128xf16>) -> tensor<64x128xf16>
  %shifted = linalg.sub ins(%y, %thirds : tensor<128x64xf32>, tensor<128x64xf32>) outs(%2 : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %sum, %product, %tiled, %shifted : tensor<64x1xf16>, tensor<64x256xf16>, tensor<64x128xf16>, tensor<128x64xf32>
}
