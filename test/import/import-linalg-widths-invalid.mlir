// Uses of values that are undefined in MLIR are errors, and so are runtime integers that may overflow their type.
// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

#id = affine_map<(d0) -> (d0)>
func.func @by_zero(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %ten = arith.constant 10 : index
    // expected-error @+1 {{divides an integer by 0, which has no result; select another divisor where it is 0}}
    %q = arith.divui %ten, %i : index
    %j = arith.index_cast %q : index to i32
    %f = arith.sitofp %j : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

func.func @beyond_the_width(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %one = arith.constant 1 : i16
  %bits = arith.constant 16 : i16
  // expected-error @+1 {{shifts an integer of 16 bits by 16, which has no result; shift by 0 to 15}}
  %k = arith.shli %one, %bits : i16
  %f = arith.sitofp %k : i16 to f32
  %s = tensor.splat %f : tensor<4x64xf32>
  %y = linalg.add ins(%x, %s : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

func.func @quotient_of_the_smallest(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %smallest = arith.constant -128 : i8
  %minus = arith.constant -1 : i8
  // expected-error @+1 {{divides the smallest integer of its type by -1, which has no result; select another divisor there}}
  %k = arith.divsi %smallest, %minus : i8
  %f = arith.sitofp %k : i8 to f32
  %s = tensor.splat %f : tensor<4x64xf32>
  %y = linalg.add ins(%x, %s : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

func.func @no_such_integer(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %large = arith.constant 300.0 : f32
  // expected-error @+1 {{converts a number that is out of range to an integer of 8 bits, which has no result; clamp the number first}}
  %k = arith.fptosi %large : f32 to i8
  %f = arith.sitofp %k : i8 to f32
  %s = tensor.splat %f : tensor<4x64xf32>
  %y = linalg.add ins(%x, %s : tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

// The range of the argument allows sums that overflow their type.
func.func @leaves_its_type(%x: tensor<64xi8> {spyre.range = array<i64: 0, 100>}) -> tensor<64xi8> {
  // expected-error @+1 {{'func.func' op expected integers that stay within 8 bits, found a value that may overflow; compute with more bits}}
  %0 = arith.addi %x, %x : tensor<64xi8>
  return %0 : tensor<64xi8>
}

// -----

func.func @cut_to_a_byte(%x: tensor<64xi32> {spyre.range = array<i64: 0, 300>}) -> tensor<64xi8> {
  // expected-error @+1 {{'func.func' op expected integers that stay within 8 bits, found a value that may overflow; compute with more bits}}
  %0 = arith.trunci %x : tensor<64xi32> to tensor<64xi8>
  return %0 : tensor<64xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @without_a_sign(%x: tensor<64xi32> {spyre.range = array<i64: -5, 5>}, %y: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xi32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%k: i32, %a: f32, %o: f32):
    %c8 = arith.constant 8 : i32
    // expected-error @+1 {{'func.func' op requires nonnegative integers for unsigned arithmetic, found integers that may be negative; bound arguments with 'spyre.range'}}
    %in = arith.cmpi ult, %k, %c8 : i32
    %s = arith.select %in, %a, %z : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// -----

func.func @sums_of_bits(%x: tensor<64xi1>) -> tensor<i1> {
  %false = arith.constant dense<false> : tensor<i1>
  // expected-error @+1 {{'linalg.generic' op expected a sum of truth values in a type of more than one bit, found i1; extend them to i32 first}}
  %0 = linalg.reduce {arith.addi} ins(%x : tensor<64xi1>) outs(%false : tensor<i1>) dimensions = [0]
  return %0 : tensor<i1>
}
