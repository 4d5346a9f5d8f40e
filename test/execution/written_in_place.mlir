// Parts that ops write where they belong: along rows and columns, in loops, of a padded image, of a product, and of a row that follows a
// cache; with few cores, without a planner, unrolled, and with addresses that are baked.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/out --validate > %t.log && spyre-run %t/out --check %s | FileCheck %s
// RUN: spyre-opt --spyre-compile=compile-to=tile %s | FileCheck %s --check-prefix=PLACED
// RUN: spyre-compile %s -o %t/tiled --validate --dims 0=A:B --tiles A=2 > %t.log && spyre-run %t/tiled --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --validate --cores 3 > %t.log && spyre-run %t/three --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/unplanned --validate --lx-planner none > %t.log && spyre-run %t/unplanned --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/baked --validate --addresses baked --loops unroll > %t.log && spyre-run %t/baked --check %s | FileCheck %s

// PLACED-COUNT-6: in_place

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
func.func @main(%a: tensor<64x128xf16>, %b: tensor<33x128xf16>, %image: tensor<6x6x64xf16>, %w: tensor<128x64xf16>)
    -> (tensor<97x128xf16>, tensor<64x192xf16>, tensor<8x8x64xf16>, tensor<97x64xf16>) {
  %rows_a = tensor.empty() : tensor<64x128xf16>
  %exp = linalg.exp ins(%a : tensor<64x128xf16>) outs(%rows_a : tensor<64x128xf16>) -> tensor<64x128xf16>
  %rows_b = tensor.empty() : tensor<33x128xf16>
  %neg = linalg.negf ins(%b : tensor<33x128xf16>) outs(%rows_b : tensor<33x128xf16>) -> tensor<33x128xf16>
  %rows = tensor.concat dim(0) %exp, %neg : (tensor<64x128xf16>, tensor<33x128xf16>) -> tensor<97x128xf16>

  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<64x64xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %product = linalg.matmul ins(%a, %w : tensor<64x128xf16>, tensor<128x64xf16>) outs(%start : tensor<64x64xf16>) -> tensor<64x64xf16>
  %abs = linalg.abs ins(%a : tensor<64x128xf16>) outs(%rows_a : tensor<64x128xf16>) -> tensor<64x128xf16>
  %columns = tensor.concat dim(1) %product, %abs : (tensor<64x64xf16>, tensor<64x128xf16>) -> tensor<64x192xf16>

  %inner = tensor.empty() : tensor<6x6x64xf16>
  %tanh = linalg.tanh ins(%image : tensor<6x6x64xf16>) outs(%inner : tensor<6x6x64xf16>) -> tensor<6x6x64xf16>
  %padded = tensor.pad %tanh low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f16
  } : tensor<6x6x64xf16> to tensor<8x8x64xf16>

  %small = tensor.empty() : tensor<33x64xf16>
  %start_b = linalg.fill ins(%zero : f16) outs(%small : tensor<33x64xf16>) -> tensor<33x64xf16>
  %below = linalg.matmul ins(%b, %w : tensor<33x128xf16>, tensor<128x64xf16>) outs(%start_b : tensor<33x64xf16>) -> tensor<33x64xf16>
  %sine = linalg.exp ins(%product : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %both = tensor.concat dim(0) %sine, %below : (tensor<64x64xf16>, tensor<33x64xf16>) -> tensor<97x64xf16>
  return %rows, %columns, %padded, %both : tensor<97x128xf16>, tensor<64x192xf16>, tensor<8x8x64xf16>, tensor<97x64xf16>
}
