// A compilation may search first; it writes what spyre-tune writes.
// RUN: spyre-compile %s --validate=auto --tune -o %t.compiled | FileCheck %s
// RUN: spyre-tune %s -o %t.tuned
// RUN: diff -r %t.compiled %t.tuned
// RUN: spyre-compile %s --tune=full --knobs twice.T=2 -o %t.full | FileCheck %s --check-prefix=FULL
// RUN: spyre-compile %s --tune --compile-to import | FileCheck %s --check-prefix=IMPORT
// RUN: not spyre-compile %s --tune=long -o %t.out 2>&1 | FileCheck %s --check-prefix=EFFORT
// RUN: not spyre-compile %s --tune --plan %t.plan -o %t.out 2>&1 | FileCheck %s --check-prefix=PLAN

// Walks begin where the same ops were good in other sizes, unless the work is shared.
// RUN: rm -rf %t.cache
// RUN: sed s/128x/256x/g %s > %t.other.mlir
// RUN: spyre-tune %t.other.mlir --cache %t.cache
// RUN: spyre-tune %s --cache %t.cache --budget 2 --report %t.json
// RUN: FileCheck %s --check-prefix=STARTS < %t.json
// RUN: spyre-tune %s --cache %t.cache --budget 2 --shard 1/2 --report %t.part.json
// RUN: FileCheck %s --check-prefix=PART < %t.part.json

// CHECK: main: tunable: twice.T, kernels; 21 candidates, 21 compiled, complete search
// CHECK-NEXT: untuned {{.*}}, tuned {{.*}}, bound
// CHECK-NEXT: --knobs twice.T=1 --kernels fuse
// CHECK-NEXT: main: 2 ops in 1 launch
// CHECK: validated: the files and the imported program agree
// FULL: main: tunable: kernels; 3 candidates
// IMPORT-NOT: tunable:
// IMPORT: func.func @main
// EFFORT: invalid value 'long' for '--tune[=<EFFORT>]'
// PLAN: cannot be used with

// STARTS: "starts": [
// STARTS-NEXT: [
// STARTS-NEXT: "1",
// STARTS-NEXT: "fuse"
// PART-NOT: "starts"

func.func private @twice(%x: tensor<128x256xf16> {spyre.dims = ["rows", "columns"]}) -> tensor<128x256xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 64>]} {
  %z = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<128x256xf16>
    %root = linalg.exp ins(%x : tensor<128x256xf16>) outs(%empty : tensor<128x256xf16>) -> tensor<128x256xf16>
    %again = linalg.tanh ins(%root : tensor<128x256xf16>) outs(%empty : tensor<128x256xf16>) -> tensor<128x256xf16>
    spyre.yield %again : tensor<128x256xf16>
  }
  return %z : tensor<128x256xf16>
}

func.func @main(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %y = call @twice(%x) : (tensor<128x256xf16>) -> tensor<128x256xf16>
  return %y : tensor<128x256xf16>
}
