// RUN: spyre-opt --spyre-propagate-dims="dims=0=A:B" %s | FileCheck %s

// The option sets the attribute of the argument, and replaces an existing one.
// CHECK-LABEL: func.func @the_option_names_an_argument(
// CHECK-SAME:    [[X:%.+]]: tensor<8x64xf16> {spyre.dims = ["A", "B"]}) -> tensor<8x64xf16>
// CHECK-SAME:    attributes {spyre.dim_sizes = {A = 8 : i64, B = 64 : i64}} {
// CHECK-NEXT:    spyre.pointwise exp([[X]]) {dims = ["A", "B"]} : tensor<8x64xf16>
func.func @the_option_names_an_argument(%x: tensor<8x64xf16> {spyre.dims = ["rows", "columns"]}) -> tensor<8x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// CHECK-LABEL: func.func @names_follow_values(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{%.+}}) {dims = ["A", "B"]} : tensor<8x64xf16>
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[EXP]] {dims = ["A", "B"]} : tensor<8x64xf16> -> tensor<8x64xf16>
// CHECK-NEXT:    spyre.pointwise neg([[COPY]]) {dims = ["A", "B"]} : tensor<8x64xf16>
func.func @names_follow_values(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  %copy = spyre.copy %exp : tensor<8x64xf16> -> tensor<8x64xf16>
  %neg = spyre.pointwise neg(%copy) : tensor<8x64xf16>
  return %neg : tensor<8x64xf16>
}

// An iteration dimension gets its name from any operand that has one.
// CHECK-LABEL: func.func @operands_complete_each_other(
// CHECK:         spyre.pointwise add({{%.+}}, {{%.+}}) {dims = ["outer", "A", "B"]}
// CHECK-SAME:      : (tensor<1x8x64xf16>, tensor<4x1x1xf16>) -> tensor<4x8x64xf16>
func.func @operands_complete_each_other(%x: tensor<8x64xf16>, %column: tensor<4x1x1xf16> {spyre.dims = ["outer", "", ""]}) -> tensor<4x8x64xf16> {
  %row = spyre.view %x by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<8x64xf16> -> tensor<1x8x64xf16>
  %sum = spyre.pointwise add(%row, %column) : (tensor<1x8x64xf16>, tensor<4x1x1xf16>) -> tensor<4x8x64xf16>
  return %sum : tensor<4x8x64xf16>
}

// A dimension of size 1 is read at index 0 only, so its name is not propagated.
// CHECK-LABEL: func.func @a_repeated_dim_gives_no_name(
// CHECK:         spyre.pointwise sub({{%.+}}, {{%.+}}) {dims = ["A", "wide"]} : (tensor<8x1xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
func.func @a_repeated_dim_gives_no_name(%column: tensor<8x1xf16>, %y: tensor<8x64xf16> {spyre.dims = ["", "wide"]}) -> tensor<8x64xf16> {
  %difference = spyre.pointwise sub(%column, %y) : (tensor<8x1xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
  return %difference : tensor<8x64xf16>
}

// CHECK-LABEL: func.func @names_follow_views(
// CHECK:         spyre.pointwise exp({{%.+}}) {dims = ["B", "A"]} : tensor<64x8xf16>
func.func @names_follow_views(%x: tensor<8x64xf16>) -> tensor<64x8xf16> {
  %transposed = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x64xf16> -> tensor<64x8xf16>
  %exp = spyre.pointwise exp(%transposed) : tensor<64x8xf16>
  return %exp : tensor<64x8xf16>
}

// The iteration space of a reduction has the kept dimensions first; the name of the reduced one is not propagated further.
// CHECK-LABEL: func.func @a_reduced_dim_has_its_name_last(
// CHECK:         [[SUM:%.+]] = spyre.reduce sum({{%.+}}) dims [0] {dims = ["B", "A"]} : tensor<8x64xf16> -> tensor<1x64xf16>
// CHECK-NEXT:    spyre.pointwise exp([[SUM]]) {dims = ["", "B"]} : tensor<1x64xf16>
func.func @a_reduced_dim_has_its_name_last(%x: tensor<8x64xf16>) -> tensor<1x64xf16> {
  %sum = spyre.reduce sum(%x) dims [0] : tensor<8x64xf16> -> tensor<1x64xf16>
  %exp = spyre.pointwise exp(%sum) : tensor<1x64xf16>
  return %exp : tensor<1x64xf16>
}

// Batch, M, N, K; the product has all but K.
// CHECK-LABEL: func.func @a_matmul_has_the_names_of_both_factors(
// CHECK:         [[PRODUCT:%.+]] = spyre.matmul({{%.+}}, {{%.+}}) {dims = ["A", "N", "B"]} : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
// CHECK-NEXT:    spyre.pointwise exp([[PRODUCT]]) {dims = ["A", "N"]} : tensor<8x128xf16>
func.func @a_matmul_has_the_names_of_both_factors(%x: tensor<8x64xf16>, %y: tensor<64x128xf16> {spyre.dims = ["", "N"]}) -> tensor<8x128xf16> {
  %product = spyre.matmul(%x, %y) : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
  %exp = spyre.pointwise exp(%product) : tensor<8x128xf16>
  return %exp : tensor<8x128xf16>
}

// CHECK-LABEL: func.func @ops_without_names_get_none(
// CHECK:         spyre.pointwise exp({{%.+}}) : tensor<4x64xf16>
func.func @ops_without_names_get_none(%x: tensor<8x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %exp = spyre.pointwise exp(%y) : tensor<4x64xf16>
  return %exp : tensor<4x64xf16>
}

// CHECK-LABEL: func.func @the_first_name_is_kept(
// CHECK:         [[SUM:%.+]] = spyre.pointwise add({{%.+}}, {{%.+}}) {dims = ["A", "B"]} : tensor<8x64xf16>
// CHECK-NEXT:    spyre.pointwise exp([[SUM]]) {dims = ["A", "B"]} : tensor<8x64xf16>
func.func @the_first_name_is_kept(%x: tensor<8x64xf16>, %y: tensor<8x64xf16> {spyre.dims = ["A", "C"]}) -> tensor<8x64xf16> {
  %sum = spyre.pointwise add(%x, %y) : tensor<8x64xf16>
  %exp = spyre.pointwise exp(%sum) : tensor<8x64xf16>
  return %exp : tensor<8x64xf16>
}

// A slice gives its names to the buffer; if two slices disagree, the first in the program wins. Dimensions of size 1 are ignored.
// CHECK-LABEL: func.func @parts_name_their_buffer(
// CHECK:         spyre.insert {{.+}} at [0, 0] {dims = ["A", "B"]}
// CHECK-NEXT:    spyre.insert {{.+}} at [8, 0] {dims = ["", "other"]}
// CHECK-NEXT:    spyre.insert {{.+}} at [9, 0]
// CHECK-NOT:       dims
// CHECK-NEXT:    spyre.pointwise exp({{.+}}) {dims = ["A", "B"]}
func.func @parts_name_their_buffer(%x: tensor<8x64xf16>, %row: tensor<1x64xf16> {spyre.dims = ["row", "other"]}, %y: tensor<2x64xf16>) -> tensor<11x64xf16> {
  %buffer = spyre.empty : tensor<11x64xf16>
  %0 = spyre.insert %x into %buffer at [0, 0] : tensor<8x64xf16> into tensor<11x64xf16>
  %1 = spyre.insert %row into %0 at [8, 0] : tensor<1x64xf16> into tensor<11x64xf16>
  %2 = spyre.insert %y into %1 at [9, 0] : tensor<2x64xf16> into tensor<11x64xf16>
  %exp = spyre.pointwise exp(%2) : tensor<11x64xf16>
  return %exp : tensor<11x64xf16>
}

// Values that depend on constants only, such as a mask, get the names of their user; values of unnamed arguments have no names.
// CHECK-LABEL: func.func @a_mask_is_named_by_its_reader(
// CHECK:         [[MASK:%.+]] = spyre.pointwise greaterthan({{.+}}) {dims = ["A", "B"]}
// CHECK-NEXT:    [[OTHER:%.+]] = spyre.pointwise neg(%{{.+}}) : tensor<8x64xf16>
// CHECK-NEXT:    spyre.pointwise where3([[MASK]], {{.+}}, [[OTHER]]) {dims = ["A", "B"]}
func.func @a_mask_is_named_by_its_reader(%x: tensor<8x64xf16> {spyre.dims = ["A", "B"]}, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %rows = spyre.constant dense<0.5> : tensor<8x1xf16> -> tensor<8x1xf16>
  %columns = spyre.constant dense<1.0> : tensor<1x64xf16> -> tensor<1x64xf16>
  %mask = spyre.pointwise greaterthan(%rows, %columns) : (tensor<8x1xf16>, tensor<1x64xf16>) -> tensor<8x64xf16>
  %other = spyre.pointwise neg(%y) : tensor<8x64xf16>
  %r = spyre.pointwise where3(%mask, %x, %other) : tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}
