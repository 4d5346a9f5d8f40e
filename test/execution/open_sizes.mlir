// Sizes that a program leaves open are given when it is compiled; the check takes them from the bundle, as it does the function's name.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/f16.mlir -o %t/half --entry mlp --dim-size B=2,L=33 --dim-size D=72,arg2.0=2,arg2.1=5 --validate > %t/log
// RUN: spyre-run %t/half --wipe-lx --seed 3 --check %t/f16.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SHAPE --input-file=%t/half/program.json
// RUN: spyre-compile %t/f32.mlir -o %t/single --entry mlp --dim-size B=1,L=7,D=64,arg2.0=1,arg2.1=1 --validate > %t/log
// RUN: spyre-run %t/single --wipe-lx --seed 3 --check %t/f32.mlir | FileCheck %s
// RUN: not spyre-run %t/half --check %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not spyre-run %t/half --check %t/rank.mlir 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not spyre-compile %t/f16.mlir -o %t/none --entry mlp --dim-size B=2,L=33,D=72 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not spyre-compile %t/f16.mlir -o %t/none 2>&1 | FileCheck %s --check-prefix=SEVERAL

// CHECK: result0: correct
// CHECK: result1: correct

// SHAPE: "name": "mlp"
// SHAPE: "shape": [
// SHAPE-NEXT: 2,
// SHAPE-NEXT: 33,
// SHAPE-NEXT: 72

// TWO: two.mlir': expected the function 'mlp' of the bundle, found {{.*}}; give the module that was compiled
// RANK: expected argument 0 of shape [2, 33, 72] and type f16, as in the bundle, found tensor<?x?xf16> in the module; give the module from which the bundle was compiled
// OPEN: error{{.*}}dimensions arg2.0, arg2.1 are dynamic; give their sizes with --dim-size arg2.0=N --dim-size arg2.1=N
// SEVERAL: error{{.*}}expected one public function, found 'other' and 'mlp'; choose one with --entry NAME

//--- f16.mlir
func.func @other(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  return %x : tensor<4x4xf16>
}
func.func @mlp(%x: tensor<?x?x?xf16> {spyre.dims = ["B", "L", "D"]}, %w: tensor<?x100xf16> {spyre.dims = ["D", "E"]}, %past: tensor<?x?x100xf16>) -> (tensor<?x?x100xf16>, tensor<?x1xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f16
  %B = tensor.dim %x, %c0 : tensor<?x?x?xf16>
  %L = tensor.dim %x, %c1 : tensor<?x?x?xf16>
  %D = tensor.dim %x, %c2 : tensor<?x?x?xf16>
  %K = tensor.dim %w, %c0 : tensor<?x100xf16>
  %fits = arith.cmpi eq, %D, %K : index
  cf.assert %fits, "the sizes of a product"
  %rows = arith.muli %B, %L : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x?xf16> into tensor<?x?xf16>
  %e = tensor.empty(%rows) : tensor<?x100xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<?x100xf16>) -> tensor<?x100xf16>
  %p = linalg.matmul ins(%flat, %w : tensor<?x?xf16>, tensor<?x100xf16>) outs(%f : tensor<?x100xf16>) -> tensor<?x100xf16>
  %back = tensor.expand_shape %p [[0, 1], [2]] output_shape [%B, %L, 100] : tensor<?x100xf16> into tensor<?x?x100xf16>
  %eb = tensor.empty(%B, %L) : tensor<?x?x100xf16>
  %g = linalg.tanh ins(%back : tensor<?x?x100xf16>) outs(%eb : tensor<?x?x100xf16>) -> tensor<?x?x100xf16>
  %all = tensor.concat dim(1) %past, %g : (tensor<?x?x100xf16>, tensor<?x?x100xf16>) -> tensor<?x?x100xf16>
  %last = tensor.extract_slice %x[0, 0, 0] [%B, 1, 1] [1, 1, 1] : tensor<?x?x?xf16> to tensor<?x1xf16>
  return %all, %last : tensor<?x?x100xf16>, tensor<?x1xf16>
}

//--- f32.mlir
func.func @other(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}
func.func @mlp(%x: tensor<?x?x?xf32> {spyre.dims = ["B", "L", "D"]}, %w: tensor<?x100xf32> {spyre.dims = ["D", "E"]}, %past: tensor<?x?x100xf32>) -> (tensor<?x?x100xf32>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %B = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %L = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %D = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %K = tensor.dim %w, %c0 : tensor<?x100xf32>
  %fits = arith.cmpi eq, %D, %K : index
  cf.assert %fits, "the sizes of a product"
  %rows = arith.muli %B, %L : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x?xf32> into tensor<?x?xf32>
  %e = tensor.empty(%rows) : tensor<?x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x100xf32>) -> tensor<?x100xf32>
  %p = linalg.matmul ins(%flat, %w : tensor<?x?xf32>, tensor<?x100xf32>) outs(%f : tensor<?x100xf32>) -> tensor<?x100xf32>
  %back = tensor.expand_shape %p [[0, 1], [2]] output_shape [%B, %L, 100] : tensor<?x100xf32> into tensor<?x?x100xf32>
  %eb = tensor.empty(%B, %L) : tensor<?x?x100xf32>
  %g = linalg.tanh ins(%back : tensor<?x?x100xf32>) outs(%eb : tensor<?x?x100xf32>) -> tensor<?x?x100xf32>
  %all = tensor.concat dim(1) %past, %g : (tensor<?x?x100xf32>, tensor<?x?x100xf32>) -> tensor<?x?x100xf32>
  %last = tensor.extract_slice %x[0, 0, 0] [%B, 1, 1] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x1xf32>
  return %all, %last : tensor<?x?x100xf32>, tensor<?x1xf32>
}

//--- two.mlir
func.func @one(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  return %x : tensor<4x4xf16>
}
func.func @other(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  return %x : tensor<4x4xf16>
}

//--- rank.mlir
func.func @mlp(%x: tensor<?x?xf16>, %w: tensor<?x100xf16>, %past: tensor<?x?x100xf16>) -> tensor<?x?xf16> {
  return %x : tensor<?x?xf16>
}
