// Loops over symbolic sizes: validated at the maximum and at smaller sizes, compared with MLIR's JIT, checked, and read back.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/add.mlir -o %t/add --dim-size s0=1024:64 --tiles s0=16 --bundle-format=torch-spyre-2026-09 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle --format=torch-spyre-2026-09 %t/add
// RUN: spyre-run %t/add --wipe-lx --check %t/add.mlir | FileCheck %s
// RUN: spyre-run %t/add --wipe-lx --dim-size s0=64 --check %t/add.mlir | FileCheck %s
// RUN: spyre-run %t/add --wipe-lx --dim-size s0=832 --check %t/add.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/add -o %t/add.again.mlir && spyre-translate --mlir-to-bundle --format=torch-spyre-2026-09 %t/add.again.mlir -o %t/add.again && rm -f %t/add/exact.json && diff -r %t/add %t/add.again
// RUN: FileCheck %s --check-prefix=PROGRAM --input-file=%t/add/program.json

// The tile is smaller than the multiple of the size, and an op outside of the loop has the size as well.
// RUN: spyre-compile %t/middle.mlir -o %t/middle --dim-size arg0.1=96:32 --tiles M=12 --bundle-format=torch-spyre-2026-09 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle --format=torch-spyre-2026-09 %t/middle
// RUN: spyre-run %t/middle --wipe-lx --dim-size arg0.1=32 --check %t/middle.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/middle -o %t/middle.again.mlir && spyre-translate --mlir-to-bundle --format=torch-spyre-2026-09 %t/middle.again.mlir -o %t/middle.again && rm -f %t/middle/exact.json && diff -r %t/middle %t/middle.again

// Two sizes, one in two loops and the other in ops, with a loop over other columns inside.
// RUN: spyre-compile %t/two.mlir -o %t/two --dim-size arg0.0=256:64,arg0.1=12:4 --tiles M=4,N=2 --bundle-format=torch-spyre-2026-09 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle --format=torch-spyre-2026-09 %t/two
// RUN: spyre-run %t/two --wipe-lx --dim-size arg0.0=192 --dim-size arg0.1=8 --check %t/two.mlir | FileCheck %s

// Columns in sticks, tiled in whole sticks.
// RUN: spyre-compile %t/columns.mlir -o %t/columns --dim-size arg0.1=512:128 --tiles N=4 --bundle-format=torch-spyre-2026-09 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-run %t/columns --wipe-lx --dim-size arg0.1=256 --check %t/columns.mlir | FileCheck %s

// Tiles that do not divide the size, and formats without such loops.
// RUN: not spyre-compile %t/add.mlir -o %t/out --dim-size s0=1024:64 --tiles s0=8 --bundle-format=torch-spyre-2026-09 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not spyre-compile %t/add.mlir -o %t/out --dim-size s0=1024:64 --tiles s0=16 --bundle-format=1.0 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: not spyre-compile %t/add.mlir -o %t/out --dim-size s0=1024:64 --tiles s0=16 --bundle-format=torch-spyre-2026-09 --loops unroll 2>&1 | FileCheck %s --check-prefix=UNROLL
// RUN: not spyre-run %t/add --dim-size s0=100 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not spyre-translate --check-bundle %t/add | FileCheck %s --check-prefix=RULE
// RUN: not ls %t/out

// VALIDATED: validated: the files and the imported program agree{{.*}}; at the largest sizes, and at {{.*}}=
// CHECK: result0: correct

// PROGRAM:      "symbolic": [
// PROGRAM-NEXT:   {
// PROGRAM-NEXT:     "dim": 0,
// PROGRAM-NEXT:     "size": "s0"
// PROGRAM:      "name": "s0",
// PROGRAM-NEXT: "maximum": 1024,
// PROGRAM-NEXT: "granularity": 64

// UNEVEN: add.mlir:{{.*}}: error{{.*}}'linalg.add' op has 8 tiles of 128 positions of symbolic dimension 's0', a multiple of 64; expected tiles whose size divides 64, such as 16 tiles
// RELEASE: error{{.*}}repeats for each tile of 's0', whose size 's0' is known at launch only: format '1.0' requires constant trip counts; give --bundle-format=torch-spyre-2026-09, or one size
// UNROLL: error{{.*}}expected a constant trip count of the loop over 's0'
// STEP: error{{.*}}'s0' cannot be 100: expected a multiple of 64 from 64 to 1024; choose 64 or 128
// RULE: bundle.mlir:{{.*}}: sdsc_r12: the loop runs up to '%dim_0_base', which is known at launch only; loop bounds are constants

//--- add.mlir
func.func @add(%x: tensor<?x256xf16> {spyre.dims = ["s0", "N"]}, %y: tensor<?x256xf16> {spyre.dims = ["s0", "N"]}) -> tensor<?x256xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%n) : tensor<?x256xf16>
  %0 = linalg.add ins(%x, %y : tensor<?x256xf16>, tensor<?x256xf16>) outs(%e : tensor<?x256xf16>) -> tensor<?x256xf16>
  %1 = linalg.exp ins(%0 : tensor<?x256xf16>) outs(%e : tensor<?x256xf16>) -> tensor<?x256xf16>
  return %1 : tensor<?x256xf16>
}

//--- middle.mlir
func.func @middle(%x: tensor<4x?x128xf16> {spyre.dims = ["B", "M", "N"]}) -> (tensor<4x?x128xf16>, tensor<4x?xf16>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %n = tensor.dim %x, %c1 : tensor<4x?x128xf16>
  %e = tensor.empty(%n) : tensor<4x?x128xf16>
  %r = tensor.empty(%n) : tensor<4x?xf16>
  %f = linalg.fill ins(%zero : f16) outs(%r : tensor<4x?xf16>) -> tensor<4x?xf16>
  %0 = linalg.negf ins(%x : tensor<4x?x128xf16>) outs(%e : tensor<4x?x128xf16>) -> tensor<4x?x128xf16>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x?x128xf16>) outs(%f : tensor<4x?xf16>) dimensions = [2]
  return %0, %1 : tensor<4x?x128xf16>, tensor<4x?xf16>
}

//--- two.mlir
func.func @two(%x: tensor<?x?x128xf16> {spyre.dims = ["M", "B", "N"]}) -> tensor<?x?x128xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x128xf16>
  %b = tensor.dim %x, %c1 : tensor<?x?x128xf16>
  %e = tensor.empty(%m, %b) : tensor<?x?x128xf16>
  %0 = linalg.exp ins(%x : tensor<?x?x128xf16>) outs(%e : tensor<?x?x128xf16>) -> tensor<?x?x128xf16>
  %1 = linalg.add ins(%0, %x : tensor<?x?x128xf16>, tensor<?x?x128xf16>) outs(%e : tensor<?x?x128xf16>) -> tensor<?x?x128xf16>
  return %1 : tensor<?x?x128xf16>
}

//--- columns.mlir
func.func @columns(%x: tensor<96x?xf16> {spyre.dims = ["M", "N"]}) -> tensor<96x?xf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<96x?xf16>
  %e = tensor.empty(%n) : tensor<96x?xf16>
  %0 = linalg.exp ins(%x : tensor<96x?xf16>) outs(%e : tensor<96x?xf16>) -> tensor<96x?xf16>
  return %0 : tensor<96x?xf16>
}
