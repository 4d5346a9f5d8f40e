// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// The device cannot check assertions about data: they become warnings.

// CHECK-LABEL: func.func @about_an_argument
// CHECK-NOT: cf.assert
// CHECK: return
func.func @about_an_argument(%x: tensor<8xf16>, %flag: tensor<i1>) -> tensor<8xf16> {
  %holds = tensor.extract %flag[] : tensor<i1>
  // expected-warning @+1 {{'cf.assert' op is not checked, because the device cannot stop a program; results are undefined where "of data" fails}}
  cf.assert %holds, "of data"
  return %x : tensor<8xf16>
}

// -----

// The assertion (below -4) excludes 0 and 1, which integer arguments must be able to have.

// CHECK-LABEL: func.func @about_integers
// CHECK-NOT: cf.assert
// CHECK: return
#same = affine_map<(d0) -> (d0)>
func.func @about_integers(%x: tensor<8xf16>, %rows: tensor<8xi64>) -> tensor<8xf16> {
  %limit = arith.constant -4 : i64
  %shape = tensor.empty() : tensor<8xf16>
  %y = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%x, %rows : tensor<8xf16>, tensor<8xi64>) outs(%shape : tensor<8xf16>) {
  ^bb0(%in: f16, %row: i64, %out: f16):
    %fits = arith.cmpi slt, %row, %limit : i64
    // expected-warning @+1 {{'cf.assert' op is not checked}}
    cf.assert %fits, "of rows"
    linalg.yield %in : f16
  } -> tensor<8xf16>
  return %y : tensor<8xf16>
}

// -----

// As torch-mlir writes 1/x.

// CHECK-LABEL: func.func @reciprocal
// CHECK: spyre.pointwise reciprocal
#same = affine_map<(d0) -> (d0)>
func.func @reciprocal(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %shape = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%shape : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %fits = arith.cmpf one, %in, %zero : f32
    // expected-warning @+1 {{'cf.assert' op is not checked, because the device cannot stop a program; results are undefined where "unimplemented: tensor with zero element" fails}}
    cf.assert %fits, "unimplemented: tensor with zero element"
    %inverse = arith.divf %one, %in : f32
    linalg.yield %inverse : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
