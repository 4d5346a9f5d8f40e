// A loop reads a tile of a value once, whatever views its ops have of it; and what is read in parts and as a whole comes to LX once.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/halves.mlir -o %t/halves --tiles A=4 --validate | FileCheck %s --check-prefix=HALVES
// RUN: spyre-run %t/halves --check %t/halves.mlir | FileCheck %s
// RUN: spyre-compile %t/halves.mlir -o %t/plain --tile-search none --validate | FileCheck %s --check-prefix=PLAIN
// RUN: spyre-run %t/plain --check %t/halves.mlir | FileCheck %s
// RUN: spyre-compile %t/halves.mlir -o %t/first_fit --tiles A=4 --lx-planner first-fit --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %t/quarters.mlir -o %t/quarters --tile-search none --validate | FileCheck %s --check-prefix=QUARTERS
// RUN: spyre-run %t/quarters --check %t/quarters.mlir | FileCheck %s

// CHECK: result0: correct
// VALID: validated

// 64 x 256 numbers are read once and written once: two halves and the whole are read, of a copy of each tile.
// HALVES: HBM traffic 64.0 KiB (lower bound 64.0 KiB)
// HALVES: validated
// PLAIN: HBM traffic 64.0 KiB (lower bound 64.0 KiB)
// PLAIN: validated

// Two parts, together less than the whole, are read where they are.
// QUARTERS: HBM traffic 32.0 KiB
// QUARTERS: validated

//--- halves.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @halves(%x: tensor<64x256xf16> {spyre.dims = ["A", ""]}) -> tensor<64x256xf16> {
  %half = tensor.empty() : tensor<64x128xf16>
  %empty = tensor.empty() : tensor<64x256xf16>
  %left = tensor.extract_slice %x[0, 0] [64, 128] [1, 1] : tensor<64x256xf16> to tensor<64x128xf16>
  %right = tensor.extract_slice %x[0, 128] [64, 128] [1, 1] : tensor<64x256xf16> to tensor<64x128xf16>
  %less = linalg.sub ins(%left, %right : tensor<64x128xf16>, tensor<64x128xf16>) outs(%half : tensor<64x128xf16>) -> tensor<64x128xf16>
  %more = linalg.add ins(%left, %right : tensor<64x128xf16>, tensor<64x128xf16>) outs(%half : tensor<64x128xf16>) -> tensor<64x128xf16>
  %both = tensor.concat dim(1) %less, %more : (tensor<64x128xf16>, tensor<64x128xf16>) -> tensor<64x256xf16>
  %sum = linalg.add ins(%both, %x : tensor<64x256xf16>, tensor<64x256xf16>) outs(%empty : tensor<64x256xf16>) -> tensor<64x256xf16>
  return %sum : tensor<64x256xf16>
}

//--- quarters.mlir
func.func @quarters(%x: tensor<64x256xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %one = tensor.extract_slice %x[0, 0] [64, 64] [1, 1] : tensor<64x256xf16> to tensor<64x64xf16>
  %other = tensor.extract_slice %x[0, 64] [64, 64] [1, 1] : tensor<64x256xf16> to tensor<64x64xf16>
  %exp = linalg.exp ins(%one : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %sum = linalg.add ins(%exp, %other : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %mul = linalg.mul ins(%sum, %one : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %mul : tensor<64x64xf16>
}
