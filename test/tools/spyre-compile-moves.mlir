// The summary and the report count the ops that move sticks for the sake of layouts, and of a large argument only what is read.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: spyre-compile %t/turned.mlir -o %t/turned --report %t/turned.json | FileCheck %t/turned.mlir
// RUN: FileCheck %t/turned.mlir --check-prefix=REPORT --input-file %t/turned.json
// RUN: spyre-compile %t/sliced.mlir -o %t/sliced | FileCheck %t/sliced.mlir
// RUN: spyre-compile %t/halves.mlir -o %t/halves --lx-planner none | FileCheck %t/halves.mlir

//--- turned.mlir
func.func @turned(%a: tensor<128x256xf16>, %b: tensor<256x128xf16>) -> tensor<128x256xf16> {
  %empty = tensor.empty() : tensor<128x256xf16>
  %turned = linalg.transpose ins(%b : tensor<256x128xf16>) outs(%empty : tensor<128x256xf16>) permutation = [1, 0]
  %sum = linalg.add ins(%a, %turned : tensor<128x256xf16>, tensor<128x256xf16>) outs(%empty : tensor<128x256xf16>) -> tensor<128x256xf16>
  return %sum : tensor<128x256xf16>
}

//--- sliced.mlir
func.func @sliced(%x: tensor<512x64xf16>) -> tensor<64x64xf16> {
  %rows = tensor.extract_slice %x[128, 0] [64, 64] [1, 1] : tensor<512x64xf16> to tensor<64x64xf16>
  %empty = tensor.empty() : tensor<64x64xf16>
  %exp = linalg.exp ins(%rows : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %exp : tensor<64x64xf16>
}

//--- halves.mlir
func.func @halves(%x: tensor<512x64xf16>) -> tensor<64x64xf16> {
  %rows = tensor.extract_slice %x[128, 0] [64, 64] [1, 1] : tensor<512x64xf16> to tensor<64x64xf16>
  %others = tensor.extract_slice %x[256, 0] [64, 64] [1, 1] : tensor<512x64xf16> to tensor<64x64xf16>
  %empty = tensor.empty() : tensor<64x64xf16>
  %exp = linalg.exp ins(%rows : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %once = linalg.add ins(%exp, %others : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %twice = linalg.add ins(%once, %others : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %twice : tensor<64x64xf16>
}
