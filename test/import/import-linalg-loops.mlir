// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize %s | FileCheck %s

// A loop is what its iterations are, one after the other; the counter is a number, and so are its slices.
// CHECK-LABEL: func.func @steps(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: tensor<3x8x64xf16>, [[H:%[a-z0-9]+]]: tensor<8x64xf16>
// CHECK:         [[ALL:%.+]] = spyre.insert {{.*}} at [1, 0, 0]
// CHECK:         [[PART:%.+]] = spyre.view [[X]]
// CHECK-NEXT:    [[ONE:%.+]] = spyre.pointwise maximum([[H]], [[PART]])
// CHECK:         [[SO_FAR:%.+]] = spyre.insert {{.*}} into [[ALL]] at [0, 0, 0]
// CHECK:         [[TWO:%.+]] = spyre.pointwise neg([[ONE]])
// CHECK:         spyre.insert {{.*}} into [[SO_FAR]] at [2, 0, 0]
// CHECK-NOT:     scf
// CHECK:         return
func.func @steps(%x: tensor<3x8x64xf16>, %h: tensor<8x64xf16>) -> tensor<3x8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %second = arith.constant dense<1.0> : tensor<8x64xf16>
  %memory = tensor.empty() : tensor<3x8x64xf16>
  %start = tensor.insert_slice %second into %memory[1, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf16> into tensor<3x8x64xf16>
  %last:2 = scf.for %i = %c0 to %c3 step %c2 iter_args(%so_far = %h, %all = %start) -> (tensor<8x64xf16>, tensor<3x8x64xf16>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<3x8x64xf16> to tensor<8x64xf16>
    %is_first = arith.cmpi eq, %i, %c0 : index
    %next = scf.if %is_first -> tensor<8x64xf16> {
      %larger = arith.maximumf %so_far, %part : tensor<8x64xf16>
      scf.yield %larger : tensor<8x64xf16>
    } else {
      %negative = arith.negf %so_far : tensor<8x64xf16>
      scf.yield %negative : tensor<8x64xf16>
    }
    %more = tensor.insert_slice %next into %all[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf16> into tensor<3x8x64xf16>
    scf.yield %next, %more : tensor<8x64xf16>, tensor<3x8x64xf16>
  }
  return %last#1 : tensor<3x8x64xf16>
}

// -----

// A loop that is not entered, and one whose condition is computed: three times.
// CHECK-LABEL: func.func @conditions(
// CHECK-COUNT-3: spyre.pointwise exp
// CHECK-NOT:     spyre.pointwise
func.func @conditions(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %two = arith.constant 2 : i32
  %none = scf.for %i = %c1 to %c0 step %c1 iter_args(%so_far = %x) -> tensor<8x64xf16> {
    %negative = arith.negf %so_far : tensor<8x64xf16>
    scf.yield %negative : tensor<8x64xf16>
  }
  %last:2 = scf.while (%left = %seven, %so_far = %none) : (i32, tensor<8x64xf16>) -> (i32, tensor<8x64xf16>) {
    %goes_on = arith.cmpi sge, %left, %two : i32
    scf.condition(%goes_on) %left, %so_far : i32, tensor<8x64xf16>
  } do {
  ^bb0(%left: i32, %so_far: tensor<8x64xf16>):
    %fewer = arith.subi %left, %two : i32
    %next = math.exp %so_far : tensor<8x64xf16>
    scf.yield %fewer, %next : i32, tensor<8x64xf16>
  }
  return %last#1 : tensor<8x64xf16>
}
