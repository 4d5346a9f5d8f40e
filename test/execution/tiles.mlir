// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/tiled --dims 0=A:B --tiles A=2,B=4 > %t.log && spyre-run %t/tiled --check %s | FileCheck %s --check-prefix=TILED
// RUN: spyre-compile %s -o %t/unrolled --dims 0=A:B --tiles A=2,B=4 --loops unroll > %t.log && spyre-run %t/unrolled --check %s | FileCheck %s --check-prefix=UNROLLED
// RUN: spyre-compile %s -o %t/baked --dims 0=A:B --tiles A=4 --addresses baked --loops unroll > %t.log && spyre-run %t/baked --check %s | FileCheck %s --check-prefix=BAKED

// Tiled along a swapped pair, the numbers are those of other tiles.
// RUN: sed -i 's/#map_0(%i_0, %i_1)/#map_0(%i_1, %i_0)/' %t/tiled/bundle_0/bundle.mlir
// RUN: not spyre-run %t/tiled --check %s 2>&1 | FileCheck %s --check-prefix=SWAPPED

// TILED: bundle_0: 16 executes
// TILED: result0: correct
// UNROLLED: bundle_0: 16 executes
// UNROLLED: result0: correct
// BAKED: bundle_0: 8 executes
// BAKED: result0: correct
// SWAPPED: spyre-run: error{{.*}}:
func.func @add_mul(%a: tensor<64x512xf16>, %b: tensor<64x512xf16>, %c: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %empty = tensor.empty() : tensor<64x512xf16>
  %sum = linalg.add ins(%a, %b : tensor<64x512xf16>, tensor<64x512xf16>) outs(%empty : tensor<64x512xf16>) -> tensor<64x512xf16>
  %product = linalg.mul ins(%sum, %c : tensor<64x512xf16>, tensor<64x512xf16>) outs(%empty : tensor<64x512xf16>) -> tensor<64x512xf16>
  return %product : tensor<64x512xf16>
}
