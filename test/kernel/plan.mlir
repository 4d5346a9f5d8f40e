// A plan belongs to a program with its kernel parameters and fusions. With the options that it was written with it reproduces the files;
// with other options it is rejected, and the message names them.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %S/../tune/open.mlir -o %t/written --knobs product.tiles_m=2,product.splits_m=4,product.order=2 --write-plan %t/plan.json
// RUN: spyre-compile %S/../tune/open.mlir -o %t/followed --knobs product.tiles_m=2,product.splits_m=4,product.order=2 --plan %t/plan.json --validate | FileCheck %s
// RUN: diff -r %t/written %t/followed
// CHECK: kernel 'product': INLINE add
// CHECK: validated: the files and the imported program agree
// CHECK: followed the plan
// RUN: not spyre-compile %S/../tune/open.mlir -o %t/no --plan %t/plan.json 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not spyre-compile %S/../tune/open.mlir -o %t/no --plan %t/plan.json --knobs product.tiles_m=2 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: written with '--knobs product.tiles_m=2 --knobs product.splits_m=4 --knobs product.order=2'); give the same options, or remove the file, and the search writes a new one

// A plan of a tuned program records the kernel parameters that the printed command line has.
// RUN: spyre-compile %S/../tune/open.mlir -o %t/tuned --tune --open tiles,order,splits --write-plan %t/tuned.json
// RUN: spyre-compile %S/../tune/open.mlir -o %t/again --knobs product.tiles_m=1,product.tiles_n=1,product.order=1,product.splits_m=32 --kernels fuse --plan %t/tuned.json
// RUN: diff -r %t/tuned %t/again
// RUN: not spyre-compile %S/../tune/open.mlir -o %t/no --plan %t/tuned.json 2>&1 | FileCheck %s --check-prefix=TUNED
// TUNED: written with '--knobs product.tiles_m=1 --knobs product.tiles_n=1 --knobs product.order=1 --knobs product.splits_m=32 --kernels fuse'); give

// Applying a plan repeats the fusion decisions; a plan of the fused program does not apply to the separate one.
// RUN: spyre-compile %S/rms_norm_fused.mlir -o %t/fused --write-plan %t/fused.json
// RUN: spyre-compile %S/rms_norm_fused.mlir -o %t/same --plan %t/fused.json
// RUN: diff -r %t/fused %t/same
// RUN: not spyre-compile %S/rms_norm_fused.mlir -o %t/no --plan %t/fused.json --kernels separate 2>&1 | FileCheck %s --check-prefix=SEPARATE
// SEPARATE: written without options that kernels depend on); give the same options
