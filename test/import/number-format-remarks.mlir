// One remark for each kind of number that the device computes otherwise, at its first place.
// RUN: split-file %s %t
// RUN: spyre-compile %t/index.mlir -o %t/out --validate=off 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: spyre-compile %t/f64.mlir -o %t/out --validate=off 2>&1 | FileCheck %s --check-prefix=F64
// RUN: spyre-compile %t/f32.mlir -o %t/out --validate=off 2>&1 | FileCheck %s --check-prefix=F32
// RUN: spyre-compile %t/index.mlir -o %t/out --validate=off -q 2>&1 | count 0

//--- index.mlir
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
// INDEX: index.mlir:4:41: remark[SPY0228]: integer argument 'arg1' accepts only values from 0 to 99, which a launch checks
func.func @main(%x: tensor<100x64xf16>, %list: tensor<4xi64>) -> tensor<4x64xf16> {
  %e = tensor.empty() : tensor<4x64xf16>
  %0 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%list : tensor<4xi64>) outs(%e : tensor<4x64xf16>) {
  ^bb0(%in: i64, %out: f16):
    %at = arith.index_cast %in : i64 to index
    %column = linalg.index 1 : index
    %read = tensor.extract %x[%at, %column] : tensor<100x64xf16>
    linalg.yield %read : f16
  } -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}

//--- f64.mlir
// F64: f64.mlir:3:17: remark[SPY0229]: f64 values are computed as f32
// F64-NOT: remark[
func.func @main(%x: tensor<4x64xf64>) -> tensor<4x64xf64> {
  %e = tensor.empty() : tensor<4x64xf64>
  %0 = linalg.exp ins(%x : tensor<4x64xf64>) outs(%e : tensor<4x64xf64>) -> tensor<4x64xf64>
  return %0 : tensor<4x64xf64>
}

//--- f32.mlir
// F32: f32.mlir:5:8: remark[SPY0230]: f32 values are computed in the device's 16-bit format: the device has no 'tanh' in f32
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %exp = linalg.exp ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  %0 = linalg.tanh ins(%exp : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
