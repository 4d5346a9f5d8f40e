// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s | FileCheck %s

// The rank of an element is how many come before it: those that are larger, and those that are equal and stand in front of it. Only the two
// elements are made that are read; a NaN counts as an infinity.
// CHECK-LABEL: func.func @first_two(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: tensor<6x3xf16>
// CHECK-DAG:     [[EARLIER:%.+]] = spyre.constant dense<{{\[\[\[}}0.000000e+00, 1.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00]]]>
// CHECK-DAG:     [[PLACES:%.+]] = spyre.constant dense<{{\[\[\[}}0.000000e+00], [1.000000e+00]]]> : tensor<1x2x1xf16>
// CHECK:         [[NUMBER:%.+]] = spyre.pointwise equal([[X]], [[X]])
// CHECK:         [[KEYS:%.+]] = spyre.pointwise where3([[NUMBER]], [[X]], {{.*}}) : (tensor<6x3xf16>, tensor<6x3xf16>, tensor<1x1xf16>)
// CHECK-DAG:     [[OTHERS:%.+]] = spyre.view [[KEYS]] by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<6x3xf16> -> tensor<6x3x1xf16>
// CHECK-DAG:     [[OWN:%.+]] = spyre.view [[KEYS]] by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<6x3xf16> -> tensor<6x1x3xf16>
// CHECK-DAG:     [[LARGER:%.+]] = spyre.pointwise greaterthan([[OTHERS]], [[OWN]])
// CHECK-DAG:     [[EQUAL:%.+]] = spyre.pointwise equal([[OTHERS]], [[OWN]])
// CHECK:         [[TIES:%.+]] = spyre.pointwise mul([[EQUAL]], [[EARLIER]])
// CHECK:         [[BEFORE:%.+]] = spyre.pointwise maximum([[LARGER]], [[TIES]])
// CHECK:         [[RANK:%.+]] = spyre.reduce sum([[BEFORE]]) dims [1]
// CHECK:         [[THERE:%.+]] = spyre.pointwise equal([[RANK]], [[PLACES]]) {{.*}} -> tensor<6x2x3xf16>
// CHECK:         [[CHOSEN:%.+]] = spyre.pointwise where3([[THERE]],
// CHECK:         spyre.reduce sum([[CHOSEN]]) dims [2] : tensor<6x2x3xf16> -> tensor<6x2x1xf16>
// CHECK:         [[INDEX:%.+]] = spyre.pointwise where3([[THERE]],
// CHECK:         spyre.reduce max([[INDEX]]) dims [2] : tensor<6x2x3xf16> -> tensor<6x2x1xf16>
func.func @first_two(%x: tensor<6x3xf16>) -> (tensor<6x2xf16>, tensor<6x1xi64>) {
  %count = arith.constant dense<[[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]> : tensor<6x3xi64>
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %count : tensor<6x3xf16>, tensor<6x3xi64>) {
  ^bb0(%one: f16, %other: f16, %i: i64, %j: i64):
    %stays = arith.cmpf oge, %one, %other : f16
    tm_tensor.yield %stays : i1
  } -> tensor<6x3xf16>, tensor<6x3xi64>
  %values = tensor.extract_slice %sorted#0[0, 0] [6, 2] [1, 1] : tensor<6x3xf16> to tensor<6x2xf16>
  %places = tensor.extract_slice %sorted#1[0, 0] [6, 1] [1, 1] : tensor<6x3xi64> to tensor<6x1xi64>
  return %values, %places : tensor<6x2xf16>, tensor<6x1xi64>
}

// -----

// A comparison that is written the other way round; a result that nobody reads costs nothing.
// CHECK-LABEL: func.func @descending(
// CHECK:         spyre.pointwise greaterthan
// CHECK-NOT:     spyre.reduce max
// CHECK:         return
func.func @descending(%x: tensor<3x6xf16>, %y: tensor<3x6xi32>) -> tensor<3x6xf16> {
  %sorted:2 = tm_tensor.sort dimension(0) outs(%y, %x : tensor<3x6xi32>, tensor<3x6xf16>) {
  ^bb0(%i: i32, %j: i32, %one: f16, %other: f16):
    %stays = arith.cmpf olt, %other, %one : f16
    tm_tensor.yield %stays : i1
  } -> tensor<3x6xi32>, tensor<3x6xf16>
  return %sorted#1 : tensor<3x6xf16>
}

// -----

// Of a long row the smallest element is found, then the smallest of what is left.
// CHECK-LABEL: func.func @rounds(
// CHECK:         [[FIRST:%.+]] = spyre.reduce min([[KEYS:%.+]]) dims [1] : tensor<2x100xf16> -> tensor<2x1xf16>
// CHECK:         [[SMALLEST:%.+]] = spyre.pointwise equal([[KEYS]], [[FIRST]])
// CHECK:         [[AT:%.+]] = spyre.pointwise where3([[SMALLEST]],
// CHECK:         [[PLACE:%.+]] = spyre.reduce min([[AT]]) dims [1]
// CHECK:         [[THERE:%.+]] = spyre.pointwise equal({{.+}}, [[PLACE]])
// CHECK:         [[LEFT:%.+]] = spyre.pointwise notequal({{.+}}, [[PLACE]])
// CHECK:         spyre.pointwise where3([[LEFT]], [[KEYS]], {{.*}})
// CHECK:         spyre.insert {{.*}} at [0, 1]
func.func @rounds(%x: tensor<2x100xf16>) -> tensor<2x2xf16> {
  %sorted = tm_tensor.sort dimension(1) outs(%x : tensor<2x100xf16>) {
  ^bb0(%one: f16, %other: f16):
    %stays = arith.cmpf ole, %one, %other : f16
    tm_tensor.yield %stays : i1
  } -> tensor<2x100xf16>
  %values = tensor.extract_slice %sorted[0, 0] [2, 2] [1, 1] : tensor<2x100xf16> to tensor<2x2xf16>
  return %values : tensor<2x2xf16>
}

// -----

// The first elements and their places, as a sort of which a slice is read; what the result begins with comes behind all elements. A NaN is said
// to come first.
// CHECK-LABEL: func.func @topk(
// CHECK-DAG:     [[PLACES:%.+]] = spyre.constant dense<{{\[\[\[}}0.000000e+00], [1.000000e+00]]]> : tensor<1x2x1xf16>
// CHECK:         spyre.pointwise greaterthan
// CHECK:         [[THERE:%.+]] = spyre.pointwise equal({{.+}}, [[PLACES]])
// CHECK:         spyre.reduce sum({{.*}}) dims [2] : tensor<6x2x3xf16> -> tensor<6x2x1xf16>
// CHECK:         spyre.reduce max({{.*}}) dims [2] : tensor<6x2x3xf16> -> tensor<6x2x1xf16>
func.func @topk(%x: tensor<6x3xf16>) -> (tensor<6x2xf16>, tensor<6x2xi64>) {
  %lowest = arith.constant dense<0xFC00> : tensor<6x2xf16>
  %e = tensor.empty() : tensor<6x2xi64>
  %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<6x3xf16>) outs(%lowest, %e : tensor<6x2xf16>, tensor<6x2xi64>) {
  ^bb0(%one: f16, %other: f16):
    %nan = arith.cmpf une, %one, %one : f16
    %number = arith.cmpf oeq, %other, %other : f16
    %alone = arith.andi %nan, %number : i1
    %larger = arith.cmpf ogt, %one, %other : f16
    %before = arith.ori %alone, %larger : i1
    tm_tensor.yield %before : i1
  } -> tensor<6x2xf16>, tensor<6x2xi64>
  return %first#0, %first#1 : tensor<6x2xf16>, tensor<6x2xi64>
}

// -----

// Places that the 16-bit format does not have are found by two digits, here 0 and 1, and 0 to 1023.
// CHECK-LABEL: func.func @long(
// CHECK:         [[FIRST:%.+]] = spyre.reduce max([[KEYS:%.+]]) dims [1] : tensor<2x1500xf16> -> tensor<2x1xf16>
// CHECK:         [[LARGEST:%.+]] = spyre.pointwise equal([[KEYS]], [[FIRST]])
// CHECK:         spyre.pointwise where3([[LARGEST]],
// CHECK:         [[HIGH:%.+]] = spyre.reduce min
// CHECK:         [[IS_HIGH:%.+]] = spyre.pointwise equal({{.+}}, [[HIGH]])
// CHECK:         [[BOTH:%.+]] = spyre.pointwise mul([[LARGEST]], [[IS_HIGH]])
// CHECK:         spyre.pointwise where3([[BOTH]],
// CHECK:         [[LOW:%.+]] = spyre.reduce min
// CHECK:         [[IS_LOW:%.+]] = spyre.pointwise equal({{.+}}, [[LOW]])
// CHECK:         spyre.pointwise mul([[IS_HIGH]], [[IS_LOW]])
func.func @long(%x: tensor<2x1500xf16>) -> tensor<2x1xf16> {
  %lowest = arith.constant dense<0xFC00> : tensor<2x1xf16>
  %e = tensor.empty() : tensor<2x1xi64>
  %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<2x1500xf16>) outs(%lowest, %e : tensor<2x1xf16>, tensor<2x1xi64>) {
  ^bb0(%one: f16, %other: f16):
    %before = arith.cmpf ogt, %one, %other : f16
    tm_tensor.yield %before : i1
  } -> tensor<2x1xf16>, tensor<2x1xi64>
  return %first#0 : tensor<2x1xf16>
}
