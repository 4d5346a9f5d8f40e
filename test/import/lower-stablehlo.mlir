// RUN: spyre-opt --split-input-file --spyre-lower-stablehlo %s | FileCheck %s
// RUN: spyre-opt --split-input-file %s | spyre-opt --split-input-file --spyre-lower-stablehlo | FileCheck %s

// The passes of StableHLO have lowered everything to linalg except for the op itself, also in its region.

// CHECK-LABEL: func.func @added_rows(
// CHECK-SAME:    [[X:%.+]]: tensor<32x64xf16>, [[PLACES:%.+]]: tensor<3x1xi32>, [[ROWS:%.+]]: tensor<3x64xf16>)
// CHECK:         [[PARTS:%.+]] = tensor.expand_shape %{{.+}} output_shape [3, 1, 64]
// CHECK:         tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins([[PARTS]], [[PLACES]] : {{.+}}) outs([[X]] :
// CHECK-NEXT:    ^bb0([[NEW:%.+]]: f16, [[OLD:%.+]]: f16):
// CHECK-NEXT:      [[SUM:%.+]] = arith.addf [[OLD]], [[NEW]] : f16
// CHECK-NEXT:      tm_tensor.yield [[SUM]] : f16
#element = affine_map<() -> ()>
func.func @added_rows(%x: tensor<32x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>) -> tensor<32x64xf16> {
  %y = "stablehlo.scatter"(%x, %places, %rows) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%old: tensor<f16>, %new: tensor<f16>):
    %shape = tensor.empty() : tensor<f16>
    %sum = linalg.generic {indexing_maps = [#element, #element, #element], iterator_types = []} ins(%old, %new : tensor<f16>, tensor<f16>) outs(%shape : tensor<f16>) {
    ^bb0(%a: f16, %b: f16, %out: f16):
      %c = arith.addf %a, %b : f16
      linalg.yield %c : f16
    } -> tensor<f16>
    stablehlo.return %sum : tensor<f16>
  }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x64xf16>
  return %y : tensor<32x64xf16>
}

// -----

// Each row has its own index: the batching dimension becomes an index that counts rows.
// CHECK-LABEL: func.func @one_of_each_row(
// CHECK:         [[COUNT:%.+]] = linalg.generic
// CHECK:           linalg.index 0
// CHECK:         tensor.concat dim(1)
// CHECK:         tm_tensor.scatter {dimension_map = array<i64: 1, 0>} unique_indices(true)
func.func @one_of_each_row(%x: tensor<8x64xf16>, %places: tensor<8x1xi32>, %new: tensor<8xf16>) -> tensor<8x64xf16> {
  %y = "stablehlo.scatter"(%x, %places, %new) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%old: tensor<f16>, %element: tensor<f16>):
    stablehlo.return %element : tensor<f16>
  }) : (tensor<8x64xf16>, tensor<8x1xi32>, tensor<8xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// JAX compares the bits of floats, reversed for negative ones, with a single zero and a single NaN.
// CHECK-LABEL: func.func @sorted(
// CHECK:         tm_tensor.sort dimension(1) outs(%{{.+}}, %{{.+}} : tensor<4x50xf16>, tensor<4x50xi32>) {
// CHECK-NEXT:    ^bb0([[ONE:%.+]]: f16, [[OTHER:%.+]]: f16, %{{.+}}: i32, %{{.+}}: i32):
// CHECK-NEXT:      [[BEFORE:%.+]] = arith.cmpf olt, [[ONE]], [[OTHER]] : f16
// CHECK-NEXT:      tm_tensor.yield [[BEFORE]] : i1
func.func @sorted(%x: tensor<4x50xf16>, %i: tensor<4x50xi32>) -> (tensor<4x50xf16>, tensor<4x50xi32>) {
  %zero = arith.constant 0.0 : f16
  %nan = arith.constant 0x7E00 : f16
  %none = arith.constant 0 : i16
  %most = arith.constant 32767 : i16
  %y:2 = "stablehlo.sort"(%x, %i) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>, %c: tensor<i32>, %d: tensor<i32>):
    %shape = tensor.empty() : tensor<i1>
    %before = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
        ins(%a, %b : tensor<f16>, tensor<f16>) outs(%shape : tensor<i1>) {
    ^bb0(%one: f16, %other: f16, %out: i1):
      %z0 = arith.cmpf oeq, %one, %zero : f16
      %s0 = arith.select %z0, %zero, %one : f16
      %n0 = arith.cmpf une, %one, %one : f16
      %t0 = arith.select %n0, %nan, %s0 : f16
      %b0 = arith.bitcast %t0 : f16 to i16
      %m0 = arith.cmpi slt, %b0, %none : i16
      %r0 = arith.subi %most, %b0 : i16
      %k0 = arith.select %m0, %r0, %b0 : i16
      %z1 = arith.cmpf oeq, %other, %zero : f16
      %s1 = arith.select %z1, %zero, %other : f16
      %n1 = arith.cmpf une, %other, %other : f16
      %t1 = arith.select %n1, %nan, %s1 : f16
      %b1 = arith.bitcast %t1 : f16 to i16
      %m1 = arith.cmpi slt, %b1, %none : i16
      %r1 = arith.subi %most, %b1 : i16
      %k1 = arith.select %m1, %r1, %b1 : i16
      %is = arith.cmpi slt, %k0, %k1 : i16
      linalg.yield %is : i1
    } -> tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<4x50xf16>, tensor<4x50xi32>) -> (tensor<4x50xf16>, tensor<4x50xi32>)
  return %y#0, %y#1 : tensor<4x50xf16>, tensor<4x50xi32>
}

// -----

// A comparator that is no order of numbers is kept as written, and the import rejects it.
// CHECK-LABEL: func.func @by_two(
// CHECK:         tm_tensor.sort
// CHECK:           arith.cmpi slt
// CHECK:           arith.cmpi slt
// CHECK:           arith.ori
func.func @by_two(%x: tensor<50xi32>, %i: tensor<50xi32>) -> (tensor<50xi32>, tensor<50xi32>) {
  %y:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %first = arith.cmpi slt, %a, %b : tensor<i32>
    %second = arith.cmpi slt, %c, %d : tensor<i32>
    %before = arith.ori %first, %second : tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<50xi32>, tensor<50xi32>) -> (tensor<50xi32>, tensor<50xi32>)
  return %y#0, %y#1 : tensor<50xi32>, tensor<50xi32>
}

// -----

// CHECK-LABEL: func.func @again(
// CHECK:         scf.while ([[I:%.+]] = %{{.+}}, [[X:%.+]] = %{{.+}}) : (tensor<i32>, tensor<8x64xf16>) -> (tensor<i32>, tensor<8x64xf16>) {
// CHECK:           [[GOES_ON:%.+]] = tensor.extract %{{.+}}[] : tensor<i1>
// CHECK-NEXT:      scf.condition([[GOES_ON]]) [[I]], [[X]]
// CHECK:           scf.yield
func.func @again(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %end = arith.constant dense<5> : tensor<i32>
  %y:2 = stablehlo.while(%i = %zero, %carried = %x) : tensor<i32>, tensor<8x64xf16>
  cond {
    %goes_on = arith.cmpi slt, %i, %end : tensor<i32>
    stablehlo.return %goes_on : tensor<i1>
  } do {
    %next = arith.addi %i, %one : tensor<i32>
    %twice = arith.addf %carried, %carried : tensor<8x64xf16>
    stablehlo.return %next, %twice : tensor<i32>, tensor<8x64xf16>
  }
  return %y#1 : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @which(
// CHECK:         [[NUMBER:%.+]] = tensor.extract %{{.+}}[] : tensor<i32>
// CHECK:         arith.cmpi eq, [[NUMBER]], %{{.+}} : i32
// CHECK:         scf.if
// CHECK:         } else {
// CHECK:           scf.if
// CHECK:             math.exp
// CHECK:           } else {
// CHECK:             math.tanh
func.func @which(%n: tensor<i32>, %x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<8x64xf16>
  }, {
    %a = math.exp %x : tensor<8x64xf16>
    stablehlo.return %a : tensor<8x64xf16>
  }, {
    %b = math.tanh %x : tensor<8x64xf16>
    stablehlo.return %b : tensor<8x64xf16>
  }) : (tensor<i32>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// CHECK-LABEL: func.func @only(
// CHECK:         scf.execute_region
// CHECK-LABEL: func.func @either(
// CHECK:         scf.if
func.func @only(%n: tensor<i32>, %x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = "stablehlo.case"(%n) ({
    %a = math.exp %x : tensor<8x64xf16>
    stablehlo.return %a : tensor<8x64xf16>
  }) : (tensor<i32>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}
func.func @either(%is: tensor<i1>, %x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = "stablehlo.if"(%is) ({
    stablehlo.return %x : tensor<8x64xf16>
  }, {
    %a = math.exp %x : tensor<8x64xf16>
    stablehlo.return %a : tensor<8x64xf16>
  }) : (tensor<i1>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

// -----

// The sign of an integer is in the name of the operation.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME:    tensor<4xi32>
// CHECK-NOT:     unrealized_conversion_cast
// CHECK:         arith.divui
func.func @unsigned(%x: tensor<4xui32>, %y: tensor<4xi32>) -> tensor<4xui32> {
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xui32> to tensor<4xi32>
  %1 = arith.divui %0, %y : tensor<4xi32>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<4xi32> to tensor<4xui32>
  return %2 : tensor<4xui32>
}

// -----

// A single update that is larger than one row is a slice at a runtime offset.
// CHECK-LABEL: func.func @window(
// CHECK-SAME:    [[X:%.+]]: tensor<8x40xf16>, [[PLACE:%.+]]: tensor<1xi32>, [[PART:%.+]]: tensor<2x40xf16>)
// CHECK:         [[FIRST:%.+]] = tensor.extract
// CHECK:         [[AT:%.+]] = arith.index_cast [[FIRST]] : i32 to index
// CHECK:         [[OLD:%.+]] = tensor.extract_slice [[X]]{{.}}[[AT]], 0] [2, 40] [1, 1]
// CHECK:         [[NEW:%.+]] = linalg.generic {{.+}} ins([[OLD]], [[PART]] :
// CHECK:           arith.addf
// CHECK:         tensor.insert_slice [[NEW]] into [[X]]{{.}}[[AT]], 0] [2, 40] [1, 1]
func.func @window(%x: tensor<8x40xf16>, %place: tensor<1xi32>, %part: tensor<2x40xf16>) -> tensor<8x40xf16> {
  %y = "stablehlo.scatter"(%x, %place, %part) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f16>, %new: tensor<f16>):
    %sum = arith.addf %old, %new : tensor<f16>
    stablehlo.return %sum : tensor<f16>
  }) : (tensor<8x40xf16>, tensor<1xi32>, tensor<2x40xf16>) -> tensor<8x40xf16>
  return %y : tensor<8x40xf16>
}

// -----

// An order in which NaN comes first is kept as written, because no comparison has that order.
// CHECK-LABEL: func.func @nan_first(
// CHECK:         tm_tensor.sort
// CHECK:           arith.cmpf ult
func.func @nan_first(%x: tensor<50xf16>) -> tensor<50xf16> {
  %y = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %is_nan = arith.cmpf uno, %a, %a : tensor<f16>
    %is_less = arith.cmpf ult, %a, %b : tensor<f16>
    %is_number = arith.cmpf ord, %b, %b : tensor<f16>
    %before = arith.andi %is_less, %is_number : tensor<i1>
    %either = arith.ori %is_nan, %before : tensor<i1>
    stablehlo.return %either : tensor<i1>
  }) : (tensor<50xf16>) -> tensor<50xf16>
  return %y : tensor<50xf16>
}
