// RUN: spyre-opt --spyre-propagate-dims --verify-diagnostics %s
// RUN: spyre-opt --spyre-propagate-dims %s | FileCheck %s

// Seed 004, example 1: the matmul walks along M, N and K, the sum along M and N.
// CHECK-LABEL: func.func @working_set_example_1(
// CHECK-SAME:    attributes {spyre.dim_sizes = {K = 256 : i64, M = 64 : i64, N = 128 : i64}}
// CHECK:         [[P:%.+]] = spyre.matmul({{.+}}) {dims = ["M", "N", "K"]}
// CHECK-NEXT:    spyre.pointwise add([[P]], {{.+}}) {dims = ["M", "N"]}
func.func @working_set_example_1(%x: tensor<64x256xf16> {spyre.dims = ["M", "K"]}, %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]},
                                 %z: tensor<64x128xf16> {spyre.dims = ["M", "N"]}) -> tensor<64x128xf16> {
  %p = spyre.matmul(%x, %y) : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
  %sum = spyre.pointwise add(%p, %z) : tensor<64x128xf16>
  return %sum : tensor<64x128xf16>
}

// Seed 004, example 2: a 1-D tensor that is really [M, K]; M and K are known from the others.
// CHECK-LABEL: func.func @working_set_example_2(
// CHECK-SAME:    attributes {spyre.dim_sizes = {K = 256 : i64, M = 64 : i64, N = 128 : i64}}
// CHECK:         [[P:%.+]] = spyre.matmul({{.+}}) {dims = ["M", "N", "K"]}
// CHECK-NEXT:    spyre.pointwise add([[P]], {{.+}}) {dims = ["M", "N"]}
func.func @working_set_example_2(%x_1d: tensor<16384xf16> {spyre.dims = ["M", "K"]}, %y: tensor<256x128xf16> {spyre.dims = ["K", "N"]},
                                 %z: tensor<64x128xf16> {spyre.dims = ["M", "N"]}) -> tensor<64x128xf16> {
  %x = spyre.view %x_1d by affine_map<(d0, d1) -> (d0 * 256 + d1)> : tensor<16384xf16> -> tensor<64x256xf16>
  %p = spyre.matmul(%x, %y) : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
  %sum = spyre.pointwise add(%p, %z) : tensor<64x128xf16>
  return %sum : tensor<64x128xf16>
}

// Seed 004: x is [A, B, C, D], y is [C, D, E], and the reduction runs over C and D flattened.
// CHECK-LABEL: func.func @a_reduction_over_two_names(
// CHECK:         [[P:%.+]] = spyre.matmul({{.+}}) {dims = ["A*B", "E", "C*D"]}
// CHECK-NEXT:    [[FOUR:%.+]] = spyre.view [[P]]
// CHECK-NEXT:    spyre.pointwise exp([[FOUR]]) {dims = ["A", "B", "E"]}
func.func @a_reduction_over_two_names(%x: tensor<2x4x8x16xf16> {spyre.dims = ["A", "B", "C", "D"]},
                                      %y: tensor<8x16x64xf16> {spyre.dims = ["C", "D", "E"]}) -> tensor<2x4x64xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 4, d0 mod 4, d1 floordiv 16, d1 mod 16)> : tensor<2x4x8x16xf16> -> tensor<8x128xf16>
  %columns = spyre.view %y by affine_map<(d0, d1) -> (d0 floordiv 16, d0 mod 16, d1)> : tensor<8x16x64xf16> -> tensor<128x64xf16>
  %p = spyre.matmul(%rows, %columns) : (tensor<8x128xf16>, tensor<128x64xf16>) -> tensor<8x64xf16>
  %apart = spyre.view %p by affine_map<(d0, d1, d2) -> (d0 * 4 + d1, d2)> : tensor<8x64xf16> -> tensor<2x4x64xf16>
  %exp = spyre.pointwise exp(%apart) : tensor<2x4x64xf16>
  return %exp : tensor<2x4x64xf16>
}

// The order of the names is that of the storage: reversed names are another tensor.
// CHECK-LABEL: func.func @the_order_of_names_matters(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["M*K"]}
// CHECK-NEXT:    spyre.pointwise exp({{.+}}) {dims = ["K*M"]}
func.func @the_order_of_names_matters(%x: tensor<512xf16> {spyre.dims = ["M", "K"]}, %y: tensor<512xf16> {spyre.dims = ["K", "M"]})
    -> (tensor<512xf16>, tensor<512xf16>) attributes {spyre.dim_sizes = {M = 8, K = 64}} {
  %0 = spyre.pointwise exp(%x) : tensor<512xf16>
  %1 = spyre.pointwise exp(%y) : tensor<512xf16>
  return %0, %1 : tensor<512xf16>, tensor<512xf16>
}

// C is what A and B leave. Each shape shows the names that its dimensions walk along.
// CHECK-LABEL: func.func @three_names_in_one_dimension(
// CHECK-SAME:    attributes {spyre.dim_sizes = {A = 2 : i64, B = 4 : i64, C = 64 : i64}}
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["A*B", "C"]} : tensor<8x64xf16>
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["A", "B*C"]} : tensor<2x256xf16>
// CHECK:         [[MOVED:%.+]] = spyre.copy {{.+}} {dims = ["B", "A", "C"]} : tensor<4x2x64xf16>
// CHECK-NEXT:    [[FLAT:%.+]] = spyre.view [[MOVED]]
// CHECK-NEXT:    spyre.pointwise exp([[FLAT]]) {dims = ["B*A*C"]} : tensor<512xf16>
func.func @three_names_in_one_dimension(%x: tensor<512xf16> {spyre.dims = ["A", "B", "C"]})
    -> (tensor<8x64xf16>, tensor<2x256xf16>, tensor<512xf16>) attributes {spyre.dim_sizes = {A = 2, B = 4}} {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 * 64 + d1)> : tensor<512xf16> -> tensor<8x64xf16>
  %0 = spyre.pointwise exp(%rows) : tensor<8x64xf16>
  %halves = spyre.view %x by affine_map<(d0, d1) -> (d0 * 256 + d1)> : tensor<512xf16> -> tensor<2x256xf16>
  %1 = spyre.pointwise exp(%halves) : tensor<2x256xf16>
  %swapped = spyre.view %x by affine_map<(d0, d1, d2) -> (d1 * 256 + d0 * 64 + d2)> : tensor<512xf16> -> tensor<4x2x64xf16>
  %moved = spyre.copy %swapped : tensor<4x2x64xf16> -> tensor<4x2x64xf16>
  %flat = spyre.view %moved by affine_map<(d0) -> (d0 floordiv 128, (d0 floordiv 64) mod 2, d0 mod 64)> : tensor<4x2x64xf16> -> tensor<512xf16>
  %2 = spyre.pointwise exp(%flat) : tensor<512xf16>
  return %0, %1, %2 : tensor<8x64xf16>, tensor<2x256xf16>, tensor<512xf16>
}

// A reduction drops what it reduces, also of two names; the kept dimension of size 1 has none.
// CHECK-LABEL: func.func @a_reduction_drops_names(
// CHECK:         [[SUM:%.+]] = spyre.reduce sum({{.+}}) dims [1] {dims = ["M", "N*K"]}
// CHECK-NEXT:    [[FLAT:%.+]] = spyre.view [[SUM]]
// CHECK-NEXT:    spyre.pointwise exp([[FLAT]]) {dims = ["M"]}
func.func @a_reduction_drops_names(%x: tensor<64x256xf16> {spyre.dims = ["M", "N", "K"]}) -> tensor<64xf16> attributes {spyre.dim_sizes = {M = 64, N = 4}} {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
  %flat = spyre.view %sum by affine_map<(d0) -> (d0, 0)> : tensor<64x1xf16> -> tensor<64xf16>
  %exp = spyre.pointwise exp(%flat) : tensor<64xf16>
  return %exp : tensor<64xf16>
}

// A broadcast dimension has the names of the operand that moves along it.
// CHECK-LABEL: func.func @a_broadcast_says_nothing(
// CHECK:         spyre.pointwise add({{.+}}) {dims = ["M", "K"]}
func.func @a_broadcast_says_nothing(%x: tensor<64x256xf16> {spyre.dims = ["", "K"]}, %bias: tensor<64xf16> {spyre.dims = ["M"]}) -> tensor<64x256xf16> {
  %column = spyre.view %bias by affine_map<(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x1xf16>
  %sum = spyre.pointwise add(%x, %column) : (tensor<64x256xf16>, tensor<64x1xf16>) -> tensor<64x256xf16>
  return %sum : tensor<64x256xf16>
}

// The rows of a table are chosen: nothing walks along V.
// CHECK-LABEL: func.func @a_gather_walks_along_the_list(
// CHECK:         spyre.gather({{.+}}) dim 0 {dims = ["S", "D"]}
func.func @a_gather_walks_along_the_list(%table: tensor<80x256xf16> {spyre.dims = ["V", "D"]}, %list: tensor<128xi64> {spyre.dims = ["S"]}) -> tensor<128x256xf16> {
  %rows = spyre.gather(%table, %list) dim 0 : (tensor<80x256xf16>, tensor<128xi64>) -> tensor<128x256xf16>
  return %rows : tensor<128x256xf16>
}

// A single row is no dimension: nothing walks along A, and nothing is lost of B.
// CHECK-LABEL: func.func @a_single_position_is_no_dimension(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["B"]}
func.func @a_single_position_is_no_dimension(%x: tensor<8x64xf16> {spyre.dims = ["A", "B"]}) -> tensor<64xf16> {
  %row = spyre.view %x by affine_map<(d0) -> (3, d0)> : tensor<8x64xf16> -> tensor<64xf16>
  %exp = spyre.pointwise exp(%row) : tensor<64xf16>
  return %exp : tensor<64xf16>
}

// A buffer with more rows than its part, as padding makes it: the part that is read alone has its name.
// CHECK-LABEL: func.func @a_window_of_a_buffer_has_the_name_of_its_part(
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["K", "N"]} : tensor<100x64xf16>
func.func @a_window_of_a_buffer_has_the_name_of_its_part(%x: tensor<100x64xf16> {spyre.dims = ["K", "N"]}, %zeros: tensor<28x64xf16>) -> tensor<100x64xf16> {
  %buffer = spyre.empty : tensor<128x64xf16>
  %0 = spyre.insert %x into %buffer at [0, 0] : tensor<100x64xf16> into tensor<128x64xf16>
  %1 = spyre.insert %zeros into %0 at [100, 0] : tensor<28x64xf16> into tensor<128x64xf16>
  %window = spyre.view %1 by affine_map<(d0, d1) -> (d0, d1)> : tensor<128x64xf16> -> tensor<100x64xf16>
  %exp = spyre.pointwise exp(%window) : tensor<100x64xf16>
  return %exp : tensor<100x64xf16>
}

// The names are of the elements, not of the dimensions: X of 4 and Y of 6 in 6x4.
// CHECK-LABEL: func.func @names_need_not_be_those_of_the_dimensions(
// CHECK-SAME:    attributes {spyre.dim_sizes = {X = 4 : i64, Y = 6 : i64}}
// CHECK:         spyre.pointwise exp({{.+}}) {dims = ["X*Y"]} : tensor<24xf16>
func.func @names_need_not_be_those_of_the_dimensions(%x: tensor<6x4xf16> {spyre.dims = ["X", "Y"]}) -> tensor<24xf16> attributes {spyre.dim_sizes = {X = 4}} {
  %flat = spyre.view %x by affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)> : tensor<6x4xf16> -> tensor<24xf16>
  %exp = spyre.pointwise exp(%flat) : tensor<24xf16>
  return %exp : tensor<24xf16>
}

// Operands name parts of one dimension.
// CHECK-LABEL: func.func @operands_complete_a_dimension(
// CHECK:         spyre.pointwise add({{.+}}) {dims = ["A*B"]}
func.func @operands_complete_a_dimension(%x: tensor<8x64xf16> {spyre.dims = ["A", ""]}, %y: tensor<8x64xf16> {spyre.dims = ["", "B"]}) -> tensor<512xf16> {
  %0 = spyre.view %x by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  %1 = spyre.view %y by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  %sum = spyre.pointwise add(%0, %1) : tensor<512xf16>
  return %sum : tensor<512xf16>
}
