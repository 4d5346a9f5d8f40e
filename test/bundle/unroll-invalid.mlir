// RUN: not spyre-compile %s -o %t --dims 0=A:B --tiles A=16384 --loops unroll 2>&1 | FileCheck %s
// RUN: not ls %t
// RUN: spyre-compile %s -o %t.kept --dims 0=A:B --tiles A=16384

// A short text may ask for any number of ops.
// CHECK: unroll-invalid.mlir:7:{{[0-9]+}}: error{{.*}}'func.func' op expected at most 8192 ops once loops are written out (--loops unroll), found 16384; keep loops (--loops keep), or give fewer tiles
func.func @many_tiles(%x: tensor<16384x64xf16>) -> tensor<16384x64xf16> {
  %y = spyre.pointwise abs(%x) : tensor<16384x64xf16>
  return %y : tensor<16384x64xf16>
}
