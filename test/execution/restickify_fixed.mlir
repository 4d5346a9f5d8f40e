// Arguments and results whose layouts the caller has fixed: what does not fit is moved, and results get the layout that was asked for.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/greedy --sticks greedy > %t/log && spyre-run %t/greedy --check %t/linalg.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct

//--- spyre.mlir
#x_rows = #spyre.layout<[2, 96, 64], [64, 128, 1]>
#y_rows = #spyre.layout<[2, 128, 64], [64, 96, 1]>
#on_rows = #spyre.layout<[2, 128, 64], [8192, 1, 128]>
func.func @fixed(%x: tensor<96x128xf16, #x_rows>, %y: tensor<128x96xf16, #y_rows>, %w: tensor<128x64xf16>)
    -> (tensor<96x128xf16, #x_rows>, tensor<96x128xf16, #on_rows>, tensor<96x64xf16>) {
  %turned = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x96xf16, #y_rows> -> tensor<96x128xf16>
  %sum = spyre.pointwise add(%x, %turned) : (tensor<96x128xf16, #x_rows>, tensor<96x128xf16>) -> tensor<96x128xf16, #x_rows>
  %difference = spyre.pointwise sub(%x, %turned) : (tensor<96x128xf16, #x_rows>, tensor<96x128xf16>) -> tensor<96x128xf16, #on_rows>
  %product = spyre.matmul(%difference, %w) : (tensor<96x128xf16, #on_rows>, tensor<128x64xf16>) -> tensor<96x64xf16>
  return %sum, %difference, %product : tensor<96x128xf16, #x_rows>, tensor<96x128xf16, #on_rows>, tensor<96x64xf16>
}

//--- linalg.mlir
func.func @fixed(%x: tensor<96x128xf16>, %y: tensor<128x96xf16>, %w: tensor<128x64xf16>)
    -> (tensor<96x128xf16>, tensor<96x128xf16>, tensor<96x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %whole = tensor.empty() : tensor<96x128xf16>
  %narrow = tensor.empty() : tensor<96x64xf16>
  %turned = linalg.transpose ins(%y : tensor<128x96xf16>) outs(%whole : tensor<96x128xf16>) permutation = [1, 0]
  %sum = linalg.add ins(%x, %turned : tensor<96x128xf16>, tensor<96x128xf16>) outs(%whole : tensor<96x128xf16>) -> tensor<96x128xf16>
  %difference = linalg.sub ins(%x, %turned : tensor<96x128xf16>, tensor<96x128xf16>) outs(%whole : tensor<96x128xf16>) -> tensor<96x128xf16>
  %narrow_0 = linalg.fill ins(%zero : f16) outs(%narrow : tensor<96x64xf16>) -> tensor<96x64xf16>
  %product = linalg.matmul ins(%difference, %w : tensor<96x128xf16>, tensor<128x64xf16>) outs(%narrow_0 : tensor<96x64xf16>) -> tensor<96x64xf16>
  return %sum, %difference, %product : tensor<96x128xf16>, tensor<96x128xf16>, tensor<96x64xf16>
}
