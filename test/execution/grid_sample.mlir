// Bilinear samples of an image at positions that are computed, with zeros outside of it, as PyTorch takes `grid_sample` apart: an integer that is read off a
// number is bounded by the condition that chooses it.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// RUN: spyre-compile %t/parts/single.mlir -o %t/single --validate > %t.log && spyre-run %t/single --seed 3 --check %t/parts/single.mlir | FileCheck %s
// RUN: spyre-compile %t/parts/half.mlir -o %t/half --validate > %t.log && spyre-run %t/half --check %t/parts/half.mlir | FileCheck %s

// CHECK: result0: correct

//--- single.mlir
#at = affine_map<(n, c, y, x) -> (n, y, x)>
#whole = affine_map<(n, c, y, x) -> (n, c, y, x)>
func.func @grid_sample(%image: tensor<1x2x5x6xf32>, %grid: tensor<1x4x3x2xf32>) -> tensor<1x2x4x3xf32> {
  %across = tensor.extract_slice %grid[0, 0, 0, 0] [1, 4, 3, 1] [1, 1, 1, 1] : tensor<1x4x3x2xf32> to tensor<1x4x3xf32>
  %down = tensor.extract_slice %grid[0, 0, 0, 1] [1, 4, 3, 1] [1, 1, 1, 1] : tensor<1x4x3x2xf32> to tensor<1x4x3xf32>
  %e = tensor.empty() : tensor<1x2x4x3xf32>
  %r = linalg.generic {indexing_maps = [#at, #at, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%across, %down : tensor<1x4x3xf32>, tensor<1x4x3xf32>) outs(%e : tensor<1x2x4x3xf32>) {
  ^bb0(%x_in: f32, %y_in: f32, %out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %width = arith.constant 6.0 : f32
    %height = arith.constant 5.0 : f32
    %first = arith.constant 0 : i64
    %columns = arith.constant 6 : i64
    %rows = arith.constant 5 : i64
    %x_scale = arith.constant 3.0 : f32
    %x_shift = arith.constant 2.5 : f32
    %x_scaled = arith.mulf %x_in, %x_scale : f32
    %x = arith.addf %x_scaled, %x_shift : f32
    %x0 = math.floor %x : f32
    %x1 = arith.addf %x0, %one : f32
    %x_near = arith.subf %x1, %x : f32
    %x_far = arith.subf %x, %x0 : f32
    %y_scale = arith.constant 2.5 : f32
    %y_shift = arith.constant 2.0 : f32
    %y_scaled = arith.mulf %y_in, %y_scale : f32
    %y = arith.addf %y_scaled, %y_shift : f32
    %y0 = math.floor %y : f32
    %y1 = arith.addf %y0, %one : f32
    %y_near = arith.subf %y1, %y : f32
    %y_far = arith.subf %y, %y0 : f32
    %nw_left = arith.cmpf oge, %x0, %zero : f32
    %nw_right = arith.cmpf olt, %x0, %width : f32
    %nw_above = arith.cmpf oge, %y0, %zero : f32
    %nw_below = arith.cmpf olt, %y0, %height : f32
    %nw_across = arith.andi %nw_left, %nw_right : i1
    %nw_down = arith.andi %nw_above, %nw_below : i1
    %nw_in = arith.andi %nw_across, %nw_down : i1
    %nw_x_whole = arith.fptosi %x0 : f32 to i64
    %nw_x_chosen = arith.select %nw_in, %nw_x_whole, %first : i64
    %nw_x_is_below = arith.cmpi slt, %nw_x_chosen, %first : i64
    %nw_x_from_end = arith.addi %nw_x_chosen, %columns : i64
    %nw_x_at = arith.select %nw_x_is_below, %nw_x_from_end, %nw_x_chosen : i64
    %nw_x = arith.index_cast %nw_x_at : i64 to index
    %nw_y_whole = arith.fptosi %y0 : f32 to i64
    %nw_y_chosen = arith.select %nw_in, %nw_y_whole, %first : i64
    %nw_y_is_below = arith.cmpi slt, %nw_y_chosen, %first : i64
    %nw_y_from_end = arith.addi %nw_y_chosen, %rows : i64
    %nw_y_at = arith.select %nw_y_is_below, %nw_y_from_end, %nw_y_chosen : i64
    %nw_y = arith.index_cast %nw_y_at : i64 to index
    %nw = tensor.extract %image[%n, %c, %nw_y, %nw_x] : tensor<1x2x5x6xf32>
    %nw_product = arith.mulf %x_near, %y_near : f32
    %nw_weight = arith.select %nw_in, %nw_product, %zero : f32
    %nw_part = arith.mulf %nw, %nw_weight : f32
    %ne_left = arith.cmpf oge, %x1, %zero : f32
    %ne_right = arith.cmpf olt, %x1, %width : f32
    %ne_above = arith.cmpf oge, %y0, %zero : f32
    %ne_below = arith.cmpf olt, %y0, %height : f32
    %ne_across = arith.andi %ne_left, %ne_right : i1
    %ne_down = arith.andi %ne_above, %ne_below : i1
    %ne_in = arith.andi %ne_across, %ne_down : i1
    %ne_x_whole = arith.fptosi %x1 : f32 to i64
    %ne_x_chosen = arith.select %ne_in, %ne_x_whole, %first : i64
    %ne_x_is_below = arith.cmpi slt, %ne_x_chosen, %first : i64
    %ne_x_from_end = arith.addi %ne_x_chosen, %columns : i64
    %ne_x_at = arith.select %ne_x_is_below, %ne_x_from_end, %ne_x_chosen : i64
    %ne_x = arith.index_cast %ne_x_at : i64 to index
    %ne_y_whole = arith.fptosi %y0 : f32 to i64
    %ne_y_chosen = arith.select %ne_in, %ne_y_whole, %first : i64
    %ne_y_is_below = arith.cmpi slt, %ne_y_chosen, %first : i64
    %ne_y_from_end = arith.addi %ne_y_chosen, %rows : i64
    %ne_y_at = arith.select %ne_y_is_below, %ne_y_from_end, %ne_y_chosen : i64
    %ne_y = arith.index_cast %ne_y_at : i64 to index
    %ne = tensor.extract %image[%n, %c, %ne_y, %ne_x] : tensor<1x2x5x6xf32>
    %ne_product = arith.mulf %x_far, %y_near : f32
    %ne_weight = arith.select %ne_in, %ne_product, %zero : f32
    %ne_part = arith.mulf %ne, %ne_weight : f32
    %ne_sum = arith.addf %nw_part, %ne_part : f32
    %sw_left = arith.cmpf oge, %x0, %zero : f32
    %sw_right = arith.cmpf olt, %x0, %width : f32
    %sw_above = arith.cmpf oge, %y1, %zero : f32
    %sw_below = arith.cmpf olt, %y1, %height : f32
    %sw_across = arith.andi %sw_left, %sw_right : i1
    %sw_down = arith.andi %sw_above, %sw_below : i1
    %sw_in = arith.andi %sw_across, %sw_down : i1
    %sw_x_whole = arith.fptosi %x0 : f32 to i64
    %sw_x_chosen = arith.select %sw_in, %sw_x_whole, %first : i64
    %sw_x_is_below = arith.cmpi slt, %sw_x_chosen, %first : i64
    %sw_x_from_end = arith.addi %sw_x_chosen, %columns : i64
    %sw_x_at = arith.select %sw_x_is_below, %sw_x_from_end, %sw_x_chosen : i64
    %sw_x = arith.index_cast %sw_x_at : i64 to index
    %sw_y_whole = arith.fptosi %y1 : f32 to i64
    %sw_y_chosen = arith.select %sw_in, %sw_y_whole, %first : i64
    %sw_y_is_below = arith.cmpi slt, %sw_y_chosen, %first : i64
    %sw_y_from_end = arith.addi %sw_y_chosen, %rows : i64
    %sw_y_at = arith.select %sw_y_is_below, %sw_y_from_end, %sw_y_chosen : i64
    %sw_y = arith.index_cast %sw_y_at : i64 to index
    %sw = tensor.extract %image[%n, %c, %sw_y, %sw_x] : tensor<1x2x5x6xf32>
    %sw_product = arith.mulf %x_near, %y_far : f32
    %sw_weight = arith.select %sw_in, %sw_product, %zero : f32
    %sw_part = arith.mulf %sw, %sw_weight : f32
    %sw_sum = arith.addf %ne_sum, %sw_part : f32
    %se_left = arith.cmpf oge, %x1, %zero : f32
    %se_right = arith.cmpf olt, %x1, %width : f32
    %se_above = arith.cmpf oge, %y1, %zero : f32
    %se_below = arith.cmpf olt, %y1, %height : f32
    %se_across = arith.andi %se_left, %se_right : i1
    %se_down = arith.andi %se_above, %se_below : i1
    %se_in = arith.andi %se_across, %se_down : i1
    %se_x_whole = arith.fptosi %x1 : f32 to i64
    %se_x_chosen = arith.select %se_in, %se_x_whole, %first : i64
    %se_x_is_below = arith.cmpi slt, %se_x_chosen, %first : i64
    %se_x_from_end = arith.addi %se_x_chosen, %columns : i64
    %se_x_at = arith.select %se_x_is_below, %se_x_from_end, %se_x_chosen : i64
    %se_x = arith.index_cast %se_x_at : i64 to index
    %se_y_whole = arith.fptosi %y1 : f32 to i64
    %se_y_chosen = arith.select %se_in, %se_y_whole, %first : i64
    %se_y_is_below = arith.cmpi slt, %se_y_chosen, %first : i64
    %se_y_from_end = arith.addi %se_y_chosen, %rows : i64
    %se_y_at = arith.select %se_y_is_below, %se_y_from_end, %se_y_chosen : i64
    %se_y = arith.index_cast %se_y_at : i64 to index
    %se = tensor.extract %image[%n, %c, %se_y, %se_x] : tensor<1x2x5x6xf32>
    %se_product = arith.mulf %x_far, %y_far : f32
    %se_weight = arith.select %se_in, %se_product, %zero : f32
    %se_part = arith.mulf %se, %se_weight : f32
    %se_sum = arith.addf %sw_sum, %se_part : f32
    linalg.yield %se_sum : f32
  } -> tensor<1x2x4x3xf32>
  return %r : tensor<1x2x4x3xf32>
}

//--- half.mlir
#at = affine_map<(n, c, y, x) -> (n, y, x)>
#whole = affine_map<(n, c, y, x) -> (n, c, y, x)>
func.func @grid_sample(%image: tensor<2x3x8x8xf16>, %grid: tensor<2x8x8x2xf16>) -> tensor<2x3x8x8xf16> {
  %across = tensor.extract_slice %grid[0, 0, 0, 0] [2, 8, 8, 1] [1, 1, 1, 1] : tensor<2x8x8x2xf16> to tensor<2x8x8xf16>
  %down = tensor.extract_slice %grid[0, 0, 0, 1] [2, 8, 8, 1] [1, 1, 1, 1] : tensor<2x8x8x2xf16> to tensor<2x8x8xf16>
  %e = tensor.empty() : tensor<2x3x8x8xf16>
  %r = linalg.generic {indexing_maps = [#at, #at, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%across, %down : tensor<2x8x8xf16>, tensor<2x8x8xf16>) outs(%e : tensor<2x3x8x8xf16>) {
  ^bb0(%x_in: f16, %y_in: f16, %out: f16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %zero = arith.constant 0.0 : f16
    %one = arith.constant 1.0 : f16
    %width = arith.constant 8.0 : f16
    %height = arith.constant 8.0 : f16
    %first = arith.constant 0 : i64
    %columns = arith.constant 8 : i64
    %rows = arith.constant 8 : i64
    %x_scale = arith.constant 4.0 : f16
    %x_shift = arith.constant 3.5 : f16
    %x_scaled = arith.mulf %x_in, %x_scale : f16
    %x = arith.addf %x_scaled, %x_shift : f16
    %x0 = math.floor %x : f16
    %x1 = arith.addf %x0, %one : f16
    %x_near = arith.subf %x1, %x : f16
    %x_far = arith.subf %x, %x0 : f16
    %y_scale = arith.constant 4.0 : f16
    %y_shift = arith.constant 3.5 : f16
    %y_scaled = arith.mulf %y_in, %y_scale : f16
    %y = arith.addf %y_scaled, %y_shift : f16
    %y0 = math.floor %y : f16
    %y1 = arith.addf %y0, %one : f16
    %y_near = arith.subf %y1, %y : f16
    %y_far = arith.subf %y, %y0 : f16
    %nw_left = arith.cmpf oge, %x0, %zero : f16
    %nw_right = arith.cmpf olt, %x0, %width : f16
    %nw_above = arith.cmpf oge, %y0, %zero : f16
    %nw_below = arith.cmpf olt, %y0, %height : f16
    %nw_across = arith.andi %nw_left, %nw_right : i1
    %nw_down = arith.andi %nw_above, %nw_below : i1
    %nw_in = arith.andi %nw_across, %nw_down : i1
    %nw_x_whole = arith.fptosi %x0 : f16 to i64
    %nw_x_chosen = arith.select %nw_in, %nw_x_whole, %first : i64
    %nw_x_is_below = arith.cmpi slt, %nw_x_chosen, %first : i64
    %nw_x_from_end = arith.addi %nw_x_chosen, %columns : i64
    %nw_x_at = arith.select %nw_x_is_below, %nw_x_from_end, %nw_x_chosen : i64
    %nw_x = arith.index_cast %nw_x_at : i64 to index
    %nw_y_whole = arith.fptosi %y0 : f16 to i64
    %nw_y_chosen = arith.select %nw_in, %nw_y_whole, %first : i64
    %nw_y_is_below = arith.cmpi slt, %nw_y_chosen, %first : i64
    %nw_y_from_end = arith.addi %nw_y_chosen, %rows : i64
    %nw_y_at = arith.select %nw_y_is_below, %nw_y_from_end, %nw_y_chosen : i64
    %nw_y = arith.index_cast %nw_y_at : i64 to index
    %nw = tensor.extract %image[%n, %c, %nw_y, %nw_x] : tensor<2x3x8x8xf16>
    %nw_product = arith.mulf %x_near, %y_near : f16
    %nw_weight = arith.select %nw_in, %nw_product, %zero : f16
    %nw_part = arith.mulf %nw, %nw_weight : f16
    %ne_left = arith.cmpf oge, %x1, %zero : f16
    %ne_right = arith.cmpf olt, %x1, %width : f16
    %ne_above = arith.cmpf oge, %y0, %zero : f16
    %ne_below = arith.cmpf olt, %y0, %height : f16
    %ne_across = arith.andi %ne_left, %ne_right : i1
    %ne_down = arith.andi %ne_above, %ne_below : i1
    %ne_in = arith.andi %ne_across, %ne_down : i1
    %ne_x_whole = arith.fptosi %x1 : f16 to i64
    %ne_x_chosen = arith.select %ne_in, %ne_x_whole, %first : i64
    %ne_x_is_below = arith.cmpi slt, %ne_x_chosen, %first : i64
    %ne_x_from_end = arith.addi %ne_x_chosen, %columns : i64
    %ne_x_at = arith.select %ne_x_is_below, %ne_x_from_end, %ne_x_chosen : i64
    %ne_x = arith.index_cast %ne_x_at : i64 to index
    %ne_y_whole = arith.fptosi %y0 : f16 to i64
    %ne_y_chosen = arith.select %ne_in, %ne_y_whole, %first : i64
    %ne_y_is_below = arith.cmpi slt, %ne_y_chosen, %first : i64
    %ne_y_from_end = arith.addi %ne_y_chosen, %rows : i64
    %ne_y_at = arith.select %ne_y_is_below, %ne_y_from_end, %ne_y_chosen : i64
    %ne_y = arith.index_cast %ne_y_at : i64 to index
    %ne = tensor.extract %image[%n, %c, %ne_y, %ne_x] : tensor<2x3x8x8xf16>
    %ne_product = arith.mulf %x_far, %y_near : f16
    %ne_weight = arith.select %ne_in, %ne_product, %zero : f16
    %ne_part = arith.mulf %ne, %ne_weight : f16
    %ne_sum = arith.addf %nw_part, %ne_part : f16
    %sw_left = arith.cmpf oge, %x0, %zero : f16
    %sw_right = arith.cmpf olt, %x0, %width : f16
    %sw_above = arith.cmpf oge, %y1, %zero : f16
    %sw_below = arith.cmpf olt, %y1, %height : f16
    %sw_across = arith.andi %sw_left, %sw_right : i1
    %sw_down = arith.andi %sw_above, %sw_below : i1
    %sw_in = arith.andi %sw_across, %sw_down : i1
    %sw_x_whole = arith.fptosi %x0 : f16 to i64
    %sw_x_chosen = arith.select %sw_in, %sw_x_whole, %first : i64
    %sw_x_is_below = arith.cmpi slt, %sw_x_chosen, %first : i64
    %sw_x_from_end = arith.addi %sw_x_chosen, %columns : i64
    %sw_x_at = arith.select %sw_x_is_below, %sw_x_from_end, %sw_x_chosen : i64
    %sw_x = arith.index_cast %sw_x_at : i64 to index
    %sw_y_whole = arith.fptosi %y1 : f16 to i64
    %sw_y_chosen = arith.select %sw_in, %sw_y_whole, %first : i64
    %sw_y_is_below = arith.cmpi slt, %sw_y_chosen, %first : i64
    %sw_y_from_end = arith.addi %sw_y_chosen, %rows : i64
    %sw_y_at = arith.select %sw_y_is_below, %sw_y_from_end, %sw_y_chosen : i64
    %sw_y = arith.index_cast %sw_y_at : i64 to index
    %sw = tensor.extract %image[%n, %c, %sw_y, %sw_x] : tensor<2x3x8x8xf16>
    %sw_product = arith.mulf %x_near, %y_far : f16
    %sw_weight = arith.select %sw_in, %sw_product, %zero : f16
    %sw_part = arith.mulf %sw, %sw_weight : f16
    %sw_sum = arith.addf %ne_sum, %sw_part : f16
    %se_left = arith.cmpf oge, %x1, %zero : f16
    %se_right = arith.cmpf olt, %x1, %width : f16
    %se_above = arith.cmpf oge, %y1, %zero : f16
    %se_below = arith.cmpf olt, %y1, %height : f16
    %se_across = arith.andi %se_left, %se_right : i1
    %se_down = arith.andi %se_above, %se_below : i1
    %se_in = arith.andi %se_across, %se_down : i1
    %se_x_whole = arith.fptosi %x1 : f16 to i64
    %se_x_chosen = arith.select %se_in, %se_x_whole, %first : i64
    %se_x_is_below = arith.cmpi slt, %se_x_chosen, %first : i64
    %se_x_from_end = arith.addi %se_x_chosen, %columns : i64
    %se_x_at = arith.select %se_x_is_below, %se_x_from_end, %se_x_chosen : i64
    %se_x = arith.index_cast %se_x_at : i64 to index
    %se_y_whole = arith.fptosi %y1 : f16 to i64
    %se_y_chosen = arith.select %se_in, %se_y_whole, %first : i64
    %se_y_is_below = arith.cmpi slt, %se_y_chosen, %first : i64
    %se_y_from_end = arith.addi %se_y_chosen, %rows : i64
    %se_y_at = arith.select %se_y_is_below, %se_y_from_end, %se_y_chosen : i64
    %se_y = arith.index_cast %se_y_at : i64 to index
    %se = tensor.extract %image[%n, %c, %se_y, %se_x] : tensor<2x3x8x8xf16>
    %se_product = arith.mulf %x_far, %y_far : f16
    %se_weight = arith.select %se_in, %se_product, %zero : f16
    %se_part = arith.mulf %se, %se_weight : f16
    %se_sum = arith.addf %sw_sum, %se_part : f16
    linalg.yield %se_sum : f16
  } -> tensor<2x3x8x8xf16>
  return %r : tensor<2x3x8x8xf16>
}
