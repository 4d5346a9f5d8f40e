// RUN: spyre-compile %s --lx-bytes 32768 --compile-to hint | FileCheck %s --check-prefix=AUTO
// RUN: spyre-compile %s --lx-bytes 32768 --tile-search auto --compile-to hint | FileCheck %s --check-prefix=AUTO
// AUTO: hints = [#spyre.tile_hint<0, axis0 =

// RUN: spyre-compile %s --lx-bytes 32768 --tile-search none --compile-to hint | FileCheck %s --check-prefix=NONE
// RUN: spyre-compile %s --lx-bytes 32768 --lx-planner first-fit --compile-to hint | FileCheck %s --check-prefix=NONE
// RUN: spyre-compile %s --lx-bytes 32768 --addresses baked --compile-to hint | FileCheck %s --check-prefix=NONE
// NONE-NOT: hints =

// RUN: spyre-compile %s --lx-bytes 32768 --addresses baked --loops unroll --compile-to hint | FileCheck %s --check-prefix=AUTO

// RUN: not spyre-compile %s --tile-search all -o %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error{{.*}}invalid value 'all' for '--tile-search <MODE>'
// UNKNOWN-NEXT: [possible values: auto, none]

// RUN: not spyre-compile %s --tile-search auto --lx-planner greedy -o %t 2>&1 | FileCheck %s --check-prefix=PLANNER
// PLANNER: error{{.*}}--tile-search=auto requires joint planning; remove '--lx-planner', or give '--joint'

// RUN: not spyre-compile %s --tile-search auto --addresses baked -o %t 2>&1 | FileCheck %s --check-prefix=BAKED
// BAKED: error{{.*}}--tile-search=auto requires symbolic addresses; remove '--addresses baked', or give '--loops unroll'

// RUN: rm -rf %t
// RUN: spyre-compile %s --lx-bytes 32768 --validate -o %t | FileCheck %s --check-prefix=SUMMARY
// SUMMARY: tiling: ops 0-4 in {{[0-9]+}} tiles of axis0; {{.*}} us (untiled: {{.*}} us, estimated bound: {{.*}} us); {{[0-9]+}} candidates evaluated
// SUMMARY: loop of {{[0-9]+}} over 'axis0': 6 ops

// A core cannot address its part of the whole, only that of tiles.
// RUN: echo '{"core_span_bytes": 32768}' > %t.json
// RUN: not spyre-compile %s --target %t.json --tile-search none -o %t/span 2>&1 | FileCheck %s --check-prefix=SPAN
// SPAN: error{{.*}}'spyre.reduce' op operand 0 spans 65536 bytes on one core; the hardware limit is 32768 (device size [8, 2048, 64]; slices: iteration dimension 1: 8 of at most 8, iteration dimension 0: 4 of at most 2048)
// RUN: spyre-compile %s --target %t.json --validate -o %t/span | FileCheck %s --check-prefix=NEEDED
// NEEDED: tiling: ops 0-4 in {{[0-9]+}} tiles of axis0; {{.*}} us (untiled: not possible, estimated
// NEEDED: validated:

func.func @softmax(%x: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<2048x512xf16> -> tensor<2048x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<2048x512xf16>, tensor<2048x1xf16>) -> tensor<2048x512xf16>
  %exp = spyre.pointwise exp(%shifted) : tensor<2048x512xf16>
  %sum = spyre.reduce sum(%exp) dims [1] : tensor<2048x512xf16> -> tensor<2048x1xf16>
  %y = spyre.pointwise realdiv(%exp, %sum) : (tensor<2048x512xf16>, tensor<2048x1xf16>) -> tensor<2048x512xf16>
  return %y : tensor<2048x512xf16>
}
