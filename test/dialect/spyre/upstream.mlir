// MLIR's own passes on our ops.
// RUN: spyre-opt %s --loop-invariant-code-motion | FileCheck %s
// RUN: spyre-opt %s --canonicalize --cse | FileCheck %s --check-prefix=SIMPLE
// RUN: spyre-opt %s --inline | FileCheck %s --check-prefix=INLINED

// Loop-invariant ops are hoisted; ops that depend on the tile remain in the loop.
// CHECK-LABEL: func @invariants_leave_a_loop
// CHECK-NEXT: [[S:%.*]] = spyre.reduce sum([[R:%.*]])
// CHECK-NEXT: [[V:%.*]] = spyre.view [[S]]
// CHECK-NEXT: spyre.loop 2 "A" tiled([[T:%.*]] = {{.*}})
// CHECK-NEXT: spyre.pointwise add([[T]], [[V]])
// CHECK-NEXT: spyre.yield
func.func @invariants_leave_a_loop(%x: tensor<4x64xf16>, %row: tensor<1x64xf16>) -> tensor<4x64xf16> {
  %z = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<4x64xf16>) {
    %sum = spyre.reduce sum(%row) dims [1] : tensor<1x64xf16> -> tensor<1x1xf16>
    %wide = spyre.view %sum by affine_map<(d0, d1) -> (0, 0)> : tensor<1x1xf16> -> tensor<2x64xf16>
    %y = spyre.pointwise add(%tile, %wide) : tensor<2x64xf16>
    spyre.yield %y[0] : tensor<2x64xf16>
  } : tensor<4x64xf16>
  return %z : tensor<4x64xf16>
}

// A carried value changes in every iteration, so ops that depend on it are not hoisted.
// CHECK-LABEL: func @what_is_carried_stays
// CHECK-NEXT: spyre.loop
// CHECK-NEXT: spyre.pointwise neg
func.func @what_is_carried_stays(%start: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %z = spyre.loop 2 "A" carried(%before = %start : tensor<4x64xf16>) {
    %after = spyre.pointwise neg(%before) : tensor<4x64xf16>
    spyre.yield %after : tensor<4x64xf16>
  } : tensor<4x64xf16>
  return %z : tensor<4x64xf16>
}

// Ops on carried values also stay in a loop with tiles.
// CHECK-LABEL: func @what_is_carried_beside_tiles_stays
// CHECK-NEXT: spyre.loop
// CHECK-NEXT: spyre.pointwise neg
func.func @what_is_carried_beside_tiles_stays(%x: tensor<4x64xf16>, %start: tensor<2x64xf16>) -> (tensor<4x64xf16>, tensor<2x64xf16>) {
  %z:2 = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<4x64xf16>) carried(%before = %start : tensor<2x64xf16>) {
    %after = spyre.pointwise neg(%before) : tensor<2x64xf16>
    spyre.yield %tile[0], %after : tensor<2x64xf16>, tensor<2x64xf16>
  } : tensor<4x64xf16>, tensor<2x64xf16>
  return %z#0, %z#1 : tensor<4x64xf16>, tensor<2x64xf16>
}

// Equal ops are merged, and unused ops are erased, also complete loops. Two buffers are not merged.
// SIMPLE-LABEL: func @equal_ops
// SIMPLE-NEXT: [[E:%.*]] = spyre.pointwise exp
// SIMPLE-NEXT: [[A:%.*]] = spyre.empty
// SIMPLE-NEXT: [[B:%.*]] = spyre.empty
// SIMPLE-NEXT: spyre.insert [[E]] into [[A]]
// SIMPLE-NEXT: spyre.insert [[E]] into [[B]]
// SIMPLE-NEXT: return
func.func @equal_ops(%x: tensor<2x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>) {
  %unused = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<2x64xf16>) {
    %y = spyre.pointwise exp(%tile) : tensor<1x64xf16>
    spyre.yield %y[0] : tensor<1x64xf16>
  } : tensor<2x64xf16>
  %a = spyre.pointwise exp(%x) : tensor<2x64xf16>
  %b = spyre.pointwise exp(%x) : tensor<2x64xf16>
  %one = spyre.empty : tensor<4x64xf16>
  %other = spyre.empty : tensor<4x64xf16>
  %p = spyre.insert %a into %one at [0, 0] : tensor<2x64xf16> into tensor<4x64xf16>
  %q = spyre.insert %b into %other at [2, 0] : tensor<2x64xf16> into tensor<4x64xf16>
  return %p, %q : tensor<4x64xf16>, tensor<4x64xf16>
}

func.func private @callee(%x: tensor<2x64xf16>) -> tensor<2x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<2x64xf16>
  return %y : tensor<2x64xf16>
}

// INLINED-LABEL: func @caller
// INLINED-NEXT: spyre.loop
// INLINED-NEXT: spyre.pointwise exp
// INLINED-NOT: call
func.func @caller(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %z = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<4x64xf16>) {
    %y = func.call @callee(%tile) : (tensor<2x64xf16>) -> tensor<2x64xf16>
    spyre.yield %y[0] : tensor<2x64xf16>
  } : tensor<4x64xf16>
  return %z : tensor<4x64xf16>
}
