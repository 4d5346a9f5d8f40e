// RUN: spyre-opt --split-input-file --spyre-select-program %s | FileCheck %s

// Empty inputs of a concatenation are removed.

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:      [[X:%.+]]: tensor<4x64xf16>)
// CHECK-NEXT:    [[TWICE:%.+]] = tensor.concat dim(1) [[X]], [[X]]
// CHECK-NEXT:    return [[X]], [[TWICE]]
func.func @parts(%x: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<4x128xf16>) {
  %none = tensor.extract_slice %x[0, 0] [4, 0] [1, 1] : tensor<4x64xf16> to tensor<4x0xf16>
  %one = tensor.concat dim(1) %x, %none : (tensor<4x64xf16>, tensor<4x0xf16>) -> tensor<4x64xf16>
  %two = tensor.concat dim(1) %x, %none, %x : (tensor<4x64xf16>, tensor<4x0xf16>, tensor<4x64xf16>) -> tensor<4x128xf16>
  return %one, %two : tensor<4x64xf16>, tensor<4x128xf16>
}

// -----

// An insert of an empty slice has no effect, and the sum of an empty tensor is its initial value.

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:      [[X:%.+]]: tensor<4x64xf16>, [[START:%.+]]: tensor<4xf16>)
// CHECK-NEXT:    return [[X]], [[START]]
func.func @nothing(%x: tensor<4x64xf16>, %start: tensor<4xf16>) -> (tensor<4x64xf16>, tensor<4xf16>) {
  %none = tensor.extract_slice %x[0, 0] [4, 0] [1, 1] : tensor<4x64xf16> to tensor<4x0xf16>
  %whole = tensor.insert_slice %none into %x[0, 7] [4, 0] [1, 1] : tensor<4x0xf16> into tensor<4x64xf16>
  %sum = linalg.reduce { arith.addf } ins(%none : tensor<4x0xf16>) outs(%start : tensor<4xf16>) dimensions = [1]
  return %whole, %sum : tensor<4x64xf16>, tensor<4xf16>
}

// -----

// An empty argument becomes an unused argument of one element.

// CHECK-LABEL: func.func @cache(
// CHECK-SAME:      %arg0: tensor<1xf16> {spyre.shape = array<i64: 1, 4, 0, 64>}, [[X:%.+]]: tensor<1x4x3x64xf16>)
// CHECK-NEXT:    return [[X]] : tensor<1x4x3x64xf16>
func.func @cache(%past: tensor<1x4x0x64xf16>, %x: tensor<1x4x3x64xf16>) -> tensor<1x4x3x64xf16> {
  %all = tensor.concat dim(2) %past, %x : (tensor<1x4x0x64xf16>, tensor<1x4x3x64xf16>) -> tensor<1x4x3x64xf16>
  return %all : tensor<1x4x3x64xf16>
}

// -----

// An empty result becomes a zero of one element.

// CHECK-LABEL: func.func @rest(
// CHECK-SAME:      [[X:%.+]]: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<1xf16> {spyre.shape = array<i64: 0, 64>}, tensor<1xi64> {spyre.shape = array<i64: 2, 0>})
// CHECK-DAG:     [[NONE:%.+]] = arith.constant dense<0.000000e+00> : tensor<1xf16>
// CHECK-DAG:     [[NOTHING:%.+]] = arith.constant dense<0> : tensor<1xi64>
// CHECK:         return [[X]], [[NONE]], [[NOTHING]]
func.func @rest(%x: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<0x64xf16>, tensor<2x0xi64>) {
  %rest = tensor.extract_slice %x[0, 0] [0, 64] [1, 1] : tensor<4x64xf16> to tensor<0x64xf16>
  %none = arith.constant dense<> : tensor<2x0xi64>
  return %x, %rest, %none : tensor<4x64xf16>, tensor<0x64xf16>, tensor<2x0xi64>
}
