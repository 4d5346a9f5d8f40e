// Slices with strides, written over a number and over a tensor; and a kernel read backwards in two dimensions, as transposed convolutions do.
// RUN: rm -rf %t && spyre-compile %s -o %t --validate > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func @strided_slices(%x: tensor<2x4x3x64xf16>, %y: tensor<2x9x7x64xf16>, %k: tensor<3x4x64xf16>) -> (tensor<2x9x7x64xf16>, tensor<2x9x7x64xf16>, tensor<3x4x64xf16>) {
  %z = arith.constant 0.5 : f16
  %e = tensor.empty() : tensor<2x9x7x64xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<2x9x7x64xf16>) -> tensor<2x9x7x64xf16>
  %a = tensor.insert_slice %x into %f[0, 1, 0, 0] [2, 4, 3, 64] [1, 2, 3, 1] : tensor<2x4x3x64xf16> into tensor<2x9x7x64xf16>
  %b = tensor.insert_slice %x into %y[0, 1, 0, 0] [2, 4, 3, 64] [1, 2, 3, 1] : tensor<2x4x3x64xf16> into tensor<2x9x7x64xf16>
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %shape = tensor.empty() : tensor<3x4x64xf16>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%shape : tensor<3x4x64xf16>) {
  ^bb0(%out: f16):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = linalg.index 2 : index
    %3 = arith.subi %two, %0 : index
    %4 = arith.subi %three, %1 : index
    %element = tensor.extract %k[%3, %4, %2] : tensor<3x4x64xf16>
    linalg.yield %element : f16
  } -> tensor<3x4x64xf16>
  return %a, %b, %c : tensor<2x9x7x64xf16>, tensor<2x9x7x64xf16>, tensor<3x4x64xf16>
}
