// RUN: spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-clone-inputs %s | FileCheck %s
// RUN: spyre-opt --spyre-set-target=lx-bytes=16384 --spyre-propagate-layouts --spyre-divide-work --spyre-clone-inputs %s | FileCheck %s --check-prefix=SMALL

// CHECK-DAG: #[[TILE_BUFFER:layout[0-9]*]] = #spyre.layout<[16, 128, 64], [64, 1024, 1]>
// CHECK-DAG: #[[WINDOW:layout[0-9]*]] = #spyre.layout<[16, 512, 64], [64, 1024, 1], of = [512, 1024]>

// The copy stands before the first reader and is divided like it.
// CHECK-LABEL: func.func @arguments_read_twice_are_copied_once(
// CHECK-SAME:    [[X:%.+]]: tensor<512x1024xf16, #[[ROWS:layout[0-9]*]]>) ->
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]] {work = #spyre.work<[32, 1]>} : tensor<512x1024xf16, #[[ROWS]]> -> tensor<512x1024xf16, #[[ROWS]]>
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[COPY]]) dims [1]
// CHECK-NEXT:    [[SHIFTED:%.+]] = spyre.pointwise sub([[COPY]], [[MAX]])
// CHECK-NEXT:    return [[SHIFTED]]

// 32768 bytes on each core would not fit.
// SMALL-LABEL: func.func @arguments_read_twice_are_copied_once(
// SMALL-NOT:     spyre.copy
// SMALL:         return
func.func @arguments_read_twice_are_copied_once(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
  return %shifted : tensor<512x1024xf16>
}

// One op may be both readers.
// CHECK-LABEL: func.func @an_op_may_read_twice(
// CHECK-SAME:    [[X:%.+]]: tensor<512x1024xf16, #{{.+}}>) ->
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]]
// CHECK-NEXT:    spyre.pointwise mul([[COPY]], [[COPY]])
func.func @an_op_may_read_twice(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %square = spyre.pointwise mul(%x, %x) : tensor<512x1024xf16>
  return %square : tensor<512x1024xf16>
}

// CHECK-LABEL: func.func @arguments_read_once_are_not_copied(
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @arguments_read_once_are_not_copied(%x: tensor<512x1024xf16>, %y: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %sum = spyre.pointwise add(%x, %y) : tensor<512x1024xf16>
  return %sum : tensor<512x1024xf16>
}

// The sum of the columns gives every core other elements than the exponential.
// CHECK-LABEL: func.func @readers_with_other_slices_get_no_copy(
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @readers_with_other_slices_get_no_copy(%x: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<1x1024xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %sum = spyre.reduce sum(%x) dims [0] : tensor<512x1024xf16> -> tensor<1x1024xf16>
  return %exp, %sum : tensor<512x1024xf16>, tensor<1x1024xf16>
}

// Every core needs the whole row, and a copy would leave it on one.
// CHECK-LABEL: func.func @a_row_for_all_cores_is_not_copied(
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @a_row_for_all_cores_is_not_copied(%x: tensor<512x1024xf16>, %row: tensor<1x1024xf16>) -> tensor<512x1024xf16> {
  %sum = spyre.pointwise add(%x, %row) : (tensor<512x1024xf16>, tensor<1x1024xf16>) -> tensor<512x1024xf16>
  %product = spyre.pointwise mul(%sum, %row) : (tensor<512x1024xf16>, tensor<1x1024xf16>) -> tensor<512x1024xf16>
  return %product : tensor<512x1024xf16>
}

// A value of the program may be in LX as it is.
// CHECK-LABEL: func.func @values_that_ops_make_are_not_copied(
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @values_that_ops_make_are_not_copied(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  %square = spyre.pointwise mul(%exp, %exp) : tensor<512x1024xf16>
  return %square : tensor<512x1024xf16>
}

// The copy has the names of the dimensions that the reader knows.
// CHECK-LABEL: func.func @copies_have_names(
// CHECK:         spyre.copy {{%.+}} {dims = ["rows", ""], work = #spyre.work<[32, 1]>}
func.func @copies_have_names(%x: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<512x1024xf16>) {
  %exp = spyre.pointwise exp(%x) {dims = ["rows", ""]} : tensor<512x1024xf16>
  %neg = spyre.pointwise neg(%x) {dims = ["rows", ""]} : tensor<512x1024xf16>
  return %exp, %neg : tensor<512x1024xf16>, tensor<512x1024xf16>
}

// Both reductions number their cores by columns first, and so does the copy.
// CHECK-LABEL: func.func @a_copy_leaves_the_slices_on_the_same_cores(
// CHECK:         spyre.copy {{%.+}} {work = #spyre.work<[16, 2], order = [1, 0]>}
// CHECK:         spyre.reduce sum({{.+}}) dims [0] {work = #spyre.work<[2, 16]>}
// CHECK-NEXT:    spyre.reduce max({{.+}}) dims [0] {work = #spyre.work<[2, 16]>}
func.func @a_copy_leaves_the_slices_on_the_same_cores(%x: tensor<512x128xf16>) -> (tensor<1x128xf16>, tensor<1x128xf16>) {
  %sum = spyre.reduce sum(%x) dims [0] : tensor<512x128xf16> -> tensor<1x128xf16>
  %max = spyre.reduce max(%x) dims [0] : tensor<512x128xf16> -> tensor<1x128xf16>
  return %sum, %max : tensor<1x128xf16>, tensor<1x128xf16>
}

// A tile is a window of the buffer; its copy is as large as the tile.
// CHECK-LABEL: func.func @tiles_are_copied_in_the_loop(
// CHECK:         spyre.loop 4 "rows" tiled([[TILE:%.+]] = {{%.+}}[0] : tensor<512x1024xf16, #{{layout[0-9]*}}>) {
// CHECK-NEXT:      [[COPY:%.+]] = spyre.copy [[TILE]] {work = #spyre.work<[32, 1]>} : tensor<128x1024xf16, #[[WINDOW]]> -> tensor<128x1024xf16, #[[TILE_BUFFER]]>
// CHECK-NEXT:      [[MAX:%.+]] = spyre.reduce max([[COPY]]) dims [1]
// CHECK-NEXT:      [[SHIFTED:%.+]] = spyre.pointwise sub([[COPY]], [[MAX]]) {{.*}} -> tensor<128x1024xf16, #[[WINDOW]]>
#full = #spyre.layout<[16, 512, 64], [64, 1024, 1]>
#window = #spyre.layout<[16, 512, 64], [64, 1024, 1], of = [512, 1024]>
#column = #spyre.layout<[1, 128, 64], [-1, 1, -1]>
func.func @tiles_are_copied_in_the_loop(%x: tensor<512x1024xf16, #full>) -> tensor<512x1024xf16, #full> {
  %result = spyre.loop 4 "rows" tiled(%tile = %x[0] : tensor<512x1024xf16, #full>) {
    %max = spyre.reduce max(%tile) dims [1] : tensor<128x1024xf16, #window> -> tensor<128x1xf16, #column>
    %shifted = spyre.pointwise sub(%tile, %max) : (tensor<128x1024xf16, #window>, tensor<128x1xf16, #column>) -> tensor<128x1024xf16, #window>
    spyre.yield %shifted[0] : tensor<128x1024xf16, #window>
  } : tensor<512x1024xf16, #full>
  return %result : tensor<512x1024xf16, #full>
}

// A constant is an input too.
// CHECK-LABEL: func.func @constants_are_copied(
// CHECK:         [[WEIGHT:%.+]] = spyre.constant
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[WEIGHT]]
// CHECK-NEXT:    [[SUM:%.+]] = spyre.pointwise add({{%.+}}, [[COPY]])
// CHECK-NEXT:    spyre.pointwise mul([[SUM]], [[COPY]])
func.func @constants_are_copied(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %weight = spyre.constant dense<1.5> : tensor<512x1024xf16>
  %sum = spyre.pointwise add(%x, %weight) : tensor<512x1024xf16>
  %product = spyre.pointwise mul(%sum, %weight) : tensor<512x1024xf16>
  return %product : tensor<512x1024xf16>
}
