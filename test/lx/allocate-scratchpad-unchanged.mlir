// A loop carries a value and leaves it as it was. What reads the loop's result reads its copy in LX, and not a copy of what the loop began
// with: a loop may overwrite that.
// RUN: spyre-opt %s --spyre-set-target="cores=1 lx-bytes=512" --spyre-divide-work --spyre-allocate-scratchpad=planner=exact -o %t
// RUN: FileCheck %s < %t
// RUN: spyre-opt %t --spyre-form-bundles -o %t.bundles

#layout = #spyre.layout<[1, 4, 64], [64, 64, 1]>
!t = tensor<4x64xf16, #layout>

// CHECK-LABEL: func @unchanged
// CHECK: %[[LOOP:.*]]:2 = spyre.loop
// CHECK: %[[COPY:.*]] = spyre.copy %[[LOOP]]#1 {place = #spyre.place<lx, 0>
// CHECK: spyre.pointwise maximum(%[[COPY]], %[[COPY]])
func.func @unchanged(%x: !t, %y: !t) -> (!t, !t) {
  %0, %1 = spyre.loop 4 "L" carried(%a = %x : !t, %b = %y : !t) {
    %2 = spyre.pointwise add(%a, %a) : (!t, !t) -> !t
    spyre.yield %2, %b : !t, !t
  } : !t, !t
  %3 = spyre.pointwise maximum(%0, %0) : (!t, !t) -> !t
  %4 = spyre.pointwise maximum(%1, %1) : (!t, !t) -> !t
  return %3, %4 : !t, !t
}
