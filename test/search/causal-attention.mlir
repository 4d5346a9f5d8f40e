// Causal attention moves queries, keys, values and the result once, however many positions there are: the mask is computed where it is read, and rows that
// every tile reads again are copied in front of the loops.
// RUN: sed s/1024/4096/g %S/../../benches/plans/sdpa_causal_1x32x1024x128_f16.mlir > %t.4096.mlir
// RUN: spyre-compile %t.4096.mlir -o %t.4096 | FileCheck %s --check-prefix=FEW
// FEW: HBM traffic 128.{{.*}}, 1.00 times
// RUN: sed s/1024/16384/g %S/../../benches/plans/sdpa_causal_1x32x1024x128_f16.mlir > %t.16384.mlir
// RUN: spyre-compile %t.16384.mlir -o %t.16384 | FileCheck %s --check-prefix=MANY
// MANY: HBM traffic 515.{{.*}}, 1.00 times
