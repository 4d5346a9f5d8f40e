// RUN: spyre-opt --split-input-file --spyre-compile="compile-to=lx" --spyre-verify-phase=phase=import --spyre-verify-phase=phase=layout --spyre-verify-phase=phase=tile --spyre-verify-phase=phase=work --spyre-verify-phase=phase=lx %s | FileCheck %s
// RUN: spyre-opt --split-input-file --spyre-compile="compile-to=bundle" --spyre-verify-phase=phase=bundle %s | FileCheck %s --check-prefix=BUNDLE

// A program keeps the promises of all phases that it has been through, with what each phase makes: views and moves between sticks, loops and
// what they carry, constants, buffers that are written in parts, copies between HBM and LX.

// CHECK-LABEL: func @one_op
// CHECK: spyre.pointwise exp
// BUNDLE: sdsc.program @one_op
func.func @one_op(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

// -----

// CHECK-LABEL: func @moves_between_sticks
// CHECK: spyre.restickify
// BUNDLE: sdsc.program @moves_between_sticks
func.func @moves_between_sticks(%x: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %empty = tensor.empty() : tensor<128x128xf16>
  %turned = linalg.transpose ins(%x : tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) permutation = [1, 0]
  %sum = linalg.add ins(%x, %turned : tensor<128x128xf16>, tensor<128x128xf16>) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %sum : tensor<128x128xf16>
}

// -----

// CHECK-LABEL: func @loops_carry_a_sum
// CHECK: spyre.loop
// BUNDLE: sdsc.program @loops_carry_a_sum
func.func @loops_carry_a_sum(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]}, %w: tensor<256x64xf16> {spyre.dims = ["K", "N"]}) -> tensor<64x64xf16> {
  %product = spyre.hint tiles(K = 2) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf16>
    %p = linalg.matmul ins(%x, %w : tensor<64x256xf16>, tensor<256x64xf16>) outs(%zero : tensor<64x64xf16>) -> tensor<64x64xf16>
    spyre.yield %p : tensor<64x64xf16>
  }
  return %product : tensor<64x64xf16>
}

// -----

// CHECK-LABEL: func @parts_and_copies
// CHECK: spyre.insert
// BUNDLE: sdsc.program @parts_and_copies
func.func @parts_and_copies(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>) -> tensor<64x128xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %e = linalg.exp ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %both = tensor.concat dim(1) %e, %y : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x128xf16>
  return %both : tensor<64x128xf16>
}
