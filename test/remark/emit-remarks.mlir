// RUN: spyre-opt %s --spyre-compile="compile-to=lx lx-planner=first-fit" --remarks-filter=".*" 2>&1 | FileCheck %s
// RUN: spyre-opt %s --spyre-compile="compile-to=lx lx-planner=none" --remarks-filter-missed="spyre-lx" 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: rm -f %t.yaml && spyre-opt %s --spyre-compile="compile-to=lx" --remarks-filter=".*" --remark-format=yaml --remarks-output-file=%t.yaml -o /dev/null
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
// RUN: spyre-opt %s --spyre-compile="compile-to=lx" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: spyre-opt %s --spyre-compile="compile-to=work" --spyre-emit-remarks --remarks-filter=".*" 2>&1 | FileCheck %s --check-prefix=WORK
// RUN: spyre-opt %S/../../examples/kernels/attention.mlir --spyre-compile="compile-to=lx" --remarks-filter=".*" 2>&1 | FileCheck %s --check-prefix=TRIED

// Remarks are at the op, with a category by which filters select.
// CHECK: emit-remarks.mlir:[[#@LINE+25]]:8: remark{{.*}}[Passed] place | Category:spyre-lx | Function=two {{.*}}result of 'neg' is in LX at 0
// CHECK: emit-remarks.mlir:[[#@LINE+24]]:8: remark{{.*}}[Analysis] division | Category:spyre-work | Function=two {{.*}}'neg' runs on {{[0-9]+}} cores
// CHECK: remark{{.*}}[Missed] place | Category:spyre-lx | {{.*}}result of 'exp' is in HBM: it is a result of the graph

// A filter selects its category and no other.
// MISSED: remark{{.*}}: {{.*}}spyre-lx{{.*}}is in HBM: the LX planner is off
// MISSED-NOT: spyre-work

// Decisions that have not been made yet have no remarks.
// WORK: [Analysis] division | Category:spyre-work
// WORK-NOT: spyre-lx

// YAML: Pass: {{ *}}spyre-lx
// YAML: Function: {{ *}}two

// The trial compilations that evaluate a fusion emit no remarks.
// TRIED: [Passed] fusion {{.*}}'mul' at {{.*}}attention.mlir:36:16 is fused into kernel 'attention' (STAGE), which saves
// TRIED-COUNT-1: attention.mlir:36:16: remark{{.*}}[Passed] place
// TRIED-NOT: attention.mlir:36:16: remark: {{.*}} place

// Without a filter there are no remarks.
// NONE-NOT: remark

func.func @two(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %e = tensor.empty() : tensor<64x64xf16>
  %0 = linalg.negf ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  %1 = linalg.exp ins(%0 : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %1 : tensor<64x64xf16>
}
