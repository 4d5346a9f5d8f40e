// The files compute the results of the program, with tiles, nested loops, and carried sums and maxima.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/out --report %t/report.json | FileCheck %s
// RUN: ls %t/out | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// RUN: spyre-compile %s --validate --loops unroll --cores 1 --lx-planner none -o %t/unrolled | FileCheck %s
// RUN: spyre-compile %s --validate --compile-to tile | FileCheck %s --check-prefix=TILE

// CHECK: validated: the files and the imported program agree in 3 draws of random elements of a finite field
// CHECK-SAME: a difference is hidden with probability 2^-{{[0-9]+}} at most
// CHECK-NEXT: validated: the files and the program as written (MLIR's JIT) agree in f64
// CHECK-NEXT: files written
// FILES: program.json
// REPORT: "validation": {
// REPORT: "draws": 3,
// TILE: spyre.loop

#whole = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>
#scale = affine_map<(a, b) -> (b)>
func.func @rows(%x: tensor<64x256xf16> {spyre.dims = ["A", "B"]}, %scale: tensor<256xf16> {spyre.dims = ["B"]}) -> (tensor<64xf16>, tensor<64x256xf16>) {
  %sum, %product = spyre.hint tiles(A = 2, B = 4) {
    %empty = tensor.empty() : tensor<64x256xf16>
    %product = linalg.generic {indexing_maps = [#whole, #scale, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scale : tensor<64x256xf16>, tensor<256xf16>) outs(%empty : tensor<64x256xf16>) {
    ^bb0(%left: f16, %right: f16, %out: f16):
      %power = math.exp %left : f16
      %r = arith.mulf %power, %right : f16
      linalg.yield %r : f16
    } -> tensor<64x256xf16>
    %zero = arith.constant 0.0 : f16
    %row = tensor.empty() : tensor<64xf16>
    %start = linalg.fill ins(%zero : f16) outs(%row : tensor<64xf16>) -> tensor<64xf16>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%product : tensor<64x256xf16>) outs(%start : tensor<64xf16>) {
    ^bb0(%left: f16, %out: f16):
      %r = arith.addf %left, %out : f16
      linalg.yield %r : f16
    } -> tensor<64xf16>
    spyre.yield %sum, %product : tensor<64xf16>, tensor<64x256xf16>
  }
  return %sum, %product : tensor<64xf16>, tensor<64x256xf16>
}
