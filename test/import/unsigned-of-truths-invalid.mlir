// A truth value with a sign is -1, which is a large unsigned number: a negation that undoes the sign does not undo the condition on the operand.
// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

#map = affine_map<(d0) -> (d0)>
func.func @ceiling(%x: tensor<65xf32>, %truth: tensor<65xi1>) -> tensor<65xf32> {
  %e = tensor.empty() : tensor<65xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %truth : tensor<65xf32>, tensor<65xi1>) outs(%e : tensor<65xf32>) {
  ^bb0(%a: f32, %t: i1, %o: f32):
    // expected-error @+1 {{requires nonnegative integers for unsigned arithmetic, found integers that may be negative}}
    %signed = arith.extsi %t : i1 to i8
    %three = arith.constant 3 : i8
    %quotient = arith.ceildivui %signed, %three : i8
    %number = arith.sitofp %quotient : i8 to f32
    %sum = arith.addf %a, %number : f32
    linalg.yield %sum : f32
  } -> tensor<65xf32>
  return %r : tensor<65xf32>
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @negative(%x: tensor<65xf32>, %truth: tensor<65xi1>) -> tensor<65xf32> {
  %e = tensor.empty() : tensor<65xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %truth : tensor<65xf32>, tensor<65xi1>) outs(%e : tensor<65xf32>) {
  ^bb0(%a: f32, %t: i1, %o: f32):
    // expected-error @+1 {{requires nonnegative integers for unsigned arithmetic, found integers that may be negative}}
    %signed = arith.extsi %t : i1 to i16
    %wide = arith.extui %signed : i16 to i32
    %zero = arith.constant 0 : i32
    %negative = arith.subi %zero, %wide : i32
    %number = arith.sitofp %negative : i32 to f32
    %sum = arith.addf %a, %number : f32
    linalg.yield %sum : f32
  } -> tensor<65xf32>
  return %r : tensor<65xf32>
}
