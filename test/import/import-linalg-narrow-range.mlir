// RUN: spyre-opt %s --spyre-import-linalg | FileCheck %s

// Integers that are computed with are within their type, whatever the device's format holds.
// CHECK: func.func @main(%{{.*}}: tensor<64xi8> {spyre.range = array<i64: -128, 128>})
func.func @main(%x: tensor<64xi8>) -> tensor<64xf16> {
  %e = tensor.empty() : tensor<64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%x : tensor<64xi8>) outs(%e : tensor<64xf16>) {
  ^bb0(%a: i8, %out: f16):
    %wide = arith.extsi %a : i8 to i32
    %two = arith.constant 2 : i32
    %double = arith.muli %wide, %two : i32
    %f = arith.sitofp %double : i32 to f16
    linalg.yield %f : f16
  } -> tensor<64xf16>
  return %r : tensor<64xf16>
}
