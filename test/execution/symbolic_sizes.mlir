// Programs with symbolic sizes: validated at the maximum and at a smaller size, compared with MLIR's JIT at both, checked, and read back.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/add.mlir -o %t/add --dim-size s0=1024:64 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle %t/add
// RUN: spyre-run %t/add --wipe-lx --check %t/add.mlir | FileCheck %s
// RUN: spyre-run %t/add --wipe-lx --dim-size s0=128 --check %t/add.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/add -o %t/add.again.mlir && spyre-translate --mlir-to-bundle %t/add.again.mlir -o %t/add.again && rm -f %t/add/exact.json && diff -r %t/add %t/add.again
// RUN: spyre-compile %t/softmax.mlir -o %t/softmax --dim-size arg0.0=96:32 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle %t/softmax
// RUN: spyre-run %t/softmax --wipe-lx --check %t/softmax.mlir | FileCheck %s
// RUN: spyre-run %t/softmax --wipe-lx --dim-size arg0.0=64 --check %t/softmax.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/softmax -o %t/softmax.again.mlir && spyre-translate --mlir-to-bundle %t/softmax.again.mlir -o %t/softmax.again && rm -f %t/softmax/exact.json && diff -r %t/softmax %t/softmax.again
// RUN: spyre-compile %t/linear.mlir -o %t/linear --dim-size arg0.0=128:32 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle %t/linear
// RUN: spyre-run %t/linear --wipe-lx --check %t/linear.mlir | FileCheck %s
// RUN: spyre-run %t/linear --wipe-lx --dim-size arg0.0=32 --check %t/linear.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/linear -o %t/linear.again.mlir && spyre-translate --mlir-to-bundle %t/linear.again.mlir -o %t/linear.again && rm -f %t/linear/exact.json && diff -r %t/linear %t/linear.again
// RUN: spyre-compile %t/middle.mlir -o %t/middle --dim-size arg0.1=96:32 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle %t/middle
// RUN: spyre-run %t/middle --wipe-lx --check %t/middle.mlir | FileCheck %s
// RUN: spyre-run %t/middle --wipe-lx --dim-size arg0.1=32 --check %t/middle.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/middle -o %t/middle.again.mlir && spyre-translate --mlir-to-bundle %t/middle.again.mlir -o %t/middle.again && rm -f %t/middle/exact.json && diff -r %t/middle %t/middle.again
// RUN: spyre-compile %t/two.mlir -o %t/two --dim-size arg0.0=8:2,arg1.1=12:4 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle %t/two
// RUN: spyre-run %t/two --wipe-lx --check %t/two.mlir | FileCheck %s
// RUN: spyre-run %t/two --wipe-lx --dim-size arg0.0=6 --dim-size arg1.1=4 --check %t/two.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/two -o %t/two.again.mlir && spyre-translate --mlir-to-bundle %t/two.again.mlir -o %t/two.again && rm -f %t/two/exact.json && diff -r %t/two %t/two.again
// RUN: spyre-compile %t/heads.mlir -o %t/heads --dim-size arg0.0=64:16 --validate | FileCheck %s --check-prefix=VALIDATED
// RUN: spyre-translate --check-bundle %t/heads
// RUN: spyre-run %t/heads --wipe-lx --check %t/heads.mlir | FileCheck %s
// RUN: spyre-run %t/heads --wipe-lx --dim-size arg0.0=48 --check %t/heads.mlir | FileCheck %s
// RUN: spyre-translate --bundle-to-mlir %t/heads -o %t/heads.again.mlir && spyre-translate --mlir-to-bundle %t/heads.again.mlir -o %t/heads.again && rm -f %t/heads/exact.json && diff -r %t/heads %t/heads.again

// VALIDATED: validated: the files and the imported program agree{{.*}}; at the largest sizes, and at {{.*}}=
// CHECK: result0: correct

// The size in the files of the sum, on one core for each stick of its columns.
// RUN: FileCheck %s --check-prefix=PROGRAM --input-file=%t/add/program.json
// RUN: FileCheck %s --check-prefix=BUNDLE --input-file=%t/add/bundle_0/bundle.mlir
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t/add/bundle_0/sdsc_0.json

// PROGRAM:      "shape": [
// PROGRAM-NEXT:   1024,
// PROGRAM:      "symbolic": [
// PROGRAM-NEXT:   {
// PROGRAM-NEXT:     "dim": 0,
// PROGRAM-NEXT:     "size": "s0"
// PROGRAM:      "sizes": [
// PROGRAM-NEXT:   {
// PROGRAM-NEXT:     "name": "s0",
// PROGRAM-NEXT:     "maximum": 1024,
// PROGRAM-NEXT:     "granularity": 64
// PROGRAM:      "launches": [
// PROGRAM:      "sizes": [
// PROGRAM-NEXT:   "s0"

// BUNDLE: func.func @sdsc_bundle({{.*}}, %sym_0_1_base: !sdscbundle.input_arg<index, granularity=64, max_value=1024>)
// BUNDLE: sdscbundle.sdsc_execute (%sym_0_1, %arg_0,

// FILE: "numWkSlicesPerDim_": {
// FILE-NEXT: "mb": 1,
// FILE-NEXT: "out": 4
// FILE: "inputSymbolsAndTags_": {
// FILE-NEXT: "-1": "s0"

// On one core the files are byte-identical to those of the golden case.
// RUN: spyre-compile %t/exp.mlir -o %t/exp --dim-size s0=64:32 --cores 1 --validate > %t/log
// RUN: spyre-translate --bundle-to-mlir %t/exp | sed 's/ {sdsc.debug_handle = .*}$//' | spyre-translate --mlir-to-bundle - -o %t/golden
// RUN: diff %t/golden/bundle_0/bundle.mlir %S/../golden/exp_symbolic/bundle.mlir && diff %t/golden/bundle_0/sdsc_0.json %S/../golden/exp_symbolic/sdsc_0.json
// RUN: spyre-run %t/exp --dim-size s0=32 --check %t/exp.mlir | FileCheck %s

// Results and files have the size that the launch sets.
// RUN: spyre-run %t/add --dim-size s0=128 --output-dir %t/small > %t/log && spyre-run %t/add --dim-size arg1.0=192 --output-dir %t/larger > %t/log
// RUN: head -c 128 %t/small/result0.npy | FileCheck %s --check-prefix=SMALL
// RUN: head -c 128 %t/larger/result0.npy | FileCheck %s --check-prefix=LARGER
// RUN: spyre-run %t/add --dim-size s0=128 --input arg0=%t/small/result0.npy --check %t/add.mlir | FileCheck %s
// SMALL: (128, 256, )
// LARGER: (192, 256, )

// Values that are no size of the program are errors with the name of the size.
// RUN: not spyre-run %t/add --dim-size s0=100 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not spyre-run %t/add --dim-size s0=1088 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not spyre-run %t/add --dim-size s1=64 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not spyre-run %t/add --dim-size s0 2>&1 | FileCheck %s --check-prefix=SPELLING
// RUN: not spyre-run %t/add --dim-size s0=64 --dim-size arg0.0=128 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not spyre-run %t/add --dim-size s0=64 --input arg0=%t/small/result0.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// STEP: spyre-run: error{{.*}}: {{.*}}'s0' cannot be 100: expected a multiple of 64 from 64 to 1024
// LARGE: spyre-run: error{{.*}}: {{.*}}'s0' cannot be 1088
// NAME: spyre-run: error{{.*}}--dim-size: expected a size that the program leaves open, found 's1'; choose one of 's0'
// SPELLING: spyre-run: error{{.*}}--dim-size: expected NAME=SIZE or argA.D=SIZE, found 's0'
// TWICE: spyre-run: error{{.*}}--dim-size: 's0' is given twice, as 64 and 128; remove one
// SHAPE: spyre-run: error{{.*}}--input: argument 'arg0' (shape [64, 256], dtype float16, layout row-major): expected an array of shape [64, 256], found shape [128, 256] in '{{.*}}/small/result0.npy'; reshape or transpose the array

// A launch that binds a size to another parameter than its files state is an error.
// RUN: sed -i 's/"-1": "s0"/"-1": "s1"/' %t/add/bundle_0/sdsc_0.json
// RUN: not spyre-run %t/add --dim-size s0=128 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not spyre-translate --check-bundle %t/add 2>&1 | FileCheck %s --check-prefix=RULE
// OTHER: spyre-run: error{{.*}}: {{.*}}'s1' is 1024 in this file, but the launch gives 128
// RULE: program.json:/launches/0/sizes: sdsc_r103

//--- add.mlir
func.func @add(%x: tensor<?x256xf16> {spyre.dims = ["s0", "D"]}, %y: tensor<?x256xf16> {spyre.dims = ["s0", "D"]}) -> tensor<?x256xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%n) : tensor<?x256xf16>
  %z = linalg.add ins(%x, %y : tensor<?x256xf16>, tensor<?x256xf16>) outs(%e : tensor<?x256xf16>) -> tensor<?x256xf16>
  return %z : tensor<?x256xf16>
}
//--- softmax.mlir
func.func @softmax(%x: tensor<?x300xf16>) -> tensor<?x300xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x300xf16>
  %e = tensor.empty(%n) : tensor<?x300xf16>
  %z = linalg.softmax dimension(1) ins(%x : tensor<?x300xf16>) outs(%e : tensor<?x300xf16>) -> tensor<?x300xf16>
  return %z : tensor<?x300xf16>
}
//--- linear.mlir
func.func @linear(%x: tensor<?x256xf16>, %w: tensor<256x320xf16>, %b: tensor<320xf16>) -> tensor<?x320xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%n) : tensor<?x320xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<?x320xf16>) -> tensor<?x320xf16>
  %p = linalg.matmul ins(%x, %w : tensor<?x256xf16>, tensor<256x320xf16>) outs(%f : tensor<?x320xf16>) -> tensor<?x320xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<?x320xf16>, tensor<320xf16>) outs(%e : tensor<?x320xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %d = arith.addf %a, %c : f16
    %t = math.tanh %d : f16
    linalg.yield %t : f16
  } -> tensor<?x320xf16>
  return %s : tensor<?x320xf16>
}
//--- middle.mlir
func.func @middle(%x: tensor<4x?x64xf16>, %w: tensor<64x96xf16>) -> (tensor<4x?x96xf16>, tensor<4x?xf16>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f16
  %n = tensor.dim %x, %c1 : tensor<4x?x64xf16>
  %rows = arith.muli %n, %c4 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x?x64xf16> into tensor<?x64xf16>
  %e = tensor.empty(%rows) : tensor<?x96xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<?x96xf16>) -> tensor<?x96xf16>
  %p = linalg.matmul ins(%flat, %w : tensor<?x64xf16>, tensor<64x96xf16>) outs(%f : tensor<?x96xf16>) -> tensor<?x96xf16>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, %n, 96] : tensor<?x96xf16> into tensor<4x?x96xf16>
  %ey = tensor.empty(%n) : tensor<4x?x96xf16>
  %t = linalg.tanh ins(%y : tensor<4x?x96xf16>) outs(%ey : tensor<4x?x96xf16>) -> tensor<4x?x96xf16>
  %er = tensor.empty(%n) : tensor<4x?xf16>
  %fr = linalg.fill ins(%zero : f16) outs(%er : tensor<4x?xf16>) -> tensor<4x?xf16>
  %r = linalg.reduce ins(%t : tensor<4x?x96xf16>) outs(%fr : tensor<4x?xf16>) dimensions = [2] (%a: f16, %o: f16) {
    %d = arith.addf %a, %o : f16
    linalg.yield %d : f16
  }
  return %t, %r : tensor<4x?x96xf16>, tensor<4x?xf16>
}
//--- two.mlir
func.func @two(%x: tensor<?x1x128xf16>, %y: tensor<1x?x128xf16>) -> tensor<?x?x128xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x1x128xf16>
  %m = tensor.dim %y, %c1 : tensor<1x?x128xf16>
  %e = tensor.empty(%n, %m) : tensor<?x?x128xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, 0, k)>, affine_map<(i, j, k) -> (0, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %y : tensor<?x1x128xf16>, tensor<1x?x128xf16>) outs(%e : tensor<?x?x128xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %d = arith.mulf %a, %c : f16
    linalg.yield %d : f16
  } -> tensor<?x?x128xf16>
  return %s : tensor<?x?x128xf16>
}
//--- heads.mlir
func.func @heads(%x: tensor<?x256xf16>, %w: tensor<4x64x64xf16>) -> tensor<?x256xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 4, 64] : tensor<?x256xf16> into tensor<?x4x64xf16>
  %et = tensor.empty(%n) : tensor<4x?x64xf16>
  %t = linalg.transpose ins(%h : tensor<?x4x64xf16>) outs(%et : tensor<4x?x64xf16>) permutation = [1, 0, 2]
  %f = linalg.fill ins(%zero : f16) outs(%et : tensor<4x?x64xf16>) -> tensor<4x?x64xf16>
  %p = linalg.batch_matmul ins(%t, %w : tensor<4x?x64xf16>, tensor<4x64x64xf16>) outs(%f : tensor<4x?x64xf16>) -> tensor<4x?x64xf16>
  %eb = tensor.empty(%n) : tensor<?x4x64xf16>
  %b = linalg.transpose ins(%p : tensor<4x?x64xf16>) outs(%eb : tensor<?x4x64xf16>) permutation = [1, 0, 2]
  %y = tensor.collapse_shape %b [[0], [1, 2]] : tensor<?x4x64xf16> into tensor<?x256xf16>
  return %y : tensor<?x256xf16>
}
//--- exp.mlir
func.func @exp(%x: tensor<?x128xf16> {spyre.dims = ["s0", "D"]}) -> tensor<?x128xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf16>
  %e = tensor.empty(%n) : tensor<?x128xf16>
  %z = linalg.exp ins(%x : tensor<?x128xf16>) outs(%e : tensor<?x128xf16>) -> tensor<?x128xf16>
  return %z : tensor<?x128xf16>
}
