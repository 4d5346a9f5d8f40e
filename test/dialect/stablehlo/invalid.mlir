// RUN: spyre-opt --split-input-file --verify-diagnostics %s

#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @scatter_c1(%x: tensor<32x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>) -> tensor<32x65xf16> {
  // expected-error @+1 {{'stablehlo.scatter' op expected results of the types of its operands, 'tensor<32x64xf16>', found 'tensor<32x65xf16>'}}
  %y = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #rows}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %b : tensor<f16>
  }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x65xf16>
  return %y : tensor<32x65xf16>
}

// -----

#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @scatter_c2(%x: tensor<32x64xf16>, %places: tensor<3x1xf32>, %rows: tensor<3x64xf16>) -> tensor<32x64xf16> {
  // expected-error @+1 {{'stablehlo.scatter' op expected indices of integers, found 'tensor<3x1xf32>'}}
  %y = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #rows}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %b : tensor<f16>
  }) : (tensor<32x64xf16>, tensor<3x1xf32>, tensor<3x64xf16>) -> tensor<32x64xf16>
  return %y : tensor<32x64xf16>
}

// -----

#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @scatter_c3(%x: tensor<32x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>) -> tensor<32x64xf16> {
  // expected-error @+1 {{'stablehlo.scatter' op expected arguments ('tensor<f16>', 'tensor<f16>') of region 0, found ('tensor<f16>')}}
  %y = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #rows}> ({
  ^bb0(%a: tensor<f16>):
    stablehlo.return %a : tensor<f16>
  }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x64xf16>
  return %y : tensor<32x64xf16>
}

// -----

#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @scatter_dynamic(%x: tensor<?x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>) -> tensor<?x64xf16> {
  // expected-error @+1 {{'stablehlo.scatter' op operand #0 must be variadic of statically shaped tensor of any type values, but got 'tensor<?x64xf16>'}}
  %y = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #rows}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %b : tensor<f16>
  }) : (tensor<?x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<?x64xf16>
  return %y : tensor<?x64xf16>
}

// -----

func.func @sort_c1(%x: tensor<4x50xi32>, %y: tensor<50xi32>) {
  // expected-error @+1 {{'stablehlo.sort' op expected operands of one shape, found 'tensor<4x50xi32>' and 'tensor<50xi32>'}}
  %z:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %is = arith.cmpi slt, %a, %b : tensor<i32>
    stablehlo.return %is : tensor<i1>
  }) : (tensor<4x50xi32>, tensor<50xi32>) -> (tensor<4x50xi32>, tensor<50xi32>)
  return
}

// -----

func.func @sort_c2(%x: tensor<50xi32>) {
  // expected-error @+1 {{'stablehlo.sort' op expected a dimension of 'tensor<50xi32>', found dimension -2}}
  %z = "stablehlo.sort"(%x) <{dimension = -2 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %is = arith.cmpi slt, %a, %b : tensor<i32>
    stablehlo.return %is : tensor<i1>
  }) : (tensor<50xi32>) -> tensor<50xi32>
  return
}

// -----

func.func @sort_c3(%x: tensor<50xi32>) {
  %z = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    // expected-error @+1 {{'stablehlo.return' op expected operands ('tensor<i1>') for 'stablehlo.sort', found ('tensor<i32>')}}
    stablehlo.return %a : tensor<i32>
  }) : (tensor<50xi32>) -> tensor<50xi32>
  return
}

// -----

func.func @while_c1(%x: tensor<i32>, %is: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.while' op expected arguments ('tensor<i32>') of region 0, found ()}}
  %y = "stablehlo.while"(%x) ({
    stablehlo.return %is : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @while_c2(%x: tensor<i32>, %is: tensor<i1>) {
  %y = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    stablehlo.return %is : tensor<i1>
  } do {
    // expected-error @+1 {{'stablehlo.return' op expected operands ('tensor<i32>') for 'stablehlo.while', found ('tensor<i1>')}}
    stablehlo.return %is : tensor<i1>
  }
  return
}

// -----

func.func @case_c1(%n: tensor<1xi32>) {
  // expected-error @+1 {{'stablehlo.case' op expected an index of type 'tensor<i32>', found 'tensor<1xi32>'}}
  "stablehlo.case"(%n) ({
    stablehlo.return
  }) : (tensor<1xi32>) -> ()
  return
}

// -----

func.func @case_c2(%n: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.case' op expected at least one branch, found none}}
  "stablehlo.case"(%n) : (tensor<i32>) -> ()
  return
}

// -----

func.func @if_c1(%n: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.if' op expected a predicate of type 'tensor<i1>', found 'tensor<i32>'}}
  "stablehlo.if"(%n) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}

// -----

func.func @if_c2(%is: tensor<i1>, %x: tensor<4xf16>) {
  %y = "stablehlo.if"(%is) ({
    stablehlo.return %x : tensor<4xf16>
  }, {
    // expected-error @+1 {{'stablehlo.return' op expected operands ('tensor<4xf16>') for 'stablehlo.if', found ()}}
    stablehlo.return
  }) : (tensor<i1>) -> tensor<4xf16>
  return
}
