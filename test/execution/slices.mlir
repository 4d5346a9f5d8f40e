// Ops that read a part of what another op made: rows, and columns at a stick.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t/log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t/log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct

//--- spyre.mlir
func.func @slices(%x: tensor<64x128xf16>) -> (tensor<32x128xf16>, tensor<64x64xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<64x128xf16>
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %rows = spyre.view %exp by affine_map<(d0, d1) -> (d0 + 32, d1)> : tensor<64x128xf16> -> tensor<32x128xf16>
  %columns = spyre.view %neg by affine_map<(d0, d1) -> (d0, d1 + 64)> : tensor<64x128xf16> -> tensor<64x64xf16>
  %0 = spyre.pointwise abs(%rows) : tensor<32x128xf16>
  %1 = spyre.pointwise abs(%columns) : tensor<64x64xf16>
  return %0, %1 : tensor<32x128xf16>, tensor<64x64xf16>
}

//--- linalg.mlir
func.func @slices(%x: tensor<64x128xf16>) -> (tensor<32x128xf16>, tensor<64x64xf16>) {
  %whole = tensor.empty() : tensor<64x128xf16>
  %upper = tensor.empty() : tensor<32x128xf16>
  %half = tensor.empty() : tensor<64x64xf16>
  %exp = linalg.exp ins(%x : tensor<64x128xf16>) outs(%whole : tensor<64x128xf16>) -> tensor<64x128xf16>
  %neg = linalg.negf ins(%x : tensor<64x128xf16>) outs(%whole : tensor<64x128xf16>) -> tensor<64x128xf16>
  %rows = tensor.extract_slice %exp[32, 0] [32, 128] [1, 1] : tensor<64x128xf16> to tensor<32x128xf16>
  %columns = tensor.extract_slice %neg[0, 64] [64, 64] [1, 1] : tensor<64x128xf16> to tensor<64x64xf16>
  %0 = linalg.abs ins(%rows : tensor<32x128xf16>) outs(%upper : tensor<32x128xf16>) -> tensor<32x128xf16>
  %1 = linalg.abs ins(%columns : tensor<64x64xf16>) outs(%half : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %0, %1 : tensor<32x128xf16>, tensor<64x64xf16>
}
