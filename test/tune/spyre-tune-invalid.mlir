// Errors for programs that cannot be tuned, and for invalid options.
// RUN: split-file %s %t

// RUN: not spyre-tune %t/nothing.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not spyre-tune %t/two.mlir --target %t/pool.json --lx-bytes 0 2>&1 | FileCheck %s --check-prefix=POOL
// RUN: not spyre-tune %t/broken.mlir 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: spyre-compile %t/fine.mlir --compile-to layout -o %t/layout.mlir
// RUN: not spyre-tune %t/layout.mlir 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not spyre-tune %t/nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not spyre-tune %t/fine.mlir --report %t/report.txt 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not spyre-tune %t/fine.mlir --report %t/nowhere/report.json 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not spyre-tune %t/fine.mlir --budget 0 2>&1 | FileCheck %s --check-prefix=NO-BUDGET
// RUN: not spyre-tune %t/fine.mlir --within 2 2>&1 | FileCheck %s --check-prefix=WITHIN
// RUN: not spyre-tune %t/fine.mlir --within=-2% 2>&1 | FileCheck %s --check-prefix=WITHIN
// RUN: not spyre-tune %t/fine.mlir --cache %t/cache --shard 3/2 2>&1 | FileCheck %s --check-prefix=SHARD
// RUN: not spyre-tune %t/fine.mlir --shard 1/2 2>&1 | FileCheck %s --check-prefix=NO-CACHE
// RUN: not spyre-tune %t/fine.mlir --cache %t/cache --shard 1/2 -o %t/out 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not spyre-tune %t/fine.mlir --database %t/nowhere 2>&1 | FileCheck %s --check-prefix=DATABASE
// RUN: not spyre-tune %t/fine.mlir --cache %t/fine.mlir 2>&1 | FileCheck %s --check-prefix=NO-FOLDER
// RUN: not spyre-tune --merge %t/nowhere --cache %t/cache 2>&1 | FileCheck %s --check-prefix=DATABASE
// RUN: not spyre-tune --cache %t/cache 2>&1 | FileCheck %s --check-prefix=NO-INPUT
// RUN: not spyre-tune %t/fine.mlir --threads 0 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not spyre-tune %t/fine.mlir --knobs other.T=2 2>&1 | FileCheck %s --check-prefix=KNOB
// RUN: not spyre-tune %t/fine.mlir --cores 0 2>&1 | FileCheck %s --check-prefix=CORES

// Damaged lines of a cache are skipped, and so are lines that are no result.
// RUN: rm -rf %t/hostile
// RUN: spyre-tune %t/fine.mlir --cache %t/hostile > %t/first
// RUN: sed -e 's/"choices":."fuse"./"choices":["melt"]/g' %t/hostile/tuned.jsonl > %t/hostile/other.jsonl
// RUN: cp %t/damaged.jsonl %t/hostile/tuned.jsonl
// RUN: spyre-tune %t/fine.mlir --cache %t/hostile 2>&1 | FileCheck %s --check-prefix=HOSTILE

// NOTHING: spyre-tune: error{{.*}}expected a valid candidate, found none; rejected: 3 by sticks (the first: {{.*}}must be whole sticks{{.*}}); change the program or its ranges
// POOL: rejected: 3 by pool (the first: {{.*}}to fit in the pool of 16384 bytes, found no space for 262144 bytes; use smaller tensors)
// BROKEN: broken.mlir:4:{{[0-9]+}}: error{{.*}}'arith.bitcast' op has no device function yet
// PHASE: spyre-tune: error{{.*}}expected a module before the import, found one after phase 'layout'; give the source program
// NOWHERE: spyre-tune: error{{.*}}cannot read '{{.*}}nowhere.mlir'
// REPORT: expected a name that ends in .json or .csv
// PLACE: spyre-tune: error{{.*}}--report: cannot write
// NO-BUDGET: 0 is not in 1..
// WITHIN: expected a number that is not negative and '%', such as 2%
// SHARD: invalid value '3/2' for '--shard <I/N>': expected NUMBER/COUNT with 1 <= NUMBER <= COUNT <= 65536, found '3/2'
// NO-CACHE: --cache <DIR>
// PART: spyre-tune: error{{.*}}-o requires a complete search, found --shard; combine the shards with --merge, then tune with --cache
// DATABASE: spyre-tune: error{{.*}}cannot read the cache '{{.*}}/nowhere': No such file or directory (os error 2); name a directory of entries
// NO-FOLDER: spyre-tune: error{{.*}}cannot read the cache '{{.*}}fine.mlir'
// NO-INPUT: required arguments were not provided
// THREADS: number would be zero
// KNOB: error{{.*}}--knobs: expected a kernel of the program, found 'other'; it has no kernels
// CORES: spyre-tune: error{{.*}}--cores: expected 1 to 32 cores, found 0; remove the option to use all

// HOSTILE: warning{{.*}}tuned.jsonl:1: entry is skipped
// HOSTILE-NEXT: warning{{.*}}tuned.jsonl:2: entry is skipped
// HOSTILE-NEXT: warning{{.*}}: {{.*}}other.jsonl:1: entry is skipped: it has choices that the program does not have
// HOSTILE-NEXT: main: tunable: kernels; 3 candidates, 3 compiled, complete search
// HOSTILE-NEXT: not in the cache: there are no entries

//--- fine.mlir
func.func @main(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %empty = tensor.empty() : tensor<64x128xf16>
  %y = linalg.exp ins(%x : tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

//--- nothing.mlir
func.func private @scale(%x: tensor<64x192xf16> {spyre.dims = ["rows", "columns"]}) -> tensor<64x192xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<C = 2 in [2]>]} {
  %z = spyre.hint tiles(columns = C) {
    %empty = tensor.empty() : tensor<64x192xf16>
    %root = linalg.exp ins(%x : tensor<64x192xf16>) outs(%empty : tensor<64x192xf16>) -> tensor<64x192xf16>
    spyre.yield %root : tensor<64x192xf16>
  }
  return %z : tensor<64x192xf16>
}
func.func @main(%x: tensor<64x192xf16>) -> tensor<64x192xf16> {
  %y = call @scale(%x) : (tensor<64x192xf16>) -> tensor<64x192xf16>
  return %y : tensor<64x192xf16>
}

//--- two.mlir
func.func @main(%x: tensor<1024x128xf16>) -> tensor<1024x128xf16> {
  %empty = tensor.empty() : tensor<1024x128xf16>
  %y = linalg.exp ins(%x : tensor<1024x128xf16>) outs(%empty : tensor<1024x128xf16>) -> tensor<1024x128xf16>
  %z = linalg.tanh ins(%y : tensor<1024x128xf16>) outs(%empty : tensor<1024x128xf16>) -> tensor<1024x128xf16>
  return %z : tensor<1024x128xf16>
}

//--- pool.json
{"pool_bytes": 16384}

//--- broken.mlir
func.func @main(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<64x128xf16>) {
  ^bb0(%in: f16):
    %other = arith.bitcast %in : f16 to i16
    %back = arith.bitcast %other : i16 to f16
    linalg.yield %back : f16
  } -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

//--- damaged.jsonl
{"key":
[1,2,3]
