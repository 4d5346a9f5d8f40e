// Causal attention of 8 heads, a few heads an iteration: the mask is the same for all of them, and is copied in front of the loop into LX.
// RUN: rm -rf %t && mkdir %t
// RUN: sed 's/1024/256/g; s/32x/8x/g; s/1, 32,/1, 8,/g' %S/../../benches/plans/sdpa_causal_1x32x1024x128_f16.mlir > %t/attention.mlir
// RUN: spyre-compile %t/attention.mlir --lx-bytes 20480 --validate -o %t/searched > %t/log && FileCheck %s --check-prefix=SEARCHED < %t/log
// RUN: spyre-run %t/searched --check %t/attention.mlir | FileCheck %s --check-prefix=AGREES
// SEARCHED: tiling: ops 0-10 in 4 tiles of axis0 with 1 operand copied
// Every argument, the mask and the result go through HBM once.
// SEARCHED: HBM traffic 2.13 MiB (lower bound 2.12 MiB
// SEARCHED: validated:
// AGREES: result0: correct
