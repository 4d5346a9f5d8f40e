// Parts of models for which the search once chose plans that single hints beat, or that moved several times the bound.
// The table is in docs/measurements/tile-search.md. Validation takes two minutes at these sizes, so `test/validated.rs` skips `env` lines.
// RUN: rm -rf %t && split-file %s %t
// RUN: env spyre-compile %t/residual_norm.mlir -o %t/out | FileCheck %s --check-prefix=RESIDUAL
// RUN: env spyre-compile %t/norm_products.mlir -o %t/out | FileCheck %s --check-prefix=PRODUCTS
// RUN: env spyre-compile %t/masked_attention.mlir -o %t/out | FileCheck %s --check-prefix=MASKED
// RUN: env spyre-compile %t/rotary_attention.mlir -o %t/out | FileCheck %s --check-prefix=ROTARY
// RUN: env spyre-compile %t/two_layers.mlir -o %t/out | FileCheck %s --check-prefix=LAYERS

// With loops around the first three ops only, the others would cost more than in the untiled program, where the sum is in LX.
// RESIDUAL: tiling: ops 0-6 in 2 tiles of axis0; 989.0 us
// RESIDUAL: HBM traffic 128.02 MiB (lower bound 128.01 MiB, 1.00 times)

// The result of the norm is resident in LX for the loops of three matmuls, which do not tile it.
// PRODUCTS: tiling: ops 6-6 in {{.*}}, ops 7-7 in {{.*}}, ops 8-8 in {{.*}}; 2025.4 us
// PRODUCTS: HBM traffic 88.01 MiB (lower bound 88.01 MiB, 1.00 times)

// The loop over the queries is the outer loop, and its rows of the mask are copied before the loop over heads.
// MASKED: tiling: ops 0-8 in 2 tiles of axis0 x 16 tiles of axis1 with 1 operand copied; 8028.3 us
// MASKED: HBM traffic 128.00 MiB (lower bound 96.00 MiB, 1.33 times)

// Halves and complete queries and keys are read from one copy; the keys are concatenated in HBM, because each core needs all of them.
// ROTARY: HBM traffic 57.00 MiB (lower bound 32.50 MiB, 1.75 times)
// ROTARY: modeled time: 906.9 us

// The segment in isolation would have 4 tiles, but the program is faster with 8.
// LAYERS: tiling: ops 0-3 in 8 tiles of axis0; 9790.6 us

//--- residual_norm.mlir
#map = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<4096x4096xf16>, %arg1: tensor<4096x4096xf16>, %arg2: tensor<4096xf16>) -> (tensor<4096x4096xf16>, tensor<4096x4096xf16>) {
  %0 = spyre.constant dense<1.001360e-05> : tensor<1x1xf16>
  %1 = spyre.pointwise add(%arg0, %arg1) : tensor<4096x4096xf16>
  %2 = spyre.pointwise mul(%1, %1) : tensor<4096x4096xf16>
  %3 = spyre.reduce mean(%2) dims [1] {constants = array<f64: 2.44140625E-4>} : tensor<4096x4096xf16> -> tensor<4096x1xf16>
  %4 = spyre.pointwise add(%3, %0) : (tensor<4096x1xf16>, tensor<1x1xf16>) -> tensor<4096x1xf16>
  %5 = spyre.pointwise rsqrt(%4) : tensor<4096x1xf16>
  %6 = spyre.pointwise mul(%1, %5) : (tensor<4096x4096xf16>, tensor<4096x1xf16>) -> tensor<4096x4096xf16>
  %7 = spyre.view %arg2 by #map : tensor<4096xf16> -> tensor<1x4096xf16>
  %8 = spyre.pointwise mul(%6, %7) : (tensor<4096x4096xf16>, tensor<1x4096xf16>) -> tensor<4096x4096xf16>
  return %1, %8 : tensor<4096x4096xf16>, tensor<4096x4096xf16>
}

//--- norm_products.mlir
#map = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<2048x4096xf16>, %arg1: tensor<4096xf16>, %arg2: tensor<4096x4096xf16>, %arg3: tensor<4096x1024xf16>, %arg4: tensor<4096x1024xf16>) -> (tensor<2048x4096xf16>, tensor<2048x1024xf16>, tensor<2048x1024xf16>) {
  %0 = spyre.constant dense<1.001360e-05> : tensor<1x1xf16>
  %1 = spyre.pointwise mul(%arg0, %arg0) : tensor<2048x4096xf16>
  %2 = spyre.reduce mean(%1) dims [1] {constants = array<f64: 2.44140625E-4>} : tensor<2048x4096xf16> -> tensor<2048x1xf16>
  %3 = spyre.pointwise add(%2, %0) : (tensor<2048x1xf16>, tensor<1x1xf16>) -> tensor<2048x1xf16>
  %4 = spyre.pointwise rsqrt(%3) : tensor<2048x1xf16>
  %5 = spyre.pointwise mul(%arg0, %4) : (tensor<2048x4096xf16>, tensor<2048x1xf16>) -> tensor<2048x4096xf16>
  %6 = spyre.view %arg1 by #map : tensor<4096xf16> -> tensor<1x4096xf16>
  %7 = spyre.pointwise mul(%5, %6) : (tensor<2048x4096xf16>, tensor<1x4096xf16>) -> tensor<2048x4096xf16>
  %8 = spyre.matmul(%7, %arg2) : (tensor<2048x4096xf16>, tensor<4096x4096xf16>) -> tensor<2048x4096xf16>
  %9 = spyre.matmul(%7, %arg3) : (tensor<2048x4096xf16>, tensor<4096x1024xf16>) -> tensor<2048x1024xf16>
  %10 = spyre.matmul(%7, %arg4) : (tensor<2048x4096xf16>, tensor<4096x1024xf16>) -> tensor<2048x1024xf16>
  return %8, %9, %10 : tensor<2048x4096xf16>, tensor<2048x1024xf16>, tensor<2048x1024xf16>
}

//--- masked_attention.mlir
#map = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
func.func @main(%arg0: tensor<32x4096x64xf16>, %arg1: tensor<32x4096x64xf16>, %arg2: tensor<32x4096x64xf16>, %arg3: tensor<4096x4096xf16>) -> tensor<32x4096x64xf16> {
  %0 = spyre.constant dense<8.831780e-02> : tensor<1x1x1xf16>
  %1 = spyre.view %arg1 by #map : tensor<32x4096x64xf16> -> tensor<32x64x4096xf16>
  %2 = spyre.matmul(%arg0, %1) : (tensor<32x4096x64xf16>, tensor<32x64x4096xf16>) -> tensor<32x4096x4096xf16>
  %3 = spyre.pointwise mul(%2, %0) : (tensor<32x4096x4096xf16>, tensor<1x1x1xf16>) -> tensor<32x4096x4096xf16>
  %4 = spyre.view %arg3 by #map1 : tensor<4096x4096xf16> -> tensor<1x4096x4096xf16>
  %5 = spyre.pointwise add(%3, %4) : (tensor<32x4096x4096xf16>, tensor<1x4096x4096xf16>) -> tensor<32x4096x4096xf16>
  %6 = spyre.reduce max(%5) dims [2] : tensor<32x4096x4096xf16> -> tensor<32x4096x1xf16>
  %7 = spyre.pointwise sub(%5, %6) : (tensor<32x4096x4096xf16>, tensor<32x4096x1xf16>) -> tensor<32x4096x4096xf16>
  %8 = spyre.pointwise exp(%7) : tensor<32x4096x4096xf16>
  %9 = spyre.reduce sum(%8) dims [2] : tensor<32x4096x4096xf16> -> tensor<32x4096x1xf16>
  %10 = spyre.pointwise realdiv(%8, %9) : (tensor<32x4096x4096xf16>, tensor<32x4096x1xf16>) -> tensor<32x4096x4096xf16>
  %11 = spyre.matmul(%10, %arg2) : (tensor<32x4096x4096xf16>, tensor<32x4096x64xf16>) -> tensor<32x4096x64xf16>
  return %11 : tensor<32x4096x64xf16>
}

//--- rotary_attention.mlir
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2 + 64)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
func.func @attention(%arg0: tensor<32x1024x128xf16>, %arg1: tensor<32x1024x128xf16>, %arg2: tensor<32x1024x128xf16>, %arg3: tensor<1024x128xf16>, %arg4: tensor<1024x128xf16>) -> tensor<32x1024x128xf16> {
  %0 = spyre.view %arg0 by #map : tensor<32x1024x128xf16> -> tensor<32x1024x64xf16>
  %1 = spyre.view %arg0 by #map1 : tensor<32x1024x128xf16> -> tensor<32x1024x64xf16>
  %2 = spyre.pointwise neg(%1) : tensor<32x1024x64xf16>
  %3 = spyre.empty : tensor<32x1024x128xf16>
  %4 = spyre.insert %2 into %3 at [0, 0, 0] : tensor<32x1024x64xf16> into tensor<32x1024x128xf16>
  %5 = spyre.insert %0 into %4 at [0, 0, 64] : tensor<32x1024x64xf16> into tensor<32x1024x128xf16>
  %6 = spyre.view %arg3 by #map2 : tensor<1024x128xf16> -> tensor<1x1024x128xf16>
  %7 = spyre.pointwise mul(%arg0, %6) : (tensor<32x1024x128xf16>, tensor<1x1024x128xf16>) -> tensor<32x1024x128xf16>
  %8 = spyre.view %arg4 by #map2 : tensor<1024x128xf16> -> tensor<1x1024x128xf16>
  %9 = spyre.pointwise mul(%5, %8) : (tensor<32x1024x128xf16>, tensor<1x1024x128xf16>) -> tensor<32x1024x128xf16>
  %10 = spyre.pointwise add(%7, %9) : tensor<32x1024x128xf16>
  %11 = spyre.view %arg1 by #map : tensor<32x1024x128xf16> -> tensor<32x1024x64xf16>
  %12 = spyre.view %arg1 by #map1 : tensor<32x1024x128xf16> -> tensor<32x1024x64xf16>
  %13 = spyre.pointwise neg(%12) : tensor<32x1024x64xf16>
  %14 = spyre.empty : tensor<32x1024x128xf16>
  %15 = spyre.insert %13 into %14 at [0, 0, 0] : tensor<32x1024x64xf16> into tensor<32x1024x128xf16>
  %16 = spyre.insert %11 into %15 at [0, 0, 64] : tensor<32x1024x64xf16> into tensor<32x1024x128xf16>
  %17 = spyre.pointwise mul(%arg1, %6) : (tensor<32x1024x128xf16>, tensor<1x1024x128xf16>) -> tensor<32x1024x128xf16>
  %18 = spyre.pointwise mul(%16, %8) : (tensor<32x1024x128xf16>, tensor<1x1024x128xf16>) -> tensor<32x1024x128xf16>
  %19 = spyre.pointwise add(%17, %18) : tensor<32x1024x128xf16>
  %20 = spyre.view %19 by #map3 : tensor<32x1024x128xf16> -> tensor<32x128x1024xf16>
  %21 = spyre.matmul(%10, %20) : (tensor<32x1024x128xf16>, tensor<32x128x1024xf16>) -> tensor<32x1024x1024xf16>
  %22 = spyre.reduce max(%21) dims [2] : tensor<32x1024x1024xf16> -> tensor<32x1024x1xf16>
  %23 = spyre.pointwise sub(%21, %22) : (tensor<32x1024x1024xf16>, tensor<32x1024x1xf16>) -> tensor<32x1024x1024xf16>
  %24 = spyre.pointwise exp(%23) : tensor<32x1024x1024xf16>
  %25 = spyre.reduce sum(%24) dims [2] : tensor<32x1024x1024xf16> -> tensor<32x1024x1xf16>
  %26 = spyre.pointwise realdiv(%24, %25) : (tensor<32x1024x1024xf16>, tensor<32x1024x1xf16>) -> tensor<32x1024x1024xf16>
  %27 = spyre.matmul(%26, %arg2) : (tensor<32x1024x1024xf16>, tensor<32x1024x128xf16>) -> tensor<32x1024x128xf16>
  return %27 : tensor<32x1024x128xf16>
}

//--- two_layers.mlir
#map = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<2048x4096xf16>, %arg1: tensor<4096x16384xf16>, %arg2: tensor<16384x4096xf16>, %arg3: tensor<16384xf16>, %arg4: tensor<4096xf16>) -> tensor<2048x4096xf16> {
  %0 = spyre.matmul(%arg0, %arg1) : (tensor<2048x4096xf16>, tensor<4096x16384xf16>) -> tensor<2048x16384xf16>
  %1 = spyre.view %arg3 by #map : tensor<16384xf16> -> tensor<1x16384xf16>
  %2 = spyre.pointwise add(%0, %1) : (tensor<2048x16384xf16>, tensor<1x16384xf16>) -> tensor<2048x16384xf16>
  %3 = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
  %4 = spyre.pointwise maximum(%2, %3) : (tensor<2048x16384xf16>, tensor<1x1xf16>) -> tensor<2048x16384xf16>
  %5 = spyre.matmul(%4, %arg2) : (tensor<2048x16384xf16>, tensor<16384x4096xf16>) -> tensor<2048x4096xf16>
  %6 = spyre.view %arg4 by #map : tensor<4096xf16> -> tensor<1x4096xf16>
  %7 = spyre.pointwise add(%5, %6) : (tensor<2048x4096xf16>, tensor<1x4096xf16>) -> tensor<2048x4096xf16>
  return %7 : tensor<2048x4096xf16>
}
