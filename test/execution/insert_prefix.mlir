// Two tensors that begin with the same part: what neither has written yet is not copied from one to the other.
// RUN: spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK-COUNT-3: correct
func.func @insert_prefix(%x: tensor<64x128xf16>, %y: tensor<32x128xf16>, %z: tensor<32x128xf16>)
    -> (tensor<96x128xf16>, tensor<96x128xf16>, tensor<96x128xf16>) {
  %first = tensor.concat dim(0) %x, %y : (tensor<64x128xf16>, tensor<32x128xf16>) -> tensor<96x128xf16>
  %second = tensor.concat dim(0) %x, %z : (tensor<64x128xf16>, tensor<32x128xf16>) -> tensor<96x128xf16>
  %third = tensor.insert_slice %z into %first[8, 0] [32, 128] [1, 1] : tensor<32x128xf16> into tensor<96x128xf16>
  return %first, %second, %third : tensor<96x128xf16>, tensor<96x128xf16>, tensor<96x128xf16>
}
