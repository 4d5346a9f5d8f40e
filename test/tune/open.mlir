// A kernel whose numbers have no knobs. With --open they are searched all the same: of tiles, the order of the loops, of slices.
// RUN: spyre-tune %s --open tiles,order,splits --report %t.json -o %t.out | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.json

// The line does the same, and the tuning compiler has the same space.
// RUN: spyre-compile %s -o %t.line --knobs product.tiles_m=1,product.tiles_n=1,product.order=1,product.splits_m=32 --kernels fuse
// RUN: diff -r %t.out %t.line
// RUN: spyre-compile %s --validate=auto -o %t.tuned --tune --open tiles,order,splits | FileCheck %s --check-prefix=TUNED

// Without --open they are what the kernel says, and so is what the user says.
// RUN: spyre-tune %s | FileCheck %s --check-prefix=CLOSED
// RUN: spyre-tune %s --open tiles --knobs product.tiles_m=2 | FileCheck %s --check-prefix=GIVEN

// Walks find the same, with the same seed and budget the same bytes, by any number of threads.
// RUN: spyre-tune %s --open tiles,order,splits --budget 60 --seed 5 --report %t.walk.csv --threads 1 > %t.walk
// RUN: spyre-tune %s --open tiles,order,splits --budget 60 --seed 5 --report %t.walk2.csv --threads 3 > %t.walk2
// RUN: diff %t.walk %t.walk2
// RUN: diff %t.walk.csv %t.walk2.csv
// RUN: FileCheck %s --check-prefix=CSV < %t.walk.csv
// RUN: FileCheck %s --check-prefix=WALK < %t.walk

// RUN: spyre-compile %s --compile-to import --knobs product.order=2,product.tiles_m=8,product.splits_m=2 | FileCheck %s --check-prefix=SET
// RUN: not spyre-compile %s -o %t.no --knobs product.order=3 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not spyre-compile %s -o %t.no --knobs product.tiles_k=2 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not spyre-compile %s -o %t.no --knobs product.tiles_m=3 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not spyre-compile %s -o %t.no --open tiles 2>&1 | FileCheck %s --check-prefix=NO-TUNE
// RUN: not spyre-tune %s --open rows 2>&1 | FileCheck %s --check-prefix=KIND

// CHECK: main: tunable: product.tiles_m, product.tiles_n, product.order, product.splits_m, kernels; 1764 candidates, {{[0-9]+}} compiled, complete search
// CHECK-NEXT: refused: 234 by order, {{[0-9]+}} by splits, {{[0-9]+}} by sticks
// CHECK: validated: the files and the imported program agree
// CHECK: --knobs product.tiles_m=1,product.tiles_n=1,product.order=1,product.splits_m=32 --kernels fuse
// REPORT: "name": "product.order"
// CSV: product.tiles_m,product.tiles_n,product.order,product.splits_m,kernels
// TUNED: main: tunable: product.tiles_m, product.tiles_n, product.order, product.splits_m, kernels; 1764 candidates, 64 compiled
// TUNED: validated: the files and the imported program agree
// CLOSED: main: tunable: kernels; 3 candidates
// GIVEN: main: tunable: product.tiles_n, kernels;
// WALK: --knobs product.tiles_m=1,product.tiles_n=1,product.order=1,product.splits_m=32 --kernels fuse
// SET: spyre.matmul{{.*}} {hints = [#spyre.tile_hint<0, n = 2>, #spyre.tile_hint<1, m = 8>], work_div = [#spyre.work_hint<2, m = 2>]}
// ORDER: error{{.*}}--knobs: expected one of the 2 orders of loops, found 3 for 'product.order'
// NAME: error{{.*}}--knobs: expected a knob of the kernel, found 'tiles_k'; choose one of 'tiles_m', 'tiles_n', 'order', 'splits_m'
// UNEVEN: error{{.*}}: {{.*}}tile count 3 does not divide dimension 'm' of size 256; nearest divisors are 2 and 4
// NO-TUNE: the following required arguments were not provided
// KIND: invalid value 'rows' for '--open <KIND>'

func.func private @product(%a: tensor<256x128xf16> {spyre.dims = ["m", "k"]}, %b: tensor<128x512xf16> {spyre.dims = ["k", "n"]})
    -> tensor<256x512xf16> attributes {spyre.kernel} {
  %zero = arith.constant 0.0 : f16
  %c = spyre.hint tiles(m = 4, n = 2) work_div(m = 8) {
    %empty = tensor.empty() : tensor<256x512xf16>
    %begin = linalg.fill ins(%zero : f16) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
    %product = linalg.matmul ins(%a, %b : tensor<256x128xf16>, tensor<128x512xf16>) outs(%begin : tensor<256x512xf16>) -> tensor<256x512xf16>
    spyre.yield %product : tensor<256x512xf16>
  }
  return %c : tensor<256x512xf16>
}

func.func @main(%a: tensor<256x128xf16>, %b: tensor<128x512xf16>, %bias: tensor<256x512xf16>) -> tensor<256x512xf16> {
  %empty = tensor.empty() : tensor<256x512xf16>
  %c = call @product(%a, %b) : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16>
  %sum = linalg.add ins(%c, %bias : tensor<256x512xf16>, tensor<256x512xf16>) outs(%empty : tensor<256x512xf16>) -> tensor<256x512xf16>
  return %sum : tensor<256x512xf16>
}
