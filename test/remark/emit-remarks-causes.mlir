// RUN: split-file %s %t
// RUN: spyre-opt %t/turned.mlir --spyre-compile="compile-to=lx" --remarks-filter=spyre-layout 2>&1 | FileCheck %s --check-prefix=TURNED
// RUN: spyre-opt %S/../../examples/softmax.mlir --spyre-compile="compile-to=lx lx-bytes=16384" --remarks-filter=spyre-tiles 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: spyre-opt %S/../kernel/attention_rotary.mlir --spyre-compile="compile-to=lx" --remarks-filter-missed=spyre-kernels 2>&1 | FileCheck %s --check-prefix=APART
// RUN: spyre-opt %t/turned.mlir --spyre-emit-remarks --remarks-filter=".*" 2>&1 | FileCheck %s --check-prefix=UNDECIDED

// Each decision that the report gives a reason for is told; the places are those of the program.

// TURNED: turned.mlir:{{.*}} remark{{.*}}[Analysis] move | Category:spyre-layout | Function=turned | Remark="restickify: the consumer reads other sticks"
// LOOPS: softmax.mlir:16:1: remark{{.*}}[Passed] loops | Category:spyre-tiles | Function=softmax | Remark="loops chosen: ops 0-4 in 2 tiles of axis0; {{[0-9.]+}} us, without loops {{[0-9.]+}} us; {{[0-9]+}} candidates evaluated"
// APART: attention_rotary.mlir:50:1: remark{{.*}}[Missed] fusion | Category:spyre-kernels | Function=main | Remark="'add' at {{.*}}attention_rotary.mlir:66:12 is not fused into kernel 'attention': the program is not faster with the fusion"
// A program for which nothing was decided.
// UNDECIDED-NOT: remark

//--- turned.mlir
func.func @turned(%x: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %e = tensor.empty() : tensor<128x128xf16>
  %t = linalg.transpose ins(%x : tensor<128x128xf16>) outs(%e : tensor<128x128xf16>) permutation = [1, 0]
  %0 = linalg.add ins(%x, %t : tensor<128x128xf16>, tensor<128x128xf16>) outs(%e : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %0 : tensor<128x128xf16>
}
