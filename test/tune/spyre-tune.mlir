// Knobs and fusions of a kernel are searched together: all candidates are evaluated, and the best one is validated.
// RUN: rm -rf %t.cache %t.out
// RUN: spyre-tune %s --cache %t.cache -o %t.out --report %t.json | FileCheck %s --check-prefixes=FOUND,MISS,VALIDATED
// RUN: FileCheck %s --check-prefix=REPORT < %t.json

// The printed command line gives the same files.
// RUN: spyre-compile %s -o %t.line --knobs scale.R=1,scale.C=1 --kernels fuse | FileCheck %s --check-prefix=LINE
// RUN: diff -r %t.out %t.line

// The second run finds the result in the cache, and compiles nothing, or only the best candidate.
// RUN: spyre-tune %s --cache %t.cache --report %t.csv | FileCheck %s --check-prefixes=FOUND,HIT
// RUN: spyre-tune %s --database %t.cache -o %t.again | FileCheck %s --check-prefixes=FOUND,HIT
// RUN: diff -r %t.out %t.again
// RUN: FileCheck %s --check-prefix=CSV < %t.csv

// A knob that the user sets is not searched, so the cache has no entry for this search, and the message says why.
// RUN: spyre-tune %s --cache %t.cache --knobs scale.R=4 --kernels separate | FileCheck %s --check-prefix=GIVEN

// The result does not depend on the number of threads.
// RUN: spyre-tune %s --threads 1 --report %t.1.csv > %t.1
// RUN: spyre-tune %s --threads 2 --report %t.2.csv > %t.2
// RUN: spyre-tune %s --threads 8 --report %t.8.csv > %t.8
// RUN: diff %t.1 %t.2
// RUN: diff %t.1 %t.8
// RUN: diff %t.1.csv %t.2.csv
// RUN: diff %t.1.csv %t.8.csv
// RUN: FileCheck %s --check-prefix=ALL < %t.1.csv

// Merged shards have the result of the complete search.
// RUN: rm -rf %t.a %t.b %t.c %t.whole %t.merged
// RUN: spyre-tune %s --cache %t.whole > %t.unshared
// RUN: spyre-tune %s --cache %t.a --shard 1/3 | FileCheck %s --check-prefix=PART
// RUN: spyre-tune %s --cache %t.b --shard 2/3
// RUN: not spyre-tune --merge %t.a %t.b --cache %t.merged 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: spyre-tune %s --cache %t.c --shard 3/3
// RUN: spyre-tune --merge %t.c %t.a %t.b --cache %t.merged | FileCheck %s --check-prefix=MERGED
// RUN: diff %t.whole/tuned.jsonl %t.merged/tuned.jsonl

// Minimum bytes are another search. It stops near the lower bound.
// RUN: spyre-tune %s --cache %t.cache --objective bytes --within 400% | FileCheck %s --check-prefix=BYTES
// RUN: spyre-tune %s --budget 1 -v 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: spyre-tune %s --write-plan %t.plan --budget 1
// RUN: FileCheck %s --check-prefix=PLAN < %t.plan

// FOUND: main: tunable: scale.R, scale.C, kernels; 48 candidates, {{[0-9]+}} compiled, complete search
// MISS-NEXT: not in the cache: there are no entries
// HIT-NEXT: from the cache, {{.*}}tuned.jsonl:1
// FOUND-NEXT: refused: 6 by condition, 9 by divisibility, 6 by sticks
// FOUND-NEXT: us HBM bytes above bound choices
// FOUND-NEXT: scale.R=1 scale.C=1 kernels=fuse
// FOUND: untuned {{.*}} us and {{.*}} bytes, tuned {{.*}} us and {{.*}} bytes, bound {{.*}} us and {{.*}} bytes
// HIT-NOT: validated
// VALIDATED-NEXT: the simulator counts {{[0-9]+, [0-9]+, [0-9]+}} bytes of HBM traffic for the best 3
// VALIDATED-NEXT: validated: the files and the imported program agree
// FOUND: --knobs scale.R=1,scale.C=1 --kernels fuse
// LINE: kernel 'scale' with R = 1, C = 1

// REPORT: "program": "main"
// REPORT: "name": "scale.R"
// REPORT: "untuned": "4"
// REPORT: "stop": "exhausted"
// REPORT: "line": "--knobs scale.R=1,scale.C=1 --kernels fuse"
// REPORT-NEXT: "is_from_cache": false
// REPORT-NEXT: "validation": "validated

// CSV: scale.R,scale.C,kernels,us,hbm_bytes,reason,message
// CSV-NEXT: 1,1,fuse,{{[0-9.]+}},{{[0-9]+}},,
// ALL: 1,8,separate,,,sticks,"tiles of {{.*}} must be whole sticks (64 elements), found 32 elements

// GIVEN: main: tunable: scale.C; 4 candidates
// GIVEN-NEXT: not in the cache: the nearest entry, {{.*}}tuned.jsonl:1, differs: {{.*}}'space' is 'scale.R in [1, 2, 3, 4] from 4; scale.C in [1, 2, 4, 8] from 2; kernels in [separate, fuse, form] from fuse' in the entry and 'scale.C in [1, 2, 4, 8] from 2' in this search

// PART: main: tunable: scale.R, scale.C, kernels; 48 candidates
// PART-NOT: validated
// MISSING: warning{{.*}}shards 3/3 of the search for program '{{[0-9a-f]+}}' are missing; run them, and merge again
// MISSING-NEXT: spyre-tune: error{{.*}}expected a complete search to merge, found none; run the missing shards
// MERGED: 1 searches of 3 entries are in

// BYTES: stopped within the requested distance of the bound
// BYTES-NEXT: not in the cache: {{.*}}'objective' is 'time' in the entry and 'bytes' in this search
// BUDGET: 1 of at most 1 compiled: best
// BUDGET: 48 candidates, 1 compiled, budget used up
// PLAN: "program": "main"

func.func private @scale(%x: tensor<256x256xf16> {spyre.dims = ["rows", "columns"]}, %y: tensor<256x256xf16>) -> tensor<256x256xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<R = 4 in [1, 2, 3, 4]>, #spyre.knob<C = 2 in pow2 1 to 8, where "R * C <= 16">]} {
  %z = spyre.hint tiles(rows = R, columns = C) {
    %empty = tensor.empty() : tensor<256x256xf16>
    %product = linalg.mul ins(%x, %y : tensor<256x256xf16>, tensor<256x256xf16>) outs(%empty : tensor<256x256xf16>) -> tensor<256x256xf16>
    %root = linalg.exp ins(%product : tensor<256x256xf16>) outs(%empty : tensor<256x256xf16>) -> tensor<256x256xf16>
    spyre.yield %root : tensor<256x256xf16>
  }
  return %z : tensor<256x256xf16>
}

func.func @main(%x: tensor<256x256xf16>, %y: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %empty = tensor.empty() : tensor<256x256xf16>
  %scaled = call @scale(%x, %y) : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
  %result = linalg.add ins(%scaled, %x : tensor<256x256xf16>, tensor<256x256xf16>) outs(%empty : tensor<256x256xf16>) -> tensor<256x256xf16>
  return %result : tensor<256x256xf16>
}
