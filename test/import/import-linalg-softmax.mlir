// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// PyTorch's attention gives 0 for a row of -inf: two bounds do the same, whose results may live in LX. The lower one is the number of the
// device's format next to -inf, which is -2^32 there.
// CHECK-LABEL: func.func @safe_softmax(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<-4.29077299E+9> : tensor<1x1xf32>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = spyre.view [[NUMBER2]] by affine_map<(d0, d1) -> (d0, d1)> : tensor<1x1xf32> -> tensor<1x1xf16>
// CHECK-NEXT:    [[MAXIMUM:%.+]] = spyre.pointwise maximum([[MAX]], [[VIEW]]) : (tensor<8x1xf16>, tensor<1x1xf16>) -> tensor<8x1xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[X]], [[MAXIMUM]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[SUB]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[EXP]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[MAXIMUM2:%.+]] = spyre.pointwise maximum([[SUM]], [[NUMBER]]) : (tensor<8x1xf16>, tensor<1x1xf16>) -> tensor<8x1xf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[EXP]], [[MAXIMUM2]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[REALDIV]] : tensor<8x64xf16>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#per_row = affine_map<(d0, d1) -> (d0)>
func.func @safe_softmax(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f16
  %infinity = arith.constant 0xFC00 : f16
  %infinities = arith.constant dense<0xFC00> : tensor<8x64xf16>
  %matrix = tensor.empty() : tensor<8x64xf16>
  %rows = tensor.empty() : tensor<8xf16>
  %flags = tensor.empty() : tensor<8xi1>
  %low = linalg.fill ins(%infinity : f16) outs(%rows : tensor<8xf16>) -> tensor<8xf16>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<8x64xf16>) outs(%low : tensor<8xf16>) dimensions = [1]
  %powers = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<8x64xf16>, tensor<8xf16>) outs(%matrix : tensor<8x64xf16>) {
  ^bb0(%in: f16, %row: f16, %out: f16):
    %0 = arith.subf %in, %row : f16
    %1 = math.exp %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x64xf16>
  %none = linalg.fill ins(%zero : f16) outs(%rows : tensor<8xf16>) -> tensor<8xf16>
  %sum = linalg.reduce { arith.addf } ins(%powers : tensor<8x64xf16>) outs(%none : tensor<8xf16>) dimensions = [1]
  %is_masked = arith.cmpf oeq, %x, %infinities : tensor<8x64xf16>
  %all = linalg.fill ins(%true : i1) outs(%flags : tensor<8xi1>) -> tensor<8xi1>
  %is_row_masked = linalg.reduce { arith.andi } ins(%is_masked : tensor<8x64xi1>) outs(%all : tensor<8xi1>) dimensions = [1]
  %shares = linalg.generic {indexing_maps = [#per_row, #matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%is_row_masked, %powers, %sum : tensor<8xi1>, tensor<8x64xf16>, tensor<8xf16>) outs(%matrix : tensor<8x64xf16>) {
  ^bb0(%is: i1, %power: f16, %row: f16, %out: f16):
    %0 = arith.divf %power, %row : f16
    %1 = arith.select %is, %zero, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x64xf16>
  return %shares : tensor<8x64xf16>
}

// -----

// In f32 it is the lowest finite number, and only -inf is below it.
// CHECK-LABEL: func.func @safe_softmax_in_f32(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf32>) -> tensor<8x64xf32> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<-3.40282347E+38> : tensor<1x1xf32>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf32> -> tensor<8x1xf32>
// CHECK-NEXT:    [[MAXIMUM:%.+]] = spyre.pointwise maximum([[MAX]], [[NUMBER2]]) : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[X]], [[MAXIMUM]]) : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[SUB]]) : tensor<8x64xf32>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[EXP]]) dims [1] : tensor<8x64xf32> -> tensor<8x1xf32>
// CHECK-NEXT:    [[MAXIMUM2:%.+]] = spyre.pointwise maximum([[SUM]], [[NUMBER]]) : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[EXP]], [[MAXIMUM2]]) : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
// CHECK-NEXT:    return [[REALDIV]] : tensor<8x64xf32>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#per_row = affine_map<(d0, d1) -> (d0)>
func.func @safe_softmax_in_f32(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %infinities = arith.constant dense<0xFF800000> : tensor<8x64xf32>
  %matrix = tensor.empty() : tensor<8x64xf32>
  %rows = tensor.empty() : tensor<8xf32>
  %flags = tensor.empty() : tensor<8xi1>
  %low = linalg.fill ins(%infinity : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<8x64xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %powers = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<8x64xf32>, tensor<8xf32>) outs(%matrix : tensor<8x64xf32>) {
  ^bb0(%in: f32, %row: f32, %out: f32):
    %0 = arith.subf %in, %row : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%powers : tensor<8x64xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %is_masked = arith.cmpf oeq, %x, %infinities : tensor<8x64xf32>
  %all = linalg.fill ins(%true : i1) outs(%flags : tensor<8xi1>) -> tensor<8xi1>
  %is_row_masked = linalg.reduce { arith.andi } ins(%is_masked : tensor<8x64xi1>) outs(%all : tensor<8xi1>) dimensions = [1]
  %shares = linalg.generic {indexing_maps = [#per_row, #matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%is_row_masked, %powers, %sum : tensor<8xi1>, tensor<8x64xf32>, tensor<8xf32>) outs(%matrix : tensor<8x64xf32>) {
  ^bb0(%is: i1, %power: f32, %row: f32, %out: f32):
    %0 = arith.divf %power, %row : f32
    %1 = arith.select %is, %zero, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x64xf32>
  return %shares : tensor<8x64xf32>
}

// -----

// A program of f32 that has a function of f16 only is computed in f16, with the number of that format.
// CHECK-LABEL: func.func @safe_softmax_folded(
// CHECK:         spyre.constant dense<-4.29077299E+9> : tensor<1x1xf32>
// CHECK-NOT:     where3
// CHECK:         spyre.pointwise maximum({{.+}}) : (tensor<8x1xf16>, tensor<1x1xf16>) -> tensor<8x1xf16>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#per_row = affine_map<(d0, d1) -> (d0)>
func.func @safe_softmax_folded(%y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %x = math.tanh %y : tensor<8x64xf32>
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %infinities = arith.constant dense<0xFF800000> : tensor<8x64xf32>
  %matrix = tensor.empty() : tensor<8x64xf32>
  %rows = tensor.empty() : tensor<8xf32>
  %flags = tensor.empty() : tensor<8xi1>
  %low = linalg.fill ins(%infinity : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<8x64xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %powers = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<8x64xf32>, tensor<8xf32>) outs(%matrix : tensor<8x64xf32>) {
  ^bb0(%in: f32, %row: f32, %out: f32):
    %0 = arith.subf %in, %row : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%powers : tensor<8x64xf32>) outs(%none : tensor<8xf32>) dimensions = [1]
  %is_masked = arith.cmpf oeq, %x, %infinities : tensor<8x64xf32>
  %all = linalg.fill ins(%true : i1) outs(%flags : tensor<8xi1>) -> tensor<8xi1>
  %is_row_masked = linalg.reduce { arith.andi } ins(%is_masked : tensor<8x64xi1>) outs(%all : tensor<8xi1>) dimensions = [1]
  %shares = linalg.generic {indexing_maps = [#per_row, #matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%is_row_masked, %powers, %sum : tensor<8xi1>, tensor<8x64xf32>, tensor<8xf32>) outs(%matrix : tensor<8x64xf32>) {
  ^bb0(%is: i1, %power: f32, %row: f32, %out: f32):
    %0 = arith.divf %power, %row : f32
    %1 = arith.select %is, %zero, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x64xf32>
  return %shares : tensor<8x64xf32>
}


// -----

// Whether another tensor is masked is another question.
// CHECK-LABEL: func.func @another_mask(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16>, [[Y:%.+]]: tensor<8x64xf16>) -> tensor<8x64xf16> {
// CHECK-NEXT:    [[NUMBER:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:    [[NUMBER2:%.+]] = spyre.constant dense<0xFC00> : tensor<1x1xf16>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[SUB:%.+]] = spyre.pointwise sub([[X]], [[MAX]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[SUB]]) : tensor<8x64xf16>
// CHECK-NEXT:    [[SUM:%.+]] = spyre.reduce sum([[EXP]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[EQUAL:%.+]] = spyre.pointwise equal([[Y]], [[NUMBER2]]) : (tensor<8x64xf16>, tensor<1x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[MIN:%.+]] = spyre.reduce min([[EQUAL]]) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
// CHECK-NEXT:    [[REALDIV:%.+]] = spyre.pointwise realdiv([[EXP]], [[SUM]]) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    [[WHERE3:%.+]] = spyre.pointwise where3([[MIN]], [[NUMBER]], [[REALDIV]]) : (tensor<8x1xf16>, tensor<1x1xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
// CHECK-NEXT:    return [[WHERE3]] : tensor<8x64xf16>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#per_row = affine_map<(d0, d1) -> (d0)>
func.func @another_mask(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f16
  %infinity = arith.constant 0xFC00 : f16
  %infinities = arith.constant dense<0xFC00> : tensor<8x64xf16>
  %matrix = tensor.empty() : tensor<8x64xf16>
  %rows = tensor.empty() : tensor<8xf16>
  %flags = tensor.empty() : tensor<8xi1>
  %low = linalg.fill ins(%infinity : f16) outs(%rows : tensor<8xf16>) -> tensor<8xf16>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<8x64xf16>) outs(%low : tensor<8xf16>) dimensions = [1]
  %powers = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<8x64xf16>, tensor<8xf16>) outs(%matrix : tensor<8x64xf16>) {
  ^bb0(%in: f16, %row: f16, %out: f16):
    %0 = arith.subf %in, %row : f16
    %1 = math.exp %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x64xf16>
  %none = linalg.fill ins(%zero : f16) outs(%rows : tensor<8xf16>) -> tensor<8xf16>
  %sum = linalg.reduce { arith.addf } ins(%powers : tensor<8x64xf16>) outs(%none : tensor<8xf16>) dimensions = [1]
  %is_masked = arith.cmpf oeq, %y, %infinities : tensor<8x64xf16>
  %all = linalg.fill ins(%true : i1) outs(%flags : tensor<8xi1>) -> tensor<8xi1>
  %is_row_masked = linalg.reduce { arith.andi } ins(%is_masked : tensor<8x64xi1>) outs(%all : tensor<8xi1>) dimensions = [1]
  %shares = linalg.generic {indexing_maps = [#per_row, #matrix, #per_row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%is_row_masked, %powers, %sum : tensor<8xi1>, tensor<8x64xf16>, tensor<8xf16>) outs(%matrix : tensor<8x64xf16>) {
  ^bb0(%is: i1, %power: f16, %row: f16, %out: f16):
    %0 = arith.divf %power, %row : f16
    %1 = arith.select %is, %zero, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<8x64xf16>
  return %shares : tensor<8x64xf16>
}
