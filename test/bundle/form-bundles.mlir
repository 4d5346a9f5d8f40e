// RUN: spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad --spyre-form-bundles %s | FileCheck %s
// RUN: spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad=planner=none --spyre-form-bundles=addresses=baked %s | FileCheck %s --check-prefix=BAKED

// Symbolic addresses have no limit, so a program is one launch.
// CHECK-LABEL: func @nine_tensors
// CHECK-COUNT-8: spyre.bundle = 0
// CHECK-NOT: spyre.bundle
// With baked addresses a launch has seven segments, and the pool takes one of them.
// BAKED-LABEL: func @nine_tensors
// BAKED-COUNT-5: spyre.bundle = 0
// BAKED-COUNT-3: spyre.bundle = 1
// BAKED-NOT: spyre.bundle
func.func @nine_tensors(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64x64xf16>,
                        %e: tensor<64x64xf16>, %f: tensor<64x64xf16>, %g: tensor<64x64xf16>, %h: tensor<64x64xf16>,
                        %i: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %0 = spyre.pointwise add(%a, %b) : tensor<64x64xf16>
  %1 = spyre.pointwise add(%0, %c) : tensor<64x64xf16>
  %2 = spyre.pointwise add(%1, %d) : tensor<64x64xf16>
  %3 = spyre.pointwise add(%2, %e) : tensor<64x64xf16>
  %4 = spyre.pointwise exp(%3) : tensor<64x64xf16>
  %5 = spyre.pointwise add(%4, %f) : tensor<64x64xf16>
  %6 = spyre.pointwise add(%5, %g) : tensor<64x64xf16>
  %7 = spyre.pointwise add(%6, %h) : tensor<64x64xf16>
  return %7 : tensor<64x64xf16>
}

// Two values in HBM with disjoint live ranges share an offset of the pool; a third whose live range overlaps both does not.
// Copies into LX need no offset, and do not change that.
// CHECK-LABEL: func @pool_slots_are_reused
// CHECK: spyre.pointwise tanh({{.*}}place = #spyre.place<pool, [[KEPT:[0-9]+]],
// CHECK: spyre.pointwise abs({{.*}}place = #spyre.place<pool, [[SHORT:[0-9]+]],
// CHECK-NOT: place = #spyre.place<pool, [[KEPT]],
// CHECK: spyre.pointwise log({{.*}}place = #spyre.place<pool,
// CHECK: spyre.pointwise sqrt({{.*}}place = #spyre.place<pool, [[SHORT]],
// CHECK: spyre.pointwise add({{.*}}place = #spyre.place<hbm,
// BAKED-LABEL: func @pool_slots_are_reused
// BAKED: spyre.pointwise tanh({{.*}}place = #spyre.place<pool, [[KEPT:[0-9]+]],
// BAKED: spyre.pointwise abs({{.*}}place = #spyre.place<pool, [[SHORT:[0-9]+]],
// BAKED-NOT: place = #spyre.place<pool, [[KEPT]],
// BAKED: spyre.pointwise log({{.*}}place = #spyre.place<pool,
// BAKED: spyre.pointwise sqrt({{.*}}place = #spyre.place<pool, [[SHORT]],
// BAKED: spyre.pointwise add({{.*}}place = #spyre.place<hbm,
func.func @pool_slots_are_reused(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %kept = spyre.pointwise tanh(%x) : tensor<64x64xf16>
  %first = spyre.pointwise abs(%x) : tensor<64x64xf16>
  %second = spyre.pointwise log(%first) : tensor<64x64xf16>
  %third = spyre.pointwise sqrt(%second) : tensor<64x64xf16>
  %sum = spyre.pointwise add(%third, %kept) : tensor<64x64xf16>
  return %sum : tensor<64x64xf16>
}

// Values in LX need no pool, and the result of the program is a buffer of the program.
// CHECK-LABEL: func @lx_needs_no_pool
// CHECK: spyre.pointwise exp{{.*}}place = #spyre.place<lx, 0>
// CHECK: spyre.pointwise neg{{.*}}place = #spyre.place<hbm, "it is a result
func.func @lx_needs_no_pool(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %e = spyre.pointwise exp(%x) : tensor<64x64xf16>
  %n = spyre.pointwise neg(%e) : tensor<64x64xf16>
  return %n : tensor<64x64xf16>
}

// A buffer that is written in slices is live from its first slice, so values that are defined between the slices have other offsets.
// Values whose last use is before the first slice may share its offset.
// If the last user of a value reads its copy in LX, the offset is free after the copy.
// CHECK-LABEL: func @parts
// CHECK: spyre.pointwise log({{.*}}place = #spyre.place<pool, [[LOG:[0-9]+]],
// CHECK: spyre.empty {place = #spyre.place<pool, [[LOG]], "its users split it over the cores differently: use 0 splits a dimension of which it uses only a part">}
// CHECK-NEXT: [[COPY:%.*]] = spyre.copy {{.*}}place = #spyre.place<lx,
// CHECK-NEXT: spyre.insert [[COPY]] into {{.*}} at [0, 0] {spyre.bundle = 0 : i64,
// CHECK: spyre.pointwise tanh([[COPY]])
// BAKED-LABEL: func @parts
// BAKED: spyre.pointwise abs({{.*}}place = #spyre.place<pool, 0,
// BAKED: spyre.pointwise log({{.*}}place = #spyre.place<pool, 8192,
// BAKED: spyre.empty {place = #spyre.place<pool, [[BUFFER:16384]], "the LX planner is off">}
// BAKED: spyre.insert {{.*}} at [0, 0] {spyre.bundle = 0 : i64,
// BAKED: spyre.pointwise tanh({{.*}}place = #spyre.place<pool, 0,
// BAKED: spyre.insert {{.*}} at [64, 0] {spyre.bundle = 0 : i64,
// BAKED: spyre.pointwise sqrt({{.*}}place = #spyre.place<hbm,
func.func @parts(%x: tensor<64x64xf16>) -> tensor<128x64xf16> {
  %abs = spyre.pointwise abs(%x) : tensor<64x64xf16>
  %log = spyre.pointwise log(%abs) : tensor<64x64xf16>
  %buffer = spyre.empty : tensor<128x64xf16>
  %left = spyre.insert %log into %buffer at [0, 0] : tensor<64x64xf16> into tensor<128x64xf16>
  %tanh = spyre.pointwise tanh(%log) : tensor<64x64xf16>
  %whole = spyre.insert %tanh into %left at [64, 0] : tensor<64x64xf16> into tensor<128x64xf16>
  %sqrt = spyre.pointwise sqrt(%whole) : tensor<128x64xf16>
  return %sqrt : tensor<128x64xf16>
}
