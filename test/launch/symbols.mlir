// RUN: spyre-opt --spyre-compile="compile-to=bundle" %s --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: spyre-opt --spyre-compile="bind=T=4,U=2 compile-to=bundle" %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=BOUND
// RUN: not spyre-compile %s -o %t.out 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not spyre-compile %s --bind T=8 -o %t.out 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not ls %t.out
// RUN: spyre-compile %s --bind T=8,U=2 -o %t.bound && spyre-translate --check-bundle %t.bound
// RUN: spyre-opt --spyre-compile="compile-to=bundle" %s -o %t.mlir && not spyre-translate --mlir-to-bundle %t.mlir -o %t.out 2>&1 | FileCheck %s --check-prefix=REFUSED

// Loops run to arguments of the launch, and addresses follow the counters as they do in other loops.
// CHECK-DAG:   #[[NESTED:.+]] = affine_map<(d0, d1)[s0] -> (d0 * 8192 + s0 + d1 * 131072)>
// CHECK:       sdsc.program @f attributes {symbols = {T = 8 : i64, U = 2 : i64}} {
// CHECK:       module @bundle_0 attributes {{{.*}}sdsc.counted_dims = ["M", "N"], sdsc.counts = ["T", "U"]} {
// CHECK:       func.func @sdsc_bundle(
// CHECK-SAME:    %count_0_base: !sdscbundle.input_arg<index, granularity=1, max_value=8>, %count_1_base: !sdscbundle.input_arg<index, granularity=1, max_value=2>)
// CHECK:       %count_0 = sdscbundle.input_arg_extract value from %count_0_base : !sdscbundle.input_arg<index, granularity=1, max_value=8> -> index
// CHECK:       %count_1 = sdscbundle.input_arg_extract value from %count_1_base
// CHECK-NOT:   %loop_bound
// CHECK:       scf.for %i_0 = %c0 to %count_0 step %c1 {
// CHECK-NEXT:    scf.for %i_1 = %c0 to %count_1 step %c1 {
// CHECK-NEXT:      affine.apply #[[NESTED]](%i_0, %i_1)[%arg_0]

// BOUND:       sdsc.program @f {
// BOUND:       module @bundle_0 attributes {sdsc.buffers = [@arg0, @result0]} {
// BOUND:       %loop_bound_0 = arith.constant 4 : index
// BOUND:       %loop_bound_1 = arith.constant 2 : index
// BOUND:       scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {

// REFUSED: error{{.*}}'{{func.func|scf.for}}' op runs 'T' times over the tiles of 'M', at most 8, which is known at launch only: the backend requires constant trip counts; give --bind T=NUMBER
// HALF:    error{{.*}}'func.func' op runs 'U' times over the tiles of 'N', at most 2, which is known at launch only: the backend requires constant trip counts; give --bind U=NUMBER
func.func @f(%x: tensor<512x256xf16> {spyre.dims = ["M", "N"]}) -> tensor<512x256xf16> attributes {spyre.symbols = {T = 8, U = 2, unused = 3}} {
  %scope = spyre.hint tiles(M = T, N = U) {
    %exp = spyre.pointwise exp(%x) : tensor<512x256xf16>
    spyre.yield %exp : tensor<512x256xf16>
  }
  return %scope : tensor<512x256xf16>
}
