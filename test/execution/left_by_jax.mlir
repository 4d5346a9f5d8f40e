// Ops that JAX leaves in programs: a scatter-add of rows with duplicate indices, a scatter of one element per row, a sort with positions by
// the bits of floats, a while loop that is unrolled, a runtime choice among three, a reversed tensor, and unsigned divisions.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned --validate > %t.log && spyre-run %t/planned --wipe-lx --check %s | FileCheck %s
// RUN: spyre-run %t/planned --draw ties --seed 5 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 --lx-planner none > %t.log && spyre-run %t/three --seed 3 --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct
// CHECK: result5: correct
// CHECK: result6: correct
// CHECK: result7: correct
#one = affine_map<() -> ()>
#row = affine_map<(d0, d1) -> (d0, d1)>
#back = affine_map<(d0, d1) -> (8 - d0, 69 - d1)>
func.func @left(%x: tensor<9x70xf16>, %places: tensor<5x1xi32>, %rows: tensor<5x70xf16>, %columns: tensor<9x1xi32>, %elements: tensor<9xf16>,
                %which: tensor<i32>, %n: tensor<9x70xui32>)
    -> (tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xi32>, tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xui32>) {
  %added = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%old: tensor<f16>, %new: tensor<f16>):
    %sum = arith.addf %old, %new : tensor<f16>
    stablehlo.return %sum : tensor<f16>
  }) : (tensor<9x70xf16>, tensor<5x1xi32>, tensor<5x70xf16>) -> tensor<9x70xf16>
  %set = "stablehlo.scatter"(%x, %columns, %elements) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%old: tensor<f16>, %new: tensor<f16>):
    stablehlo.return %new : tensor<f16>
  }) : (tensor<9x70xf16>, tensor<9x1xi32>, tensor<9xf16>) -> tensor<9x70xf16>

  %zero = arith.constant 0.0 : f16
  %none = arith.constant 0 : i16
  %most = arith.constant 32767 : i16
  %shape = tensor.empty() : tensor<9x70xi32>
  %count = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<9x70xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %m = arith.index_cast %i : index to i32
    linalg.yield %m : i32
  } -> tensor<9x70xi32>
  %sorted:2 = "stablehlo.sort"(%x, %count) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>, %c: tensor<i32>, %d: tensor<i32>):
    %truth = tensor.empty() : tensor<i1>
    %before = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = []} ins(%a, %b : tensor<f16>, tensor<f16>) outs(%truth : tensor<i1>) {
    ^bb0(%p: f16, %q: f16, %out: i1):
      %z0 = arith.cmpf oeq, %p, %zero : f16
      %s0 = arith.select %z0, %zero, %p : f16
      %b0 = arith.bitcast %s0 : f16 to i16
      %m0 = arith.cmpi slt, %b0, %none : i16
      %r0 = arith.subi %most, %b0 : i16
      %k0 = arith.select %m0, %r0, %b0 : i16
      %z1 = arith.cmpf oeq, %q, %zero : f16
      %s1 = arith.select %z1, %zero, %q : f16
      %b1 = arith.bitcast %s1 : f16 to i16
      %m1 = arith.cmpi slt, %b1, %none : i16
      %r1 = arith.subi %most, %b1 : i16
      %k1 = arith.select %m1, %r1, %b1 : i16
      %is = arith.cmpi slt, %k0, %k1 : i16
      linalg.yield %is : i1
    } -> tensor<i1>
    stablehlo.return %before : tensor<i1>
  }) : (tensor<9x70xf16>, tensor<9x70xi32>) -> (tensor<9x70xf16>, tensor<9x70xi32>)

  %first = arith.constant dense<0> : tensor<i32>
  %step = arith.constant dense<2> : tensor<i32>
  %end = arith.constant dense<5> : tensor<i32>
  %halves = arith.constant dense<0.5> : tensor<9x70xf16>
  %loop:2 = stablehlo.while(%i = %first, %carried = %x) : tensor<i32>, tensor<9x70xf16>
  cond {
    %goes_on = arith.cmpi slt, %i, %end : tensor<i32>
    stablehlo.return %goes_on : tensor<i1>
  } do {
    %next = arith.addi %i, %step : tensor<i32>
    %tanh = math.tanh %carried : tensor<9x70xf16>
    %half = arith.mulf %tanh, %halves : tensor<9x70xf16>
    stablehlo.return %next, %half : tensor<i32>, tensor<9x70xf16>
  }
  %chosen = "stablehlo.case"(%which) ({
    %a = arith.addf %x, %x : tensor<9x70xf16>
    stablehlo.return %a : tensor<9x70xf16>
  }, {
    stablehlo.return %x : tensor<9x70xf16>
  }, {
    %b = math.exp %x : tensor<9x70xf16>
    stablehlo.return %b : tensor<9x70xf16>
  }) : (tensor<i32>) -> tensor<9x70xf16>
  %halfs = tensor.empty() : tensor<9x70xf16>
  %backwards = linalg.generic {indexing_maps = [#back, #row], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<9x70xf16>) outs(%halfs : tensor<9x70xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<9x70xf16>
  %numbers = builtin.unrealized_conversion_cast %n : tensor<9x70xui32> to tensor<9x70xi32>
  %sevens = arith.constant dense<7> : tensor<9x70xi32>
  %quotient = arith.divui %numbers, %sevens : tensor<9x70xi32>
  %q = builtin.unrealized_conversion_cast %quotient : tensor<9x70xi32> to tensor<9x70xui32>
  return %added, %set, %sorted#0, %sorted#1, %loop#1, %chosen, %backwards, %q
      : tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xi32>, tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xf16>, tensor<9x70xui32>
}
