// RUN: spyre-opt --split-input-file --spyre-compile=compile-to=import --mlir-print-local-scope %s | FileCheck %s

// Branches without side effects are both computed, and the condition selects; also scalars, and nested branches.

// CHECK-LABEL: func.func @chosen(
// CHECK-SAME:      [[X:%.+]]: tensor<8x64xf16>, [[B:%.+]]: tensor<i1>)
// CHECK-DAG:     [[NEGATIVE:%.+]] = spyre.pointwise neg([[X]])
// CHECK-DAG:     [[TANH:%.+]] = spyre.pointwise tanh([[X]])
// CHECK:         [[Y:%.+]] = spyre.pointwise where3({{.+}}, [[TANH]], [[NEGATIVE]])
// CHECK:         return [[Y]]
func.func @chosen(%x: tensor<8x64xf16>, %b: i1) -> tensor<8x64xf16> {
  %y = scf.if %b -> tensor<8x64xf16> {
    %t = math.tanh %x : tensor<8x64xf16>
    scf.yield %t : tensor<8x64xf16>
  } else {
    %n = arith.negf %x : tensor<8x64xf16>
    scf.yield %n : tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// With a constant condition the other branch is not computed, also if it has side effects.

// CHECK-LABEL: func.func @known(
// CHECK-SAME:      [[X:%.+]]: tensor<8x64xf16>)
// CHECK-NEXT:    [[Y:%.+]] = spyre.pointwise tanh([[X]])
// CHECK-NEXT:    return [[Y]]
func.func @known(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %true = arith.constant true
  %y = scf.if %true -> tensor<8x64xf16> {
    %t = math.tanh %x : tensor<8x64xf16>
    scf.yield %t : tensor<8x64xf16>
  } else {
    %never = arith.constant false
    cf.assert %never, "never"
    scf.yield %x : tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// A condition that is folded at compile time counts as constant.

// CHECK-LABEL: func.func @computed(
// CHECK-SAME:      [[X:%.+]]: tensor<8x64xf16>)
// CHECK-NEXT:    [[Y:%.+]] = spyre.pointwise tanh([[X]])
// CHECK-NEXT:    return [[Y]]
func.func @computed(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %b = arith.cmpi slt, %c3, %c4 : i64
  %y = scf.if %b -> tensor<8x64xf16> {
    %t = math.tanh %x : tensor<8x64xf16>
    scf.yield %t : tensor<8x64xf16>
  } else {
    scf.yield %x : tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// One scalar condition selects between complete tensors.

// CHECK-LABEL: func.func @select(
// CHECK:         spyre.pointwise where3(
func.func @select(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>, %b: i1) -> tensor<8x64xf16> {
  %z = arith.select %b, %x, %y : tensor<8x64xf16>
  return %z : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @generated(
// CHECK:         spyre.pointwise add(
func.func @generated(%x: tensor<5x64xf16>) -> tensor<64x5xf16> {
  %t = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j, %i] : tensor<5x64xf16>
    %b = arith.addf %a, %a : f16
    tensor.yield %b : f16
  } : tensor<64x5xf16>
  return %t : tensor<64x5xf16>
}
