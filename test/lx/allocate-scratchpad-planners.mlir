// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad=planner=none %s | FileCheck %s --check-prefix=NONE
// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad=planner=greedy %s | FileCheck %s --check-prefix=GREEDY
// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad=planner=first-fit %s | FileCheck %s --check-prefix=FIRST-FIT
// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad=planner=best-fit %s | FileCheck %s --check-prefix=BEST-FIT
// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad %s | FileCheck %s --check-prefix=EXACT

// LX has room for three times the small tensor; the large one is two of them. Greedy puts the second small tensor in the
// middle, where it splits the room that the large one needs when the first is dead. The others see the large one coming.
// NONE-LABEL: func.func @fragmentation(
// NONE:         spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "the LX planner is off">,
// NONE-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<hbm, "the LX planner is off">,
// NONE-NEXT:    spyre.pointwise add({{.+}}) {place = #spyre.place<hbm, "the LX planner is off">,

// GREEDY-LABEL: func.func @fragmentation(
// GREEDY:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// GREEDY-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 128>,
// GREEDY-NEXT:    spyre.pointwise add(
// GREEDY-NEXT:    spyre.pointwise mul({{.+}}) {place = #spyre.place<hbm, "no gap of 256 bytes: 128 of 384 are taken during operation 3">,

// FIRST-FIT-LABEL: func.func @fragmentation(
// FIRST-FIT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// FIRST-FIT-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 256>,
// FIRST-FIT-NEXT:    spyre.pointwise add(
// FIRST-FIT-NEXT:    spyre.pointwise mul({{.+}}) {place = #spyre.place<lx, 0>,

// BEST-FIT-LABEL: func.func @fragmentation(
// BEST-FIT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// BEST-FIT-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 256>,
// BEST-FIT-NEXT:    spyre.pointwise add(
// BEST-FIT-NEXT:    spyre.pointwise mul({{.+}}) {place = #spyre.place<lx, 0>,

// EXACT-LABEL: func.func @fragmentation(
// EXACT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// EXACT-NEXT:    spyre.pointwise neg({{.+}}) {place = #spyre.place<lx, 256>,
// EXACT-NEXT:    spyre.pointwise add(
// EXACT-NEXT:    spyre.pointwise mul({{.+}}) {place = #spyre.place<lx, 0>,
module attributes {spyre.target = {lx_bytes = 384 : i64}} {
  func.func @fragmentation(%x: tensor<32x1x64xf16>, %wide: tensor<32x2x64xf16>) -> (tensor<32x1x64xf16>, tensor<32x2x64xf16>) {
    %first = spyre.pointwise exp(%x) : tensor<32x1x64xf16>
    %second = spyre.pointwise neg(%first) : tensor<32x1x64xf16>
    %sum = spyre.pointwise add(%first, %second) : tensor<32x1x64xf16>
    %large = spyre.pointwise mul(%second, %wide) : (tensor<32x1x64xf16>, tensor<32x2x64xf16>) -> tensor<32x2x64xf16>
    %large_sum = spyre.pointwise add(%large, %second) : (tensor<32x2x64xf16>, tensor<32x1x64xf16>) -> tensor<32x2x64xf16>
    return %sum, %large_sum : tensor<32x1x64xf16>, tensor<32x2x64xf16>
  }
}

// -----

// While the last value is live, 512 bytes are free below the right one and 256 above the left one: first-fit takes the
// lower gap, best-fit the one that it fills better.
// GREEDY-LABEL: func.func @two_gaps(
// GREEDY:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// GREEDY-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 384>,
// GREEDY-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 896>,
// GREEDY:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 1280>,

// FIRST-FIT-LABEL: func.func @two_gaps(
// FIRST-FIT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 896>,
// FIRST-FIT-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// FIRST-FIT-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 512>,
// FIRST-FIT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,

// BEST-FIT-LABEL: func.func @two_gaps(
// BEST-FIT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 896>,
// BEST-FIT-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// BEST-FIT-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 512>,
// BEST-FIT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 1280>,

// There is room for the last argument as well, which three ops read.
// EXACT-LABEL: func.func @two_gaps(
// EXACT:         spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 896>,
// EXACT-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 0>,
// EXACT-NEXT:    spyre.pointwise exp({{.+}}) {place = #spyre.place<lx, 512>,
// EXACT:         [[COPY:%.+]] = spyre.copy {{%.+}} {place = #spyre.place<lx, 0>,
// EXACT-NEXT:    spyre.pointwise exp([[COPY]]) {place = #spyre.place<lx, 128>,
// EXACT:         spyre.pointwise abs([[COPY]])
// EXACT-NEXT:    spyre.pointwise sqrt([[COPY]])
module attributes {spyre.target = {lx_bytes = 1536 : i64}} {
  func.func @two_gaps(%a: tensor<32x3x64xf16>, %b: tensor<32x4x64xf16>, %c: tensor<32x3x64xf16>, %d: tensor<32x1x64xf16>)
      -> (tensor<32x4x64xf16>, tensor<32x3x64xf16>, tensor<32x3x64xf16>, tensor<32x1x64xf16>, tensor<32x1x64xf16>, tensor<32x1x64xf16>) {
    %left = spyre.pointwise exp(%a) : tensor<32x3x64xf16>
    %middle = spyre.pointwise exp(%b) : tensor<32x4x64xf16>
    %right = spyre.pointwise exp(%c) : tensor<32x3x64xf16>
    %after_middle = spyre.pointwise neg(%middle) : tensor<32x4x64xf16>
    %last = spyre.pointwise exp(%d) : tensor<32x1x64xf16>
    %after_left = spyre.pointwise neg(%left) : tensor<32x3x64xf16>
    %after_right = spyre.pointwise neg(%right) : tensor<32x3x64xf16>
    %other = spyre.pointwise abs(%d) : tensor<32x1x64xf16>
    %another = spyre.pointwise sqrt(%d) : tensor<32x1x64xf16>
    %after_last = spyre.pointwise neg(%last) : tensor<32x1x64xf16>
    return %after_middle, %after_left, %after_right, %after_last, %other, %another
      : tensor<32x4x64xf16>, tensor<32x3x64xf16>, tensor<32x3x64xf16>, tensor<32x1x64xf16>, tensor<32x1x64xf16>, tensor<32x1x64xf16>
  }
}
