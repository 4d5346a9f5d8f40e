// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-reduce-span %s
// RUN: not spyre-opt --split-input-file --spyre-reduce-span %s 2>&1 | FileCheck %s --check-prefix=NO-LAYOUT

// 128 GiB: 32 cores with 256 MiB each are too few.
func.func @tensor_for_more_cores(%x: tensor<1048576x65536xf16>) -> tensor<1048576x65536xf16> {
  // NO-LAYOUT: reduce-span-invalid.mlir:[[#@LINE+2]]:{{[0-9]+}}: error{{.*}}'spyre.pointwise' op has an operand without a device layout
  // expected-error @+1 {{'spyre.pointwise' op operand 0 spans 4294967296 bytes on one core; the hardware limit is 268431360 (device size [1024, 1048576, 64]; slices: iteration dimension 1: 32 of at most 1024, iteration dimension 0: 1 of at most 1048576)}}
  %exp = spyre.pointwise exp(%x) : tensor<1048576x65536xf16>
  return %exp : tensor<1048576x65536xf16>
}

// -----

// A prime number of rows, one stick wide.
func.func @tensor_that_cannot_be_cut(%x: tensor<2097169x64xf16>) -> tensor<2097169x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op operand 0 spans 268437632 bytes on one core; the hardware limit is 268431360 (device size [1, 2097169, 64]; slices: iteration dimension 1: 1 of at most 1, iteration dimension 0: 1 of at most 2097169)}}
  %exp = spyre.pointwise exp(%x) : tensor<2097169x64xf16>
  return %exp : tensor<2097169x64xf16>
}

// -----

// 16380 columns end inside a stick, which every core of a reduction must see.
func.func @padded_reduction_to_cut(%x: tensor<16384x16380xf16>) -> tensor<16384x1xf16> {
  // expected-error @+1 {{'spyre.reduce' op operand 0 spans 536870912 bytes on one core; the hardware limit is 268431360 (device size [256, 16384, 64]; slices: iteration dimension 1: indivisible, iteration dimension 0: 1 of at most 16384)}}
  %sum = spyre.reduce sum(%x) dims [1] : tensor<16384x16380xf16> -> tensor<16384x1xf16>
  return %sum : tensor<16384x1xf16>
}

// -----

// Two sticks side by side and very many rows: both are reduced and both would have to be cut.
func.func @two_reductions_to_cut(%x: tensor<8388608x128xf16>) -> tensor<1x1xf16> {
  // expected-error @+1 {{'spyre.reduce' op expected core splits of at most one reduction dimension, found several; split one of them}}
  %sum = spyre.reduce sum(%x) dims [0, 1] : tensor<8388608x128xf16> -> tensor<1x1xf16>
  return %sum : tensor<1x1xf16>
}

// -----

// expected-error @+1 {{'builtin.module' op 'spyre.target' must hold numbers, found cores = "four"}}
module attributes {spyre.target = {cores = "four"}} {
}

// -----

// 16 rows of one stick are read, but they may be any of 4194304.
func.func @table_of_512_mib(%x: tensor<4194304x64xf16>, %index: tensor<16xi32>) -> tensor<16x64xf16> {
  // expected-error @+1 {{'spyre.gather' op operand 0 spans 536870912 bytes on one core; the hardware limit is 268431360 (device size [4194304, 1, 64]; slices: iteration dimension 1: indivisible)}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<4194304x64xf16>, tensor<16xi32>) -> tensor<16x64xf16>
  return %rows : tensor<16x64xf16>
}
