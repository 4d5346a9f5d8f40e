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

// -----

// Each value is looked at once: there are 2^40 ways from the conversion to the view.
// CHECK-LABEL: func.func @repeated_squares(
func.func @repeated_squares(%x: tensor<4x1xf16>) -> tensor<4x64xf32> {
  %0 = spyre.view %x by affine_map<(i, j) -> (i, 0)> : tensor<4x1xf16> -> tensor<4x64xf16>
  %1 = spyre.pointwise mul(%0, %0) : tensor<4x64xf16>
  %2 = spyre.pointwise mul(%1, %1) : tensor<4x64xf16>
  %3 = spyre.pointwise mul(%2, %2) : tensor<4x64xf16>
  %4 = spyre.pointwise mul(%3, %3) : tensor<4x64xf16>
  %5 = spyre.pointwise mul(%4, %4) : tensor<4x64xf16>
  %6 = spyre.pointwise mul(%5, %5) : tensor<4x64xf16>
  %7 = spyre.pointwise mul(%6, %6) : tensor<4x64xf16>
  %8 = spyre.pointwise mul(%7, %7) : tensor<4x64xf16>
  %9 = spyre.pointwise mul(%8, %8) : tensor<4x64xf16>
  %10 = spyre.pointwise mul(%9, %9) : tensor<4x64xf16>
  %11 = spyre.pointwise mul(%10, %10) : tensor<4x64xf16>
  %12 = spyre.pointwise mul(%11, %11) : tensor<4x64xf16>
  %13 = spyre.pointwise mul(%12, %12) : tensor<4x64xf16>
  %14 = spyre.pointwise mul(%13, %13) : tensor<4x64xf16>
  %15 = spyre.pointwise mul(%14, %14) : tensor<4x64xf16>
  %16 = spyre.pointwise mul(%15, %15) : tensor<4x64xf16>
  %17 = spyre.pointwise mul(%16, %16) : tensor<4x64xf16>
  %18 = spyre.pointwise mul(%17, %17) : tensor<4x64xf16>
  %19 = spyre.pointwise mul(%18, %18) : tensor<4x64xf16>
  %20 = spyre.pointwise mul(%19, %19) : tensor<4x64xf16>
  %21 = spyre.pointwise mul(%20, %20) : tensor<4x64xf16>
  %22 = spyre.pointwise mul(%21, %21) : tensor<4x64xf16>
  %23 = spyre.pointwise mul(%22, %22) : tensor<4x64xf16>
  %24 = spyre.pointwise mul(%23, %23) : tensor<4x64xf16>
  %25 = spyre.pointwise mul(%24, %24) : tensor<4x64xf16>
  %26 = spyre.pointwise mul(%25, %25) : tensor<4x64xf16>
  %27 = spyre.pointwise mul(%26, %26) : tensor<4x64xf16>
  %28 = spyre.pointwise mul(%27, %27) : tensor<4x64xf16>
  %29 = spyre.pointwise mul(%28, %28) : tensor<4x64xf16>
  %30 = spyre.pointwise mul(%29, %29) : tensor<4x64xf16>
  %31 = spyre.pointwise mul(%30, %30) : tensor<4x64xf16>
  %32 = spyre.pointwise mul(%31, %31) : tensor<4x64xf16>
  %33 = spyre.pointwise mul(%32, %32) : tensor<4x64xf16>
  %34 = spyre.pointwise mul(%33, %33) : tensor<4x64xf16>
  %35 = spyre.pointwise mul(%34, %34) : tensor<4x64xf16>
  %36 = spyre.pointwise mul(%35, %35) : tensor<4x64xf16>
  %37 = spyre.pointwise mul(%36, %36) : tensor<4x64xf16>
  %38 = spyre.pointwise mul(%37, %37) : tensor<4x64xf16>
  %39 = spyre.pointwise mul(%38, %38) : tensor<4x64xf16>
  %40 = spyre.pointwise mul(%39, %39) : tensor<4x64xf16>
  %y = spyre.pointwise dl16tofp32(%40) : (tensor<4x64xf16>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}
