// The kernels of examples/kernels: what is written computes what the programs say, whatever the knobs are.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %S/../../examples/kernels/rms_norm.mlir -o %t/norm --validate | FileCheck %s
// RUN: spyre-run %t/norm --check %S/../../examples/kernels/rms_norm.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %S/../../examples/kernels/matmul.mlir -o %t/matmul --validate --knobs matmul.M=2,matmul.N=4 | FileCheck %s
// RUN: spyre-run %t/matmul --check %S/../../examples/kernels/matmul.mlir | FileCheck %s --check-prefix=ONE
// RUN: spyre-compile %S/../../examples/kernels/attention.mlir -o %t/attention --validate | FileCheck %s --check-prefixes=CHECK,ONLINE
// RUN: spyre-run %t/attention --check %S/../../examples/kernels/attention.mlir | FileCheck %s --check-prefix=ONE
// RUN: spyre-compile %S/../../examples/kernels/attention.mlir -o %t/heads --validate --knobs attention.H=4,attention.K=1 | FileCheck %s

// The loop over keys stands in that over heads; the scaled queries are made once for all of its turns, and HBM has what it must have.
// ONLINE: kernel 'attention' with H = 2, K = 2: STAGE mul
// ONLINE: loop of 2 over 'heads'
// ONLINE-NEXT: loop of 2 over 'keys'
// ONLINE: HBM traffic 513.0 KiB (lower bound 512.0 KiB, 1.00 times)
// CHECK: validated: the files and the imported program agree
// ONE: result0: correct
// TWO: result0: correct
// TWO: result1: correct
