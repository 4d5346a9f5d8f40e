// Ops of the dialect `tosa`, as TFLite and torch-mlir's TOSA path write them, are lowered by upstream's passes: for the compiler, and for the
// reference, which is given the same file.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/windows_f16.mlir -o %t/windows_f16 --validate > %t/log && spyre-run %t/windows_f16 --wipe-lx --seed 3 --check %t/windows_f16.mlir | FileCheck %s
// RUN: spyre-compile %t/windows_f32.mlir -o %t/windows_f32 --validate > %t/log && spyre-run %t/windows_f32 --wipe-lx --seed 3 --check %t/windows_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/attention_f16.mlir -o %t/attention_f16 --validate > %t/log && spyre-run %t/attention_f16 --wipe-lx --seed 3 --check %t/attention_f16.mlir | FileCheck %s
// RUN: spyre-compile %t/attention_f32.mlir -o %t/attention_f32 --validate > %t/log && spyre-run %t/attention_f32 --wipe-lx --seed 3 --check %t/attention_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/norm_f16.mlir -o %t/norm_f16 --validate > %t/log && spyre-run %t/norm_f16 --wipe-lx --seed 3 --check %t/norm_f16.mlir | FileCheck %s
// RUN: spyre-compile %t/norm_f32.mlir -o %t/norm_f32 --validate > %t/log && spyre-run %t/norm_f32 --wipe-lx --seed 3 --check %t/norm_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/moves_f16.mlir -o %t/moves_f16 --validate > %t/log && spyre-run %t/moves_f16 --wipe-lx --seed 3 --check %t/moves_f16.mlir | FileCheck %s
// RUN: spyre-compile %t/moves_f32.mlir -o %t/moves_f32 --validate > %t/log && spyre-run %t/moves_f32 --wipe-lx --seed 3 --check %t/moves_f32.mlir | FileCheck %s
// RUN: spyre-compile %t/functions_f16.mlir -o %t/functions_f16 --validate > %t/log && spyre-run %t/functions_f16 --wipe-lx --seed 3 --check %t/functions_f16.mlir | FileCheck %s
// RUN: spyre-compile %t/functions_f32.mlir -o %t/functions_f32 --validate > %t/log && spyre-run %t/functions_f32 --wipe-lx --seed 3 --check %t/functions_f32.mlir | FileCheck %s

// CHECK: correct

//--- windows_f16.mlir
func.func @windows(%x: tensor<1x13x13x8xf16>, %w: tensor<16x3x3x8xf16>, %b: tensor<16xf16>, %d: tensor<3x3x16x2xf16>, %c: tensor<32xf16>) -> (tensor<1x6x6x32xf16>, tensor<1x13x13x16xf16>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x13x13x8xf16>, tensor<16x3x3x8xf16>, tensor<16xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x13x13x16xf16>
  %r = tosa.clamp %y {min_val = 0.0 : f16, max_val = 6.0 : f16} : (tensor<1x13x13x16xf16>) -> tensor<1x13x13x16xf16>
  %a = tosa.avg_pool2d %r, %z, %z {acc_type = f32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x13x13x16xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x13x13x16xf16>
  %p = tosa.max_pool2d %r {kernel = array<i64: 2, 2>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 2, 2>} : (tensor<1x13x13x16xf16>) -> tensor<1x7x7x16xf16>
  %k = tosa.depthwise_conv2d %p, %d, %c, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x7x7x16xf16>, tensor<3x3x16x2xf16>, tensor<32xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x7x7x32xf16>
  %q = tosa.avg_pool2d %k, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x7x7x32xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x6x6x32xf16>
  return %q, %a : tensor<1x6x6x32xf16>, tensor<1x13x13x16xf16>
}

//--- windows_f32.mlir
func.func @windows(%x: tensor<1x13x13x8xf32>, %w: tensor<16x3x3x8xf32>, %b: tensor<16xf32>, %d: tensor<3x3x16x2xf32>, %c: tensor<32xf32>) -> (tensor<1x6x6x32xf32>, tensor<1x13x13x16xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x13x13x8xf32>, tensor<16x3x3x8xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x13x13x16xf32>
  %r = tosa.clamp %y {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x13x13x16xf32>) -> tensor<1x13x13x16xf32>
  %a = tosa.avg_pool2d %r, %z, %z {acc_type = f32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x13x13x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x13x13x16xf32>
  %p = tosa.max_pool2d %r {kernel = array<i64: 2, 2>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 2, 2>} : (tensor<1x13x13x16xf32>) -> tensor<1x7x7x16xf32>
  %k = tosa.depthwise_conv2d %p, %d, %c, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x7x7x16xf32>, tensor<3x3x16x2xf32>, tensor<32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x7x32xf32>
  %q = tosa.avg_pool2d %k, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x7x7x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x32xf32>
  return %q, %a : tensor<1x6x6x32xf32>, tensor<1x13x13x16xf32>
}

//--- attention_f16.mlir
func.func @attention(%q: tensor<3x33x64xf16>, %k: tensor<3x33x64xf16>, %v: tensor<3x33x64xf16>) -> tensor<3x33x64xf16> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf16>}> : () -> tensor<1x1x1xf16>
  %t = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<3x33x64xf16>) -> tensor<3x64x33xf16>
  %p = tosa.matmul %q, %t, %z, %z : (tensor<3x33x64xf16>, tensor<3x64x33xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<3x33x33xf16>
  %x = tosa.mul %p, %s, %shift : (tensor<3x33x33xf16>, tensor<1x1x1xf16>, tensor<1xi8>) -> tensor<3x33x33xf16>
  %m = tosa.reduce_max %x {axis = 2 : i32} : (tensor<3x33x33xf16>) -> tensor<3x33x1xf16>
  %c = tosa.sub %x, %m : (tensor<3x33x33xf16>, tensor<3x33x1xf16>) -> tensor<3x33x33xf16>
  %e = tosa.exp %c : (tensor<3x33x33xf16>) -> tensor<3x33x33xf16>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<3x33x33xf16>) -> tensor<3x33x1xf16>
  %i = tosa.reciprocal %l : (tensor<3x33x1xf16>) -> tensor<3x33x1xf16>
  %w = tosa.mul %e, %i, %shift : (tensor<3x33x33xf16>, tensor<3x33x1xf16>, tensor<1xi8>) -> tensor<3x33x33xf16>
  %y = tosa.matmul %w, %v, %z, %z : (tensor<3x33x33xf16>, tensor<3x33x64xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<3x33x64xf16>
  return %y : tensor<3x33x64xf16>
}

//--- attention_f32.mlir
func.func @attention(%q: tensor<3x33x64xf32>, %k: tensor<3x33x64xf32>, %v: tensor<3x33x64xf32>) -> tensor<3x33x64xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %t = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<3x33x64xf32>) -> tensor<3x64x33xf32>
  %p = tosa.matmul %q, %t, %z, %z : (tensor<3x33x64xf32>, tensor<3x64x33xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x33x33xf32>
  %x = tosa.mul %p, %s, %shift : (tensor<3x33x33xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<3x33x33xf32>
  %m = tosa.reduce_max %x {axis = 2 : i32} : (tensor<3x33x33xf32>) -> tensor<3x33x1xf32>
  %c = tosa.sub %x, %m : (tensor<3x33x33xf32>, tensor<3x33x1xf32>) -> tensor<3x33x33xf32>
  %e = tosa.exp %c : (tensor<3x33x33xf32>) -> tensor<3x33x33xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<3x33x33xf32>) -> tensor<3x33x1xf32>
  %i = tosa.reciprocal %l : (tensor<3x33x1xf32>) -> tensor<3x33x1xf32>
  %w = tosa.mul %e, %i, %shift : (tensor<3x33x33xf32>, tensor<3x33x1xf32>, tensor<1xi8>) -> tensor<3x33x33xf32>
  %y = tosa.matmul %w, %v, %z, %z : (tensor<3x33x33xf32>, tensor<3x33x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x33x64xf32>
  return %y : tensor<3x33x64xf32>
}

//--- norm_f16.mlir
func.func @norm(%x: tensor<33x100xf16>, %g: tensor<100xf16>, %b: tensor<100xf16>) -> tensor<33x100xf16> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %n = "tosa.const"() <{values = dense<0.01> : tensor<1x1xf16>}> : () -> tensor<1x1xf16>
  %eps = "tosa.const"() <{values = dense<1.0e-3> : tensor<1x1xf16>}> : () -> tensor<1x1xf16>
  %row = tosa.const_shape {values = dense<[1, 100]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<33x100xf16>) -> tensor<33x1xf16>
  %mean = tosa.mul %sum, %n, %shift : (tensor<33x1xf16>, tensor<1x1xf16>, tensor<1xi8>) -> tensor<33x1xf16>
  %c = tosa.sub %x, %mean : (tensor<33x100xf16>, tensor<33x1xf16>) -> tensor<33x100xf16>
  %sq = tosa.mul %c, %c, %shift : (tensor<33x100xf16>, tensor<33x100xf16>, tensor<1xi8>) -> tensor<33x100xf16>
  %ss = tosa.reduce_sum %sq {axis = 1 : i32} : (tensor<33x100xf16>) -> tensor<33x1xf16>
  %var = tosa.mul %ss, %n, %shift : (tensor<33x1xf16>, tensor<1x1xf16>, tensor<1xi8>) -> tensor<33x1xf16>
  %ve = tosa.add %var, %eps : (tensor<33x1xf16>, tensor<1x1xf16>) -> tensor<33x1xf16>
  %r = tosa.rsqrt %ve : (tensor<33x1xf16>) -> tensor<33x1xf16>
  %d = tosa.mul %c, %r, %shift : (tensor<33x100xf16>, tensor<33x1xf16>, tensor<1xi8>) -> tensor<33x100xf16>
  %gr = tosa.reshape %g, %row : (tensor<100xf16>, !tosa.shape<2>) -> tensor<1x100xf16>
  %br = tosa.reshape %b, %row : (tensor<100xf16>, !tosa.shape<2>) -> tensor<1x100xf16>
  %w = tosa.mul %d, %gr, %shift : (tensor<33x100xf16>, tensor<1x100xf16>, tensor<1xi8>) -> tensor<33x100xf16>
  %y = tosa.add %w, %br : (tensor<33x100xf16>, tensor<1x100xf16>) -> tensor<33x100xf16>
  return %y : tensor<33x100xf16>
}

//--- norm_f32.mlir
func.func @norm(%x: tensor<33x100xf32>, %g: tensor<100xf32>, %b: tensor<100xf32>) -> tensor<33x100xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %n = "tosa.const"() <{values = dense<0.01> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-3> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %row = tosa.const_shape {values = dense<[1, 100]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<33x100xf32>) -> tensor<33x1xf32>
  %mean = tosa.mul %sum, %n, %shift : (tensor<33x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<33x1xf32>
  %c = tosa.sub %x, %mean : (tensor<33x100xf32>, tensor<33x1xf32>) -> tensor<33x100xf32>
  %sq = tosa.mul %c, %c, %shift : (tensor<33x100xf32>, tensor<33x100xf32>, tensor<1xi8>) -> tensor<33x100xf32>
  %ss = tosa.reduce_sum %sq {axis = 1 : i32} : (tensor<33x100xf32>) -> tensor<33x1xf32>
  %var = tosa.mul %ss, %n, %shift : (tensor<33x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<33x1xf32>
  %ve = tosa.add %var, %eps : (tensor<33x1xf32>, tensor<1x1xf32>) -> tensor<33x1xf32>
  %r = tosa.rsqrt %ve : (tensor<33x1xf32>) -> tensor<33x1xf32>
  %d = tosa.mul %c, %r, %shift : (tensor<33x100xf32>, tensor<33x1xf32>, tensor<1xi8>) -> tensor<33x100xf32>
  %gr = tosa.reshape %g, %row : (tensor<100xf32>, !tosa.shape<2>) -> tensor<1x100xf32>
  %br = tosa.reshape %b, %row : (tensor<100xf32>, !tosa.shape<2>) -> tensor<1x100xf32>
  %w = tosa.mul %d, %gr, %shift : (tensor<33x100xf32>, tensor<1x100xf32>, tensor<1xi8>) -> tensor<33x100xf32>
  %y = tosa.add %w, %br : (tensor<33x100xf32>, tensor<1x100xf32>) -> tensor<33x100xf32>
  return %y : tensor<33x100xf32>
}

//--- moves_f16.mlir
func.func @moves(%x: tensor<4x33x64xf16>, %t: tensor<1x50x72xf16>, %i: tensor<1x33xi32>) -> (tensor<132x70xf16>, tensor<33x4x100xf16>, tensor<1x33x72xf16>) {
  %to = tosa.const_shape {values = dense<[132, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %by = tosa.const_shape {values = dense<[0, 0, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %start = tosa.const_shape {values = dense<[0, 0, 14]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[33, 4, 36]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %one = "tosa.const"() <{values = dense<1.5> : tensor<1xf16>}> : () -> tensor<1xf16>
  %r = tosa.reshape %x, %to : (tensor<4x33x64xf16>, !tosa.shape<2>) -> tensor<132x64xf16>
  %p = tosa.pad %r, %by, %one : (tensor<132x64xf16>, !tosa.shape<4>, tensor<1xf16>) -> tensor<132x70xf16>
  %u = tosa.transpose %x {perms = array<i32: 1, 0, 2>} : (tensor<4x33x64xf16>) -> tensor<33x4x64xf16>
  %s = tosa.slice %u, %start, %size : (tensor<33x4x64xf16>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<33x4x36xf16>
  %c = tosa.concat %u, %s {axis = 2 : i32} : (tensor<33x4x64xf16>, tensor<33x4x36xf16>) -> tensor<33x4x100xf16>
  %g = tosa.gather %t, %i : (tensor<1x50x72xf16>, tensor<1x33xi32>) -> tensor<1x33x72xf16>
  return %p, %c, %g : tensor<132x70xf16>, tensor<33x4x100xf16>, tensor<1x33x72xf16>
}

//--- moves_f32.mlir
func.func @moves(%x: tensor<4x33x64xf32>, %t: tensor<1x50x72xf32>, %i: tensor<1x33xi32>) -> (tensor<132x70xf32>, tensor<33x4x100xf32>, tensor<1x33x72xf32>) {
  %to = tosa.const_shape {values = dense<[132, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %by = tosa.const_shape {values = dense<[0, 0, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %start = tosa.const_shape {values = dense<[0, 0, 14]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[33, 4, 36]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %one = "tosa.const"() <{values = dense<1.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.reshape %x, %to : (tensor<4x33x64xf32>, !tosa.shape<2>) -> tensor<132x64xf32>
  %p = tosa.pad %r, %by, %one : (tensor<132x64xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<132x70xf32>
  %u = tosa.transpose %x {perms = array<i32: 1, 0, 2>} : (tensor<4x33x64xf32>) -> tensor<33x4x64xf32>
  %s = tosa.slice %u, %start, %size : (tensor<33x4x64xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<33x4x36xf32>
  %c = tosa.concat %u, %s {axis = 2 : i32} : (tensor<33x4x64xf32>, tensor<33x4x36xf32>) -> tensor<33x4x100xf32>
  %g = tosa.gather %t, %i : (tensor<1x50x72xf32>, tensor<1x33xi32>) -> tensor<1x33x72xf32>
  return %p, %c, %g : tensor<132x70xf32>, tensor<33x4x100xf32>, tensor<1x33x72xf32>
}

//--- functions_f16.mlir
func.func @functions(%x: tensor<33x100xf16>, %y: tensor<1x100xf16>) -> tensor<33x100xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %a = tosa.add %x, %y : (tensor<33x100xf16>, tensor<1x100xf16>) -> tensor<33x100xf16>
  %b = tosa.tanh %a : (tensor<33x100xf16>) -> tensor<33x100xf16>
  %c = tosa.sigmoid %b : (tensor<33x100xf16>) -> tensor<33x100xf16>
  %g = tosa.greater %x, %y : (tensor<33x100xf16>, tensor<1x100xf16>) -> tensor<33x100xi1>
  %d = tosa.select %g, %c, %a : (tensor<33x100xi1>, tensor<33x100xf16>, tensor<33x100xf16>) -> tensor<33x100xf16>
  %h = tosa.maximum %d, %y : (tensor<33x100xf16>, tensor<1x100xf16>) -> tensor<33x100xf16>
  %k = tosa.abs %h : (tensor<33x100xf16>) -> tensor<33x100xf16>
  %e = tosa.negate %k, %z, %z : (tensor<33x100xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<33x100xf16>
  %f = tosa.cast %e : (tensor<33x100xf16>) -> tensor<33x100xf32>
  return %f : tensor<33x100xf32>
}

//--- functions_f32.mlir
func.func @functions(%x: tensor<33x100xf32>, %y: tensor<1x100xf32>) -> tensor<33x100xf16> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.add %x, %y : (tensor<33x100xf32>, tensor<1x100xf32>) -> tensor<33x100xf32>
  %b = tosa.tanh %a : (tensor<33x100xf32>) -> tensor<33x100xf32>
  %c = tosa.sigmoid %b : (tensor<33x100xf32>) -> tensor<33x100xf32>
  %g = tosa.greater %x, %y : (tensor<33x100xf32>, tensor<1x100xf32>) -> tensor<33x100xi1>
  %d = tosa.select %g, %c, %a : (tensor<33x100xi1>, tensor<33x100xf32>, tensor<33x100xf32>) -> tensor<33x100xf32>
  %h = tosa.maximum %d, %y : (tensor<33x100xf32>, tensor<1x100xf32>) -> tensor<33x100xf32>
  %k = tosa.abs %h : (tensor<33x100xf32>) -> tensor<33x100xf32>
  %e = tosa.negate %k, %z, %z : (tensor<33x100xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<33x100xf32>
  %f = tosa.cast %e : (tensor<33x100xf32>) -> tensor<33x100xf16>
  return %f : tensor<33x100xf16>
}
