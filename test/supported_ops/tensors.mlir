// A program for each row of the first table of docs/supported-ops.md, in its order.

// row: arith.*
func.func @main(%a: tensor<5x70xf16>, %b: tensor<5x70xf16>) -> tensor<5x70xf16> {
  %0 = arith.addf %a, %b : tensor<5x70xf16>
  %1 = arith.cmpf olt, %a, %b : tensor<5x70xf16>
  %2 = arith.select %1, %0, %a : tensor<5x70xi1>, tensor<5x70xf16>
  return %2 : tensor<5x70xf16>
}

// -----
// row: arith.constant
func.func @main(%a: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<2x3xf16>) {
  %0 = arith.constant dense<[[1.0, -2.0, 0.5], [3.0, 0.0, -0.25]]> : tensor<2x3xf16>
  %1 = arith.mulf %a, %0 : tensor<2x3xf16>
  %2 = arith.addf %0, %0 : tensor<2x3xf16>
  return %1, %2 : tensor<2x3xf16>, tensor<2x3xf16>
}

// -----
// row: cf.assert
func.func @main(%a: tensor<4x70xf16>) -> tensor<4x70xf16> {
  %e = tensor.empty() : tensor<4x70xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x70xf16>) outs(%e : tensor<4x70xf16>) {
  ^bb0(%x: f16, %o: f16):
    %i = linalg.index 0 : index
    %n = arith.constant 4 : index
    %c = arith.cmpi slt, %i, %n : index
    cf.assert %c, "a row of the tensor"
    linalg.yield %x : f16
  } -> tensor<4x70xf16>
  %1 = arith.negf %0 : tensor<4x70xf16>
  return %1 : tensor<4x70xf16>
}

// -----
// row: func.call
func.func private @twice(%a: tensor<5x70xf16>) -> tensor<5x70xf16> {
  %0 = arith.addf %a, %a : tensor<5x70xf16>
  return %0 : tensor<5x70xf16>
}
func.func @main(%a: tensor<5x70xf16>) -> tensor<5x70xf16> {
  %0 = call @twice(%a) : (tensor<5x70xf16>) -> tensor<5x70xf16>
  %1 = call @twice(%0) : (tensor<5x70xf16>) -> tensor<5x70xf16>
  return %1 : tensor<5x70xf16>
}

// -----
// row: func.func
// row: func.return
func.func @main(%a: tensor<5x70xf16>, %b: tensor<3xf16>) -> (tensor<5x70xf16>, tensor<3xf16>, tensor<5x70xf16>) {
  %0 = math.exp %a : tensor<5x70xf16>
  return %0, %b, %0 : tensor<5x70xf16>, tensor<3xf16>, tensor<5x70xf16>
}

// -----
// row: linalg.*
func.func @main(%a: tensor<3x70xf16>, %b: tensor<70x5xf16>, %v: tensor<5xf16>) -> (tensor<3x5xf16>, tensor<3xf16>) {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<3x5xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<3x5xf16>) -> tensor<3x5xf16>
  %0 = linalg.matmul ins(%a, %b : tensor<3x70xf16>, tensor<70x5xf16>) outs(%f : tensor<3x5xf16>) -> tensor<3x5xf16>
  %1 = linalg.broadcast ins(%v : tensor<5xf16>) outs(%e : tensor<3x5xf16>) dimensions = [0]
  %2 = linalg.map {arith.maximumf} ins(%0, %1 : tensor<3x5xf16>, tensor<3x5xf16>) outs(%e : tensor<3x5xf16>)
  %e1 = tensor.empty() : tensor<3xf16>
  %f1 = linalg.fill ins(%z : f16) outs(%e1 : tensor<3xf16>) -> tensor<3xf16>
  %3 = linalg.matvec ins(%2, %v : tensor<3x5xf16>, tensor<5xf16>) outs(%f1 : tensor<3xf16>) -> tensor<3xf16>
  return %2, %3 : tensor<3x5xf16>, tensor<3xf16>
}

// -----
// row: linalg.fill
func.func @main(%a: tensor<5x70xf16>) -> (tensor<5x70xf16>, tensor<5x70xf16>) {
  %c = arith.constant 1.5 : f16
  %e = tensor.empty() : tensor<5x70xf16>
  %0 = linalg.fill ins(%c : f16) outs(%e : tensor<5x70xf16>) -> tensor<5x70xf16>
  %1 = linalg.sub ins(%a, %0 : tensor<5x70xf16>, tensor<5x70xf16>) outs(%e : tensor<5x70xf16>) -> tensor<5x70xf16>
  return %1, %0 : tensor<5x70xf16>, tensor<5x70xf16>
}

// -----
// row: linalg.generic
func.func @main(%a: tensor<5x70xf16>) -> tensor<5xf16> {
  %n = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<5xf16>
  %f = linalg.fill ins(%n : f16) outs(%e : tensor<5xf16>) -> tensor<5xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<5x70xf16>) outs(%f : tensor<5xf16>) {
  ^bb0(%x: f16, %o: f16):
    %t = math.tanh %x : f16
    %m = arith.maximumf %o, %t : f16
    linalg.yield %m : f16
  } -> tensor<5xf16>
  return %0 : tensor<5xf16>
}

// -----
// row: linalg.softmax
func.func @main(%a: tensor<3x4x130xf16>) -> (tensor<3x4x130xf16>, tensor<3x4x130xf16>) {
  %e = tensor.empty() : tensor<3x4x130xf16>
  %0 = linalg.softmax dimension(2) ins(%a : tensor<3x4x130xf16>) outs(%e : tensor<3x4x130xf16>) -> tensor<3x4x130xf16>
  %1 = linalg.softmax dimension(0) ins(%0 : tensor<3x4x130xf16>) outs(%e : tensor<3x4x130xf16>) -> tensor<3x4x130xf16>
  return %0, %1 : tensor<3x4x130xf16>, tensor<3x4x130xf16>
}

// -----
// row: math.*
func.func @main(%a: tensor<5x70xf16>) -> tensor<5x70xf16> {
  %0 = math.absf %a : tensor<5x70xf16>
  %1 = math.sqrt %0 : tensor<5x70xf16>
  return %1 : tensor<5x70xf16>
}

// -----
// row: scf.if
func.func @main(%a: tensor<5x70xf16>, %b: tensor<5x70xf16>) -> tensor<5x70xf16> {
  %e = tensor.empty() : tensor<5x70xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<5x70xf16>, tensor<5x70xf16>) outs(%e : tensor<5x70xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %c = arith.cmpf olt, %x, %y : f16
    %r = scf.if %c -> f16 {
      %t = arith.addf %x, %y : f16
      scf.yield %t : f16
    } else {
      scf.yield %y : f16
    }
    linalg.yield %r : f16
  } -> tensor<5x70xf16>
  return %0 : tensor<5x70xf16>
}

// -----
// row: tensor.cast
func.func @main(%a: tensor<5x70xf16>) -> tensor<5x70xf16> {
  %0 = tensor.cast %a : tensor<5x70xf16> to tensor<5x70xf16>
  %1 = tensor.cast %0 : tensor<5x70xf16> to tensor<5x70xf16>
  %2 = arith.addf %1, %1 : tensor<5x70xf16>
  return %2 : tensor<5x70xf16>
}

// -----
// row: tensor.collapse_shape
// row: tensor.expand_shape
func.func @main(%a: tensor<4x6x70xf16>) -> (tensor<24x70xf16>, tensor<2x2x6x70xf16>) {
  %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<4x6x70xf16> into tensor<24x70xf16>
  %1 = math.exp %0 : tensor<24x70xf16>
  %2 = tensor.expand_shape %1 [[0, 1, 2], [3]] output_shape [2, 2, 6, 70] : tensor<24x70xf16> into tensor<2x2x6x70xf16>
  %3 = arith.negf %2 : tensor<2x2x6x70xf16>
  return %1, %3 : tensor<24x70xf16>, tensor<2x2x6x70xf16>
}

// -----
// row: tensor.concat
func.func @main(%a: tensor<4x10xf16>, %b: tensor<4x70xf16>) -> (tensor<4x80xf16>, tensor<8x10xf16>) {
  %0 = tensor.concat dim(1) %a, %b : (tensor<4x10xf16>, tensor<4x70xf16>) -> tensor<4x80xf16>
  %1 = tensor.concat dim(0) %a, %a : (tensor<4x10xf16>, tensor<4x10xf16>) -> tensor<8x10xf16>
  %2 = arith.addf %0, %0 : tensor<4x80xf16>
  return %2, %1 : tensor<4x80xf16>, tensor<8x10xf16>
}

// -----
// row: tensor.dim
// row: tensor.reshape
func.func @main(%a: tensor<4x70xf16>) -> tensor<280xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.dim %a, %c0 : tensor<4x70xf16>
  %1 = tensor.dim %a, %c1 : tensor<4x70xf16>
  %2 = arith.muli %0, %1 : index
  %3 = tensor.from_elements %2 : tensor<1xindex>
  %s = arith.constant dense<280> : tensor<1xindex>
  %4 = tensor.reshape %a(%s) : (tensor<4x70xf16>, tensor<1xindex>) -> tensor<280xf16>
  %5 = math.exp %4 : tensor<280xf16>
  return %5 : tensor<280xf16>
}

// -----
// row: tensor.empty
// row: tensor.extract_slice
// row: tensor.insert_slice
func.func @main(%a: tensor<6x70xf16>) -> tensor<6x70xf16> {
  %e = tensor.empty() : tensor<6x70xf16>
  %0 = tensor.extract_slice %a[1, 3] [3, 20] [2, 1] : tensor<6x70xf16> to tensor<3x20xf16>
  %1 = math.exp %0 : tensor<3x20xf16>
  %2 = math.tanh %a : tensor<6x70xf16>
  %3 = tensor.insert_slice %1 into %2[2, 50] [3, 20] [1, 1] : tensor<3x20xf16> into tensor<6x70xf16>
  return %3 : tensor<6x70xf16>
}

// -----
// row: tensor.extract
func.func @main(%t: tensor<10x70xf16>, %i: tensor<5xi64>) -> tensor<5x70xf16> {
  %e = tensor.empty() : tensor<5x70xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<5xi64>) outs(%e : tensor<5x70xf16>) {
  ^bb0(%x: i64, %o: f16):
    %r = arith.index_cast %x : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%r, %j] : tensor<10x70xf16>
    linalg.yield %v : f16
  } -> tensor<5x70xf16>
  return %0 : tensor<5x70xf16>
}

// -----
// row: tensor.from_elements
// row: tensor.splat
func.func @main(%a: tensor<3xf16>) -> tensor<3xf16> {
  %x = arith.constant 1.0 : f16
  %y = arith.constant -2.5 : f16
  %0 = tensor.from_elements %x, %y, %x : tensor<3xf16>
  %1 = tensor.splat %y : tensor<3xf16>
  %2 = arith.mulf %a, %0 : tensor<3xf16>
  %3 = arith.addf %2, %1 : tensor<3xf16>
  return %3 : tensor<3xf16>
}

// -----
// row: tensor.pad
func.func @main(%a: tensor<4x10xf16>) -> tensor<7x80xf16> {
  %c = arith.constant 0.5 : f16
  %0 = tensor.pad %a low[1, 7] high[2, 63] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f16
  } : tensor<4x10xf16> to tensor<7x80xf16>
  return %0 : tensor<7x80xf16>
}
