// RUN: spyre-opt --split-input-file --spyre-check-input --mlir-print-local-scope %s | FileCheck %s

// The pass changes nothing. Names that later passes know are left alone, also in helper functions that a program calls, which may have
// numbers as arguments.
// CHECK-LABEL: func.func @named_ops_and_calls(
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    call @scaled
// CHECK-NEXT:    linalg.softmax
// CHECK-NEXT:    return
// CHECK:       func.func private @scaled(
func.func @named_ops_and_calls(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %shape = tensor.empty() : tensor<8x64xf16>
  %two = arith.constant 2.0 : f16
  %exp = linalg.exp ins(%x : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  %scaled = call @scaled(%exp, %two) : (tensor<8x64xf16>, f16) -> tensor<8x64xf16>
  %softmax = linalg.softmax dimension(1) ins(%scaled : tensor<8x64xf16>) outs(%shape : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %softmax : tensor<8x64xf16>
}
func.func private @scaled(%x: tensor<8x64xf16>, %factor: f16) -> tensor<8x64xf16> {
  %splat = tensor.splat %factor : tensor<8x64xf16>
  %y = arith.mulf %x, %splat : tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// Bodies are left to the import, which refuses only what a result needs: branches may be choices, and nobody may need a cosine.
// CHECK-LABEL: func.func @bodies(
// CHECK:         scf.if
// CHECK:         math.cos
// CHECK:         spyre.pointwise exp
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @bodies(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c4 = arith.constant 4 : index
  %shape = tensor.empty() : tensor<8x64xf16>
  %y:2 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf16>) outs(%shape, %shape : tensor<8x64xf16>, tensor<8x64xf16>) {
  ^bb0(%in: f16, %out: f16, %out1: f16):
    %row = linalg.index 0 : index
    %is_first = arith.cmpi ult, %row, %c4 : index
    %chosen = scf.if %is_first -> f16 {
      scf.yield %in : f16
    } else {
      %negative = arith.negf %in : f16
      scf.yield %negative : f16
    }
    %cosine = math.cos %in : f16
    linalg.yield %chosen, %cosine : f16, f16
  } -> (tensor<8x64xf16>, tensor<8x64xf16>)
  %z = spyre.pointwise exp(%y#0) : tensor<8x64xf16>
  return %z : tensor<8x64xf16>
}

// -----

// Conversions of equal elements along the last dimension: of views, and of parts.
// CHECK-LABEL: func.func @conversions(
func.func @conversions(%x: tensor<4x1xf32>, %y: tensor<8xf16>) -> (tensor<4x64xf16>, tensor<6x64xf32>) {
  %all = spyre.view %x by affine_map<(i, j) -> (i, 0)> : tensor<4x1xf32> -> tensor<4x64xf32>
  %a = spyre.pointwise neg(%all) : tensor<4x64xf32>
  %narrow = spyre.pointwise fp32todl16(%a) : (tensor<4x64xf32>) -> tensor<4x64xf16>
  %lanes = spyre.view %y by affine_map<(i, j) -> (i)> : tensor<8xf16> -> tensor<8x64xf16>
  %rows = spyre.view %lanes by affine_map<(i, j) -> (i + 2, j)> : tensor<8x64xf16> -> tensor<6x64xf16>
  %b = spyre.pointwise neg(%rows) : tensor<6x64xf16>
  %wide = spyre.pointwise dl16tofp32(%b) : (tensor<6x64xf16>) -> tensor<6x64xf32>
  return %narrow, %wide : tensor<4x64xf16>, tensor<6x64xf32>
}
