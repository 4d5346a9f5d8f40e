// A gather from a table that repeats one row, or one number: behind its view it has fewer dimensions, and the bound on bytes counts rows of the table.
// RUN: spyre-compile %s -o %t | FileCheck %s
// CHECK: HBM traffic {{.*}}lower bound
func.func @rows(%row: tensor<64xf16>, %number: tensor<f16>, %at: tensor<8xi32>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %table = spyre.view %row by affine_map<(i, j) -> (j)> : tensor<64xf16> -> tensor<16x64xf16>
  %rows = spyre.gather(%table, %at) dim 0 : (tensor<16x64xf16>, tensor<8xi32>) -> tensor<8x64xf16>
  %same = spyre.view %number by affine_map<(i, j) -> ()> : tensor<f16> -> tensor<16x64xf16>
  %numbers = spyre.gather(%same, %at) dim 0 : (tensor<16x64xf16>, tensor<8xi32>) -> tensor<8x64xf16>
  return %rows, %numbers : tensor<8x64xf16>, tensor<8x64xf16>
}
