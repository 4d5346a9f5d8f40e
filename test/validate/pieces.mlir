// Programs that are too large for samples are validated in pieces, each compiled separately.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/large.mlir --validate -o %t/large | FileCheck %t/large.mlir
// RUN: spyre-compile %t/integers.mlir --validate -o %t/integers | FileCheck %t/integers.mlir
// RUN: ls %t/large/program.json %t/integers/program.json

//--- large.mlir
// Each result element depends on a complete matmul.
// CHECK: validated in 2 pieces, because the program is too large for samples: 2 different pieces were compiled separately; decisions that concern several pieces are not checked; validated by samples:
func.func @product(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<1x1xf16> {
  %c = spyre.matmul(%a, %b) : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %d = spyre.reduce sum(%c) dims [0, 1] : tensor<4096x4096xf16> -> tensor<1x1xf16>
  return %d : tensor<1x1xf16>
}

//--- integers.mlir
// Integer results are not sampled; the piece that computes them is executed completely.
// CHECK: validated in 2 pieces
func.func @product(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %i: tensor<128x128xi64>) -> (tensor<4096x4096xf16>, tensor<128x128xi64>) {
  %c = spyre.matmul(%a, %b) : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %j = spyre.copy %i : tensor<128x128xi64> -> tensor<128x128xi64>
  return %c, %j : tensor<4096x4096xf16>, tensor<128x128xi64>
}
