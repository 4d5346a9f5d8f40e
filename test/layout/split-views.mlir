// RUN: spyre-opt --spyre-propagate-layouts --spyre-insert-restickify --spyre-split-views --canonicalize --cse --mlir-print-local-scope %s | FileCheck %s

// A view with a layout shows the same bytes under other dimensions: the 256 columns are 2 heads of 128.
// CHECK-LABEL: func.func @heads_out_of_columns(
// CHECK-SAME:    [[X:%.+]]: tensor<64x256xf16, #[[COLUMNS:.+]]>) ->
// CHECK-NEXT:    [[SPLIT:%.+]] = spyre.view [[X]] by affine_map<(d0, d1, d2) -> (d0, d1 * 128 + d2)> : {{.+}} -> tensor<64x2x128xf16, #spyre.layout<[2, 2, 64, 64], [128, 64, 256, 1]>>
// CHECK-NEXT:    [[TURNED:%.+]] = spyre.view [[SPLIT]] by affine_map<(d0, d1, d2) -> (d1, d0, d2)> : {{.+}} -> tensor<2x64x128xf16>
// CHECK-NEXT:    spyre.pointwise exp([[TURNED]])
func.func @heads_out_of_columns(%x: tensor<64x256xf16>) -> tensor<2x64x128xf16> {
  %heads = spyre.view %x by affine_map<(d0, d1, d2) -> (d1, d0 * 128 + d2)> : tensor<64x256xf16> -> tensor<2x64x128xf16>
  %exp = spyre.pointwise exp(%heads) : tensor<2x64x128xf16>
  return %exp : tensor<2x64x128xf16>
}

// The op runs over the parts of its iteration dimensions, and its result is shown under those that it had.
// CHECK-LABEL: func.func @columns_out_of_heads(
// CHECK:         [[EXP:%.+]] = spyre.pointwise exp({{%.+}}) : (tensor<64x2x128xf16>) -> tensor<64x2x128xf16, #spyre.layout<[2, 2, 64, 64], [128, 64, 256, 1]>>
// CHECK-NEXT:    [[COLUMNS:%.+]] = spyre.view [[EXP]] by affine_map<(d0, d1) -> (d0, d1 floordiv 128, d1 mod 128)> : {{.+}} -> tensor<64x256xf16, #spyre.layout<[4, 64, 64], [64, 256, 1]>>
// CHECK-NEXT:    return [[COLUMNS]]
func.func @columns_out_of_heads(%x: tensor<2x64x128xf16>) -> tensor<64x256xf16> {
  %columns = spyre.view %x by affine_map<(d0, d1) -> (d1 floordiv 128, d0, d1 mod 128)> : tensor<2x64x128xf16> -> tensor<64x256xf16>
  %exp = spyre.pointwise exp(%columns) : tensor<64x256xf16>
  return %exp : tensor<64x256xf16>
}

// Four queries share each of two heads: the batch is two dimensions, of which the right operand repeats along one.
// CHECK-LABEL: func.func @shared_heads(
// CHECK-SAME:    [[Q:%.+]]: tensor<8x16x64xf16, {{[^%]+}}, [[K:%.+]]: tensor<2x64x128xf16, {{[^%]+}})
// CHECK:         [[SHARED:%.+]] = spyre.view [[K]] by affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)> : {{.+}} -> tensor<2x4x64x128xf16>
// CHECK-NEXT:    [[OUT:%.+]] = spyre.matmul({{%.+}}, [[SHARED]]) : (tensor<2x4x16x64xf16>, tensor<2x4x64x128xf16>) -> tensor<2x4x16x128xf16, #spyre.layout<[16, 2, 2, 4, 64], [128, 64, 8192, 2048, 1]>>
// CHECK-NEXT:    spyre.view [[OUT]] by affine_map<(d0, d1, d2) -> (d0 floordiv 4, d0 mod 4, d1, d2)>
func.func @shared_heads(%q: tensor<8x16x64xf16>, %k: tensor<2x64x128xf16>) -> tensor<8x16x128xf16> {
  %heads = spyre.view %k by affine_map<(d0, d1, d2) -> (d0 floordiv 4, d1, d2)> : tensor<2x64x128xf16> -> tensor<8x64x128xf16>
  %out = spyre.matmul(%q, %heads) : (tensor<8x16x64xf16>, tensor<8x64x128xf16>) -> tensor<8x16x128xf16>
  return %out : tensor<8x16x128xf16>
}

// The outer part of M stands in front, like a batch dimension that the right operand repeats along.
// CHECK-LABEL: func.func @rows_out_of_batches(
// CHECK:         spyre.matmul({{%.+}}, {{%.+}}) : (tensor<4x16x64xf16>, tensor<4x64x128xf16>) -> tensor<4x16x128xf16, #spyre.layout<[2, 4, 16, 64], [64, 2048, 128, 1]>>
func.func @rows_out_of_batches(%x: tensor<4x16x64xf16>, %w: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 16, d0 mod 16, d1)> : tensor<4x16x64xf16> -> tensor<64x64xf16>
  %out = spyre.matmul(%rows, %w) : (tensor<64x64xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
  return %out : tensor<64x128xf16>
}

// A reduced dimension has another number.
// CHECK-LABEL: func.func @a_sum_of_rows_out_of_batches(
// CHECK:         [[SUM:%.+]] = spyre.reduce sum({{%.+}}) dims [2] : tensor<4x16x64xf16> -> tensor<4x16x1xf16, #spyre.layout<[1, 4, 16, 64], [-1, 16, 1, -1]>>
// CHECK-NEXT:    spyre.view [[SUM]] by affine_map<(d0, d1) -> (d0 floordiv 16, d0 mod 16, d1)> : {{.+}} -> tensor<64x1xf16, #spyre.layout<[1, 64, 64], [-1, 1, -1]>>
func.func @a_sum_of_rows_out_of_batches(%x: tensor<4x16x64xf16>) -> tensor<64x1xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 16, d0 mod 16, d1)> : tensor<4x16x64xf16> -> tensor<64x64xf16>
  %sum = spyre.reduce sum(%rows) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
  return %sum : tensor<64x1xf16>
}

// Permuted, shifted, added and dropped dimensions need no split.
// CHECK-LABEL: func.func @plain_views_stay(
// CHECK-NEXT:    [[ROWS:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1) -> (d0 + 32, d1)>
// CHECK-NEXT:    [[ROW:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1) -> (d1)>
// CHECK-NEXT:    spyre.pointwise add([[ROWS]], [[ROW]])
func.func @plain_views_stay(%x: tensor<64x128xf16>, %bias: tensor<128xf16>) -> tensor<32x128xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 + 32, d1)> : tensor<64x128xf16> -> tensor<32x128xf16>
  %row = spyre.view %bias by affine_map<(d0, d1) -> (d1)> : tensor<128xf16> -> tensor<1x128xf16>
  %sum = spyre.pointwise add(%rows, %row) : (tensor<32x128xf16>, tensor<1x128xf16>) -> tensor<32x128xf16>
  return %sum : tensor<32x128xf16>
}

// Views that cancel are none.
// CHECK-LABEL: func.func @views_that_cancel(
// CHECK-NEXT:    [[PLAIN:%.+]] = spyre.view {{%.+}} by affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-NEXT:    spyre.pointwise exp([[PLAIN]]) : (tensor<4x16x64xf16>) -> tensor<4x16x64xf16
func.func @views_that_cancel(%x: tensor<4x16x64xf16>) -> tensor<4x16x64xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 16, d0 mod 16, d1)> : tensor<4x16x64xf16> -> tensor<64x64xf16>
  %back = spyre.view %rows by affine_map<(d0, d1, d2) -> (d0 * 16 + d1, d2)> : tensor<64x64xf16> -> tensor<4x16x64xf16>
  %exp = spyre.pointwise exp(%back) : tensor<4x16x64xf16>
  return %exp : tensor<4x16x64xf16>
}

// A part of 60 rows of 61, beside an operand whose view takes the 60 apart: 61 cannot be, so the part is copied into its own buffer.
// CHECK-LABEL: func.func @part_beside_a_split(
// CHECK:         [[PART:%.+]] = spyre.view %arg1
// CHECK:         [[COPY:%.+]] = spyre.copy [[PART]] {spyre.for_layout} : tensor<60x64xf16> -> tensor<60x64xf16, #spyre.layout<[1, 60, 64], [64, 64, 1]>>
// CHECK:         spyre.view [[COPY]] by affine_map<(d0, d1, d2) -> (d0 * 4 + d1, d2)>
// CHECK:         spyre.pointwise add({{.*}}) : (tensor<15x4x64xf16>, tensor<15x4x64xf16>)
#x = #spyre.layout<[15, 1, 4, 64], [64, 64, 960, 1]>
#y = #spyre.layout<[1, 61, 64], [64, 64, 1]>
#z = #spyre.layout<[1, 60, 64], [64, 64, 1]>
func.func @part_beside_a_split(%x: tensor<4x15x64xf16, #x>, %y: tensor<61x64xf16, #y>) -> tensor<60x64xf16, #z> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 mod 4, d0 floordiv 4, d1)> : tensor<4x15x64xf16, #x> -> tensor<60x64xf16>
  %part = spyre.view %y by affine_map<(d0, d1) -> (d0 + 1, d1)> : tensor<61x64xf16, #y> -> tensor<60x64xf16>
  %sum = spyre.pointwise add(%rows, %part) : (tensor<60x64xf16>, tensor<60x64xf16>) -> tensor<60x64xf16, #z>
  return %sum : tensor<60x64xf16, #z>
}

// The beginning of an argument is a window of it, whose tiles a loop can have in LX. What one column shows many times is no window.
// CHECK-LABEL: func.func @beginnings(
// CHECK-SAME:    [[X:%.+]]: tensor<96x128xf16, {{[^%]+}}, [[Y:%.+]]: tensor<96x1xf16, {{[^%]+}})
// CHECK:         [[PART:%.+]] = spyre.view [[X]] by {{.+}} -> tensor<32x128xf16, #spyre.layout<[2, 96, 64], [64, 128, 1], of = [96, 128]>>
// CHECK-NEXT:    spyre.pointwise neg([[PART]])
// CHECK:         [[ALL:%.+]] = spyre.view [[Y]] by {{.+}} -> tensor<96x128xf16>
// CHECK-NEXT:    spyre.pointwise add([[X]], [[ALL]])
func.func @beginnings(%x: tensor<96x128xf16>, %y: tensor<96x1xf16>) -> (tensor<32x128xf16>, tensor<96x128xf16>) {
  %part = spyre.view %x by affine_map<(d0, d1) -> (d0, d1)> : tensor<96x128xf16> -> tensor<32x128xf16>
  %0 = spyre.pointwise neg(%part) : tensor<32x128xf16>
  %all = spyre.view %y by affine_map<(d0, d1) -> (d0, 0)> : tensor<96x1xf16> -> tensor<96x128xf16>
  %1 = spyre.pointwise add(%x, %all) : tensor<96x128xf16>
  return %0, %1 : tensor<32x128xf16>, tensor<96x128xf16>
}
