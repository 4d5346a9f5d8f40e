// RUN: spyre-opt --spyre-compile="compile-to=bundle" %s --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: spyre-opt --spyre-compile="bind=T=4,U=2 compile-to=bundle" %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=BOUND
// RUN: not spyre-compile %s -o %t.out 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not spyre-compile %s --bundle-format=1.0 -o %t.out 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: not spyre-compile %s --bind T=8 -o %t.out 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not ls %t.out
// RUN: spyre-compile %s --bind T=8,U=2 -o %t.bound && spyre-translate --check-bundle %t.bound
// RUN: spyre-opt --spyre-compile="compile-to=bundle" %s -o %t.mlir && not spyre-translate --mlir-to-bundle %t.mlir -o %t.out 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: spyre-translate --mlir-to-bundle %t.mlir --format=torch-spyre-2026-09 -o %t.sized && spyre-translate --check-bundle --format=torch-spyre-2026-09 %t.sized
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.sized/bundle_0/bundle.mlir

// Loops run up to sizes that are arguments of the launch, and addresses step by one position.
// CHECK-DAG:   #[[NESTED:.+]] = affine_map<(d0, d1)[s0] -> (d0 * 128 + s0 + d1 * 1024)>
// CHECK:       sdsc.program @f attributes {sizes = {T = array<i64: 512, 64>, U = array<i64: 256, 128>}} {
// CHECK:       sdsc.buffer @arg0 input 0 {symbolic = ["T", "U"]}
// CHECK:       module @bundle_0 attributes {{{.*}}sdsc.loop_dims = ["M", "N"], sdsc.loop_sizes = ["T", "U"]} {
// CHECK:       func.func @sdsc_bundle(
// CHECK-SAME:    %dim_0_base: !sdscbundle.input_arg<index, granularity=64, max_value=512>, %dim_1_base: !sdscbundle.input_arg<index, granularity=128, max_value=256>)
// CHECK:       %dim_0 = sdscbundle.input_arg_extract value from %dim_0_base : !sdscbundle.input_arg<index, granularity=64, max_value=512> -> index
// CHECK:       %dim_1 = sdscbundle.input_arg_extract value from %dim_1_base
// CHECK-NOT:   %loop_bound
// CHECK:       %step_0 = arith.constant 64 : index
// CHECK:       %step_1 = arith.constant 128 : index
// CHECK:       scf.for %i_0 = %c0 to %dim_0 step %step_0 {
// CHECK-NEXT:    scf.for %i_1 = %c0 to %dim_1 step %step_1 {
// CHECK-NEXT:      affine.apply #[[NESTED]](%i_0, %i_1)[%arg_0]

// BOUND:       sdsc.program @f {
// BOUND:       module @bundle_0 attributes {sdsc.buffers = [@arg0, @result0]} {
// BOUND:       %loop_bound_0 = arith.constant 4 : index
// BOUND:       %loop_bound_1 = arith.constant 2 : index
// BOUND:       scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {

// TEXT:        scf.for %i_0 = %c0 to %dim_0 step %step_0 {
// TEXT-NEXT:     scf.for %i_1 = %c0 to %dim_1 step %step_1 {

// REFUSED: error{{.*}}'{{func.func|scf.for}}' op repeats for each tile of 'M', whose size 'T' is known at launch only: format 'torch-spyre-2026-08' requires constant trip counts; give --bundle-format=torch-spyre-2026-09, or one size
// RELEASE: error{{.*}}op repeats for each tile of 'M', whose size 'T' is known at launch only: format '1.0' requires constant trip counts
// HALF:    error{{.*}}'func.func' op repeats for each tile of 'N', whose size 'U' is known at launch only
func.func @f(%x: tensor<512x256xf16> {spyre.dims = ["M", "N"]}) -> tensor<512x256xf16> attributes {spyre.symbols = {T = 8, U = 2, unused = 3}} {
  %scope = spyre.hint tiles(M = T, N = U) {
    %exp = spyre.pointwise exp(%x) : tensor<512x256xf16>
    spyre.yield %exp : tensor<512x256xf16>
  }
  return %scope : tensor<512x256xf16>
}
