// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-lower-stablehlo %s

#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @several(%x: tensor<32x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>) -> (tensor<32x64xf16>, tensor<32x64xf16>) {
  // expected-error @+1 {{'stablehlo.scatter' op writes to several tensors: not supported yet}}
  %y:2 = "stablehlo.scatter"(%x, %x, %places, %rows, %rows) <{scatter_dimension_numbers = #rows}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>, %c: tensor<f16>, %d: tensor<f16>):
    stablehlo.return %c, %d : tensor<f16>, tensor<f16>
  }) : (tensor<32x64xf16>, tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>, tensor<3x64xf16>) -> (tensor<32x64xf16>, tensor<32x64xf16>)
  return %y#0, %y#1 : tensor<32x64xf16>, tensor<32x64xf16>
}

// -----

#two = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>
func.func @depth(%x: tensor<32x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>) -> tensor<32x64xf16> {
  // expected-error @+1 {{'stablehlo.scatter' op has index vectors with another length than the number of dimensions that they index: not supported yet}}
  %y = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #two}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %b : tensor<f16>
  }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x64xf16>
  return %y : tensor<32x64xf16>
}

// -----

#far = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 7>
func.func @dimensions(%x: tensor<32x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>) -> tensor<32x64xf16> {
  // expected-error @+1 {{'stablehlo.scatter' op refers to dimensions that its tensors do not have: not supported yet}}
  %y = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #far}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %b : tensor<f16>
  }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x64xf16>
  return %y : tensor<32x64xf16>
}

// -----

#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @region(%x: tensor<32x64xf16>, %places: tensor<3x1xi32>, %rows: tensor<3x64xf16>, %all: tensor<8xf16>) -> tensor<32x64xf16> {
  // expected-note @+1 {{here}}
  %y = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #rows}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    // expected-error @+1 {{'math.exp' op is not supported in a region of 'stablehlo.scatter', which computes on elements}}
    %exp = math.exp %all : tensor<8xf16>
    stablehlo.return %b : tensor<f16>
  }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x64xf16>
  return %y : tensor<32x64xf16>
}

// -----

// expected-error @+1 {{expected a list of dimensions of a scatter, found 'window'}}
#wrong = #stablehlo.scatter<window = [1]>
