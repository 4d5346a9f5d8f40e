// The summary and the report count the ops that move sticks for the sake of layouts, and of a large argument only what is read.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: spyre-compile %t/turned.mlir -o %t/turned --report %t/turned.json | FileCheck %t/turned.mlir
// RUN: FileCheck %t/turned.mlir --check-prefix=REPORT --input-file %t/turned.json
// RUN: spyre-compile %t/merged.mlir -o %t/merged | FileCheck %t/merged.mlir
// RUN: spyre-compile %t/sliced.mlir -o %t/sliced | FileCheck %t/sliced.mlir
// RUN: spyre-compile %t/halves.mlir -o %t/halves --lx-planner none | FileCheck %t/halves.mlir

//--- turned.mlir
// One of the two products needs the other stick of %b: 32 KiB are read and, in LX, written.
// CHECK: turned: 3 ops in 1 launch
// CHECK: 1 restickify op moved 64.0 KiB{{$}}
// CHECK-NEXT: HBM traffic 192.0 KiB
// REPORT: "op": "spyre.restickify"
// REPORT: "is_for_layout": true
// REPORT: "moves": {
// REPORT-NEXT: "restickify_ops": 1,
// REPORT-NEXT: "restickify_bytes": 65536,
// REPORT-NEXT: "layout_copy_ops": 0,
func.func @turned(%a: tensor<128x128xf16>, %b: tensor<128x128xf16>) -> (tensor<128x128xf16>, tensor<128x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<128x128xf16>
  %nothing = linalg.fill ins(%zero : f16) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
  %one = linalg.matmul ins(%a, %b : tensor<128x128xf16>, tensor<128x128xf16>) outs(%nothing : tensor<128x128xf16>) -> tensor<128x128xf16>
  %turned = linalg.transpose ins(%b : tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) permutation = [1, 0]
  %other = linalg.matmul ins(%a, %turned : tensor<128x128xf16>, tensor<128x128xf16>) outs(%nothing : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %one, %other : tensor<128x128xf16>, tensor<128x128xf16>
}

//--- merged.mlir
// K of the product runs over two dimensions of the buffer: the copy is for the product's sake, and its elements keep their sticks.
// CHECK: 1 copy for layouts moved 32.0 KiB
func.func @merged(%a: tensor<64x2x64xf16>, %b: tensor<128x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %heads = tensor.empty() : tensor<64x2x64xf16>
  %exp = linalg.exp ins(%a : tensor<64x2x64xf16>) outs(%heads : tensor<64x2x64xf16>) -> tensor<64x2x64xf16>
  %empty = tensor.empty() : tensor<64x64xf16>
  %nothing = linalg.fill ins(%zero : f16) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %flat = tensor.collapse_shape %exp [[0], [1, 2]] : tensor<64x2x64xf16> into tensor<64x128xf16>
  %product = linalg.matmul ins(%flat, %b : tensor<64x128xf16>, tensor<128x64xf16>) outs(%nothing : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %product : tensor<64x64xf16>
}

//--- sliced.mlir
// 64 of 512 rows are read.
// CHECK-NOT: restickify
// CHECK: HBM traffic 16.0 KiB (lower bound 16.0 KiB)
func.func @sliced(%x: tensor<512x64xf16>) -> tensor<64x64xf16> {
  %rows = tensor.extract_slice %x[128, 0] [64, 64] [1, 1] : tensor<512x64xf16> to tensor<64x64xf16>
  %empty = tensor.empty() : tensor<64x64xf16>
  %exp = linalg.exp ins(%rows : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %exp : tensor<64x64xf16>
}

//--- halves.mlir
// Two parts are read, one of them twice: each counts once.
// CHECK: HBM traffic 64.0 KiB (lower bound 24.0 KiB, 2.67 times)
func.func @halves(%x: tensor<512x64xf16>) -> tensor<64x64xf16> {
  %rows = tensor.extract_slice %x[128, 0] [64, 64] [1, 1] : tensor<512x64xf16> to tensor<64x64xf16>
  %others = tensor.extract_slice %x[256, 0] [64, 64] [1, 1] : tensor<512x64xf16> to tensor<64x64xf16>
  %empty = tensor.empty() : tensor<64x64xf16>
  %exp = linalg.exp ins(%rows : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %once = linalg.add ins(%exp, %others : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %twice = linalg.add ins(%once, %others : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %twice : tensor<64x64xf16>
}
