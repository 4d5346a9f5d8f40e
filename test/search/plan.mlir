// A chosen plan is written; applying it needs no search and reproduces the files.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/main.mlir -o %t/first --lx-bytes 65536 --plan %t/plan.json | FileCheck %s --check-prefix=WRITES
// RUN: spyre-compile %t/parts/main.mlir -o %t/second --lx-bytes 65536 --plan %t/plan.json | FileCheck %s --check-prefix=FOLLOWS
// RUN: diff -r %t/first %t/second
// WRITES: tiling: {{ops [0-9]+-[0-9]+}} in {{[0-9]+}} tiles of axis0
// WRITES: plan written to {{.*}}plan.json
// FOLLOWS-NOT: tiling:
// FOLLOWS: loop of
// FOLLOWS: followed the plan '{{.*}}plan.json'

// A plan is written to the requested file, whether it was chosen or applied.
// RUN: spyre-compile %t/parts/main.mlir -o %t/fourth --lx-bytes 65536 --write-plan %t/asked.json
// RUN: diff %t/plan.json %t/asked.json && diff -r %t/first %t/fourth
// RUN: spyre-compile %t/parts/main.mlir -o %t/fifth --lx-bytes 65536 --plan %t/plan.json --write-plan %t/again.json
// RUN: diff %t/plan.json %t/again.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --write-plan %t/again.json --lx-planner greedy 2>&1 | FileCheck %s --check-prefix=NOTES
// NOTES: --write-plan requires the tile search; remove '--tile-search none' and '--lx-planner'

// Comparison of two plans.
// RUN: spyre-compile %t/parts/main.mlir -o %t/third --lx-bytes 65536 --plan %t/none.json --tile-steps 0
// RUN: spyre-compile --compare %t/plan.json %t/none.json | FileCheck %s --check-prefix=COMPARES
// COMPARES: main: {{[0-9.]+}} us and {{[0-9]+}} B of HBM; {{[0-9.]+}} us and {{[0-9]+}} B
// COMPARES: loops of the first alone: {{[0-9]+}} tiles around ops
// COMPARES: main.mlir:4:{{[0-9]+}} exp: {{.*}}, tiles [{{[0-9]+}}], result in lx; {{.*}}, tiles [], result in

// A plan belongs to one program on one machine, and states the tiled dimensions.
// RUN: not spyre-compile %t/parts/other.mlir -o %t/refused --lx-bytes 65536 --plan %t/plan.json 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: expected a plan for this program (key '{{[0-9a-f]+}}'), found '{{.*}}' for another program, or for other layouts, names or kernels (key '{{[0-9a-f]+}}', written without options that kernels depend on); give the same options, or remove the file, and the search writes a new one
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --plan %t/plan.json 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: expected a plan for this machine ('lx_bytes' is 1625344), found '{{.*}}' ('lx_bytes' is 65536)
// RUN: sed 's/"count": .*,/"count": 3,/' %t/plan.json > %t/edited.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --lx-bytes 65536 --plan %t/edited.json 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: main.mlir:{{.*}}: error{{.*}}tile count 3 does not divide dimension 'axis0' of size 4096; nearest divisors are 2 and 4
// RUN: sed 's/"function": "exp",/"function": "exp", "cores": 3,/' %t/plan.json > %t/edited.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --lx-bytes 65536 --plan %t/edited.json 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: expected a plan, found '{{.*}}': unknown field `cores`
// RUN: sed 's/"levels": \[/"copies": [{"reads": [[0, 0]], "cut_dims": []}], "levels": [/' %t/plan.json > %t/edited.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --lx-bytes 65536 --plan %t/edited.json 2>&1 | FileCheck %s --check-prefix=COPIES
// COPIES: a copy of the plan has 0 tiled dimensions, but the nest has 1 loops
// RUN: sed 's/"levels": \[/"copies": [{"reads": [[0, 7]], "cut_dims": [null]}], "levels": [/' %t/plan.json > %t/edited.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --lx-bytes 65536 --plan %t/edited.json 2>&1 | FileCheck %s --check-prefix=OPERAND
// OPERAND: op 0 has 1 operands, and no operand 7
// RUN: sed 's/"levels": \[/"copies": [{"reads": [[0, 0]], "cut_dims": [2]}], "levels": [/' %t/plan.json > %t/edited.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --lx-bytes 65536 --plan %t/edited.json 2>&1 | FileCheck %s --check-prefix=DIMENSION
// DIMENSION: operand 0 of op 0 has 2 dimensions, and no dimension 2
// RUN: sed 's/"levels": \[/"copies": [{"reads": [[9, 0]], "cut_dims": [0]}], "levels": [/' %t/plan.json > %t/edited.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --lx-bytes 65536 --plan %t/edited.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected an op of the program, which has 4, found op 9
// RUN: sed 's/"version": .*,/"version": "0.0.1",/' %t/plan.json > %t/edited.json
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --lx-bytes 65536 --plan %t/edited.json 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: expected a plan of version '{{.*}}', found '{{.*}}' of version '0.0.1'
// RUN: not spyre-compile %t/parts/main.mlir -o %t/refused --plan %t/plan.json --lx-planner greedy 2>&1 | FileCheck %s --check-prefix=PLANNER
// PLANNER: --plan requires the tile search
// RUN: not spyre-compile --compare %t/plan.json %t/missing.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: there is no plan '{{.*}}missing.json'
// RUN: not ls %t/refused

//--- main.mlir
func.func @main(%x: tensor<4096x512xf16>) -> tensor<4096x512xf16> {
  %a = spyre.pointwise neg(%x) : tensor<4096x512xf16>
  %m = spyre.reduce max(%a) dims [1] : tensor<4096x512xf16> -> tensor<4096x1xf16>
  %e = spyre.pointwise exp(%a) : tensor<4096x512xf16>
  %y = spyre.pointwise mul(%e, %m) : (tensor<4096x512xf16>, tensor<4096x1xf16>) -> tensor<4096x512xf16>
  return %y : tensor<4096x512xf16>
}

//--- other.mlir
func.func @main(%x: tensor<4096x512xf16>) -> tensor<4096x512xf16> {
  %a = spyre.pointwise neg(%x) : tensor<4096x512xf16>
  %e = spyre.pointwise exp(%a) : tensor<4096x512xf16>
  return %e : tensor<4096x512xf16>
}
