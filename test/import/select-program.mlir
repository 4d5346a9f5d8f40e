// RUN: spyre-opt --spyre-select-program="entry=main" %s | FileCheck %s
// RUN: spyre-opt --spyre-select-program="entry=other dim-size=arg0.0=3,L=7" %s | FileCheck %s --check-prefix=OTHER
// RUN: spyre-opt --spyre-select-program="entry=other dim-size=arg0.0=96:32,L=7" %s | FileCheck %s --check-prefix=SYMBOLIC

// A symbolic size has its maximum in the type, and is recorded as an attribute.
// SYMBOLIC-LABEL: func.func @other(
// SYMBOLIC-SAME:      tensor<96x7xf16> {spyre.dims = ["B", "L"], spyre.symbolic = ["arg0.0", ""]}
// SYMBOLIC-SAME:      attributes {spyre.granularities = {arg0.0 = 32 : i64}} {

// Functions that the entry calls are kept and become private; the others are dropped, even if they are invalid.

// CHECK-NOT:   @other
// CHECK-NOT:   @forgotten
// CHECK:       func.func private @helper(
// CHECK:       func.func @main(
// CHECK:         call @helper(
// CHECK-NOT:   func.func

// OTHER-NOT:   @main
// OTHER-LABEL: func.func @other(
// OTHER-SAME:      [[X:%.+]]: tensor<3x7xf16> {spyre.dims = ["B", "L"]}, [[Y:%.+]]: tensor<7xf16> {spyre.dims = ["L"]}) -> tensor<3x7xf16> {
// OTHER:         [[E:%.+]] = tensor.empty() : tensor<3x7xf16>
// OTHER:         [[S:%.+]] = linalg.generic {{.*}} ins([[X]], [[Y]] : tensor<3x7xf16>, tensor<7xf16>) outs([[E]] : tensor<3x7xf16>)
// OTHER:         return [[S]] : tensor<3x7xf16>
// OTHER-NOT:   ?

func.func @helper(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

func.func @forgotten(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = call @elsewhere(%x) : (tensor<8x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}
func.func private @elsewhere(tensor<8x64xf16>) -> tensor<8x64xf16>

func.func @main(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = call @helper(%x) : (tensor<8x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

func.func private @sum(%x: tensor<?x?xf16>, %y: tensor<?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf16>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf16>
  %others = tensor.dim %y, %c0 : tensor<?xf16>
  %fits = arith.cmpi eq, %columns, %others : index
  cf.assert %fits, "rows of one length"
  %e = tensor.empty(%rows, %columns) : tensor<?x?xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<?x?xf16>, tensor<?xf16>) outs(%e : tensor<?x?xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %c = arith.addf %a, %b : f16
    linalg.yield %c : f16
  } -> tensor<?x?xf16>
  return %s : tensor<?x?xf16>
}

func.func @other(%x: tensor<?x?xf16> {spyre.dims = ["B", "L"]}, %y: tensor<?xf16> {spyre.dims = ["L"]}) -> tensor<?x?xf16> {
  %s = call @sum(%x, %y) : (tensor<?x?xf16>, tensor<?xf16>) -> tensor<?x?xf16>
  return %s : tensor<?x?xf16>
}
