// f32 programs that are computed in the 16-bit format, whose results are copies: they lie in the format that they were computed in.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/twice.mlir -o %t/twice > %t/log && spyre-run %t/twice --check %t/twice.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %t/last.mlir -o %t/last > %t/log && spyre-run %t/last --check %t/last.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %t/last.mlir -o %t/baked --addresses baked > %t/log && spyre-run %t/baked --check %t/last.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %t/turned.mlir -o %t/turned > %t/log && spyre-run %t/turned --check %t/turned.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %t/heads.mlir -o %t/heads --cores 3 > %t/log && spyre-run %t/heads --check %t/heads.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %t/passed.mlir -o %t/passed > %t/log && spyre-run %t/passed --check %t/passed.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %t/given.mlir -o %t/given > %t/log && spyre-run %t/given --check %t/given.mlir | FileCheck %s --check-prefix=TWO
// RUN: spyre-compile %t/repeated.mlir -o %t/repeated > %t/log && spyre-run %t/repeated --check %t/repeated.mlir | FileCheck %s --check-prefix=TWO

// TWO-COUNT-2: correct

//--- twice.mlir
func.func @twice(%x: tensor<64x96xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  %empty = tensor.empty() : tensor<64x96xf32>
  %y = linalg.tanh ins(%x : tensor<64x96xf32>) outs(%empty : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %y, %y : tensor<64x96xf32>, tensor<64x96xf32>
}

//--- last.mlir
// The last 2 of 32 maxima.
func.func @last(%x: tensor<32x32xf32>) -> (tensor<2xf32>, tensor<32x32xf32>) {
  %low = arith.constant dense<0xFF800000> : tensor<32xf32>
  %maxima = linalg.reduce { arith.maximumf } ins(%x : tensor<32x32xf32>) outs(%low : tensor<32xf32>) dimensions = [1]
  %last = tensor.extract_slice %maxima[30] [2] [1] : tensor<32xf32> to tensor<2xf32>
  %empty = tensor.empty() : tensor<32x32xf32>
  %y = linalg.tanh ins(%x : tensor<32x32xf32>) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %last, %y : tensor<2xf32>, tensor<32x32xf32>
}

//--- turned.mlir
func.func @turned(%x: tensor<64x128xf32>, %y: tensor<128x32xf32>) -> (tensor<32x64xf32>, tensor<1x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %product = linalg.matmul ins(%x, %y : tensor<64x128xf32>, tensor<128x32xf32>) outs(%zero : tensor<64x32xf32>) -> tensor<64x32xf32>
  %empty = tensor.empty() : tensor<32x64xf32>
  %turned = linalg.transpose ins(%product : tensor<64x32xf32>) outs(%empty : tensor<32x64xf32>) permutation = [1, 0]
  %row = tensor.extract_slice %product[63, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
  return %turned, %row : tensor<32x64xf32>, tensor<1x32xf32>
}

//--- heads.mlir
func.func @heads(%x: tensor<64x128xf32>, %y: tensor<128x128xf32>) -> (tensor<2x64x64xf32>, tensor<64x2x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %product = linalg.matmul ins(%x, %y : tensor<64x128xf32>, tensor<128x128xf32>) outs(%zero : tensor<64x128xf32>) -> tensor<64x128xf32>
  %heads = tensor.expand_shape %product [[0], [1, 2]] output_shape [64, 2, 64] : tensor<64x128xf32> into tensor<64x2x64xf32>
  %empty = tensor.empty() : tensor<2x64x64xf32>
  %turned = linalg.transpose ins(%heads : tensor<64x2x64xf32>) outs(%empty : tensor<2x64x64xf32>) permutation = [1, 0, 2]
  return %turned, %heads : tensor<2x64x64xf32>, tensor<64x2x64xf32>
}

//--- passed.mlir
// An argument that an op reads in the 16-bit format is returned as it is.
func.func @passed(%x: tensor<64x96xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  %empty = tensor.empty() : tensor<64x96xf32>
  %y = linalg.tanh ins(%x : tensor<64x96xf32>) outs(%empty : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %x, %y : tensor<64x96xf32>, tensor<64x96xf32>
}

//--- given.mlir
// A constant that is computed with and returned.
func.func @given(%x: tensor<2x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<2x64xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<2x64xf32>
  %bias = arith.constant dense<-1.75> : tensor<64xf32>
  %product = linalg.matmul ins(%x, %w : tensor<2x64xf32>, tensor<64x64xf32>) outs(%zeros : tensor<2x64xf32>) -> tensor<2x64xf32>
  %empty = tensor.empty() : tensor<2x64xf32>
  %rows = linalg.broadcast ins(%bias : tensor<64xf32>) outs(%empty : tensor<2x64xf32>) dimensions = [0]
  %scaled = linalg.mul ins(%product, %rows : tensor<2x64xf32>, tensor<2x64xf32>) outs(%empty : tensor<2x64xf32>) -> tensor<2x64xf32>
  return %bias, %scaled : tensor<64xf32>, tensor<2x64xf32>
}

//--- repeated.mlir
// An argument that a scope repeats and gives as f32, and that an op behind it reads in the 16-bit format, padded.
#x = affine_map<(i, j, k, l) -> (i, j, l)>
#repeated = affine_map<(i, j, k, l) -> (l, k)>
#product = affine_map<(i, j, k, l) -> (i, j, k)>
func.func @repeated(%x: tensor<2x64x32xf32> {spyre.dims = ["N", "M", "K"]}, %number: tensor<f32>) -> (tensor<2x64x31xf32>, tensor<2x64x32xf32>) {
  %shape = tensor.empty() : tensor<32x31xf32>
  %empty = tensor.empty() : tensor<2x64x32xf32>
  %y, %repeated = spyre.hint tiles(N = 2) {
    %neg = linalg.negf ins(%x : tensor<2x64x32xf32>) outs(%empty : tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
    %repeated = linalg.broadcast ins(%number : tensor<f32>) outs(%shape : tensor<32x31xf32>) dimensions = [0, 1]
    spyre.yield %neg, %repeated : tensor<2x64x32xf32>, tensor<32x31xf32>
  }
  %zero = arith.constant dense<0.0> : tensor<2x64x31xf32>
  %product = linalg.generic {indexing_maps = [#x, #repeated, #product], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%y, %repeated : tensor<2x64x32xf32>, tensor<32x31xf32>) outs(%zero : tensor<2x64x31xf32>) {
  ^bb0(%left: f32, %right: f32, %out: f32):
    %part = arith.mulf %left, %right : f32
    %sum = arith.addf %part, %out : f32
    linalg.yield %sum : f32
  } -> tensor<2x64x31xf32>
  return %product, %y : tensor<2x64x31xf32>, tensor<2x64x32xf32>
}
