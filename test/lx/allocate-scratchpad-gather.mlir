// RUN: spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-work --spyre-clone-inputs --spyre-allocate-scratchpad %s | FileCheck %s

// Rows go from HBM to HBM: neither the table nor the result is in LX. What reads the result twice reads a copy.
// CHECK-LABEL: func.func @a_gather_reads_and_writes_hbm(
// CHECK:         [[TABLE:%.+]] = spyre.pointwise exp({{.+}}) {place = #spyre.place<hbm, "it is an index tensor, or accessed through one">,
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.gather([[TABLE]], {{.+}}) dim 0 {place = #spyre.place<hbm, "a gather writes it, which works from HBM to HBM">, work = #spyre.work<[2, 1]>}
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[ROWS]] {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise add([[COPY]], [[COPY]]) {place = #spyre.place<lx, 0>,
func.func @a_gather_reads_and_writes_hbm(%x: tensor<512x128xf16>, %index: tensor<64xi32>) -> tensor<64x128xf16> {
  %table = spyre.pointwise exp(%x) : tensor<512x128xf16>
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<512x128xf16>, tensor<64xi32>) -> tensor<64x128xf16>
  %sum = spyre.pointwise add(%rows, %rows) : tensor<64x128xf16>
  %neg = spyre.pointwise neg(%sum) : tensor<64x128xf16>
  return %neg : tensor<64x128xf16>
}

// CHECK-LABEL: func.func @indices_are_in_hbm(
// CHECK:         [[INDEX:%.+]] = spyre.copy {{.+}} {place = #spyre.place<hbm, "it is an index tensor, or accessed through one">,
// CHECK-NEXT:    spyre.gather({{.+}}, [[INDEX]])
#other = #spyre.layout<[1, 2, 32], [-1, 32, 1]>
func.func @indices_are_in_hbm(%x: tensor<512x128xf16>, %given: tensor<64xi32, #other>) -> tensor<64x128xf16> {
  %index = spyre.copy %given : tensor<64xi32, #other> -> tensor<64xi32, #spyre.layout<[2, 32], [32, 1]>>
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16>, tensor<64xi32, #spyre.layout<[2, 32], [32, 1]>>) -> tensor<64x128xf16>
  return %rows : tensor<64x128xf16>
}

// The copy of a table that is read in another layout is more than a copy into LX: it stays where it finds no room there.
// CHECK-LABEL: func.func @a_copy_to_another_layout_stays(
// CHECK:         [[COPY:%.+]] = spyre.copy {{.+}} {place = #spyre.place<hbm, "it is an index tensor, or accessed through one">,
// CHECK-NEXT:    spyre.gather([[COPY]],
#rows = #spyre.layout<[2, 512, 64], [64, 128, 1]>
func.func @a_copy_to_another_layout_stays(%x: tensor<512x128xf16, #rows>, %index: tensor<64xi32>) -> tensor<64x128xf16> {
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16, #rows>, tensor<64xi32>) -> tensor<64x128xf16>
  return %rows : tensor<64x128xf16>
}

// The others read a copy in LX.
// CHECK-LABEL: func.func @a_table_is_cloned_for_others_only(
// CHECK-SAME:    [[X:%.+]]: tensor<512x128xf16, #{{[a-z0-9]+}}>, {{.+}}) ->
// CHECK-NEXT:    [[COPY:%.+]] = spyre.copy [[X]] {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise mul([[COPY]], [[COPY]])
// CHECK-NEXT:    spyre.gather([[X]],
func.func @a_table_is_cloned_for_others_only(%x: tensor<512x128xf16>, %index: tensor<64xi32>) -> (tensor<512x128xf16>, tensor<64x128xf16>) {
  %square = spyre.pointwise mul(%x, %x) : tensor<512x128xf16>
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x128xf16>, tensor<64xi32>) -> tensor<64x128xf16>
  return %square, %rows : tensor<512x128xf16>, tensor<64x128xf16>
}
