// RUN: spyre-opt --spyre-fuse-prologue-epilogue %s | FileCheck %s
// A second run fuses nothing.
// RUN: spyre-opt --spyre-fuse-prologue-epilogue %s > %t.once && spyre-opt --spyre-fuse-prologue-epilogue %t.once > %t.twice
// RUN: sed 's/spyre.kernels = "[^"]*"//' %t.once > %t.1 && sed 's/spyre.kernels = "[^"]*"//' %t.twice > %t.2 && diff %t.1 %t.2

// Chains before and after the kernel; other operands of the fused ops become inputs, with their names; constants are cloned.
// CHECK-LABEL: func.func @chains_on_both_sides(
// CHECK-SAME:    [[X:%.+]]: tensor<64x128xf16>, [[SCALE:%.+]]: tensor<1x128xf16>, [[RESIDUAL:%.+]]: tensor<64x128xf16>)
// CHECK-NEXT:    [[K:%.+]] = spyre.kernel "k"([[SCALE_:%.+]] = [[SCALE]] : tensor<1x128xf16>, [[X_:%.+]] = [[X]] : tensor<64x128xf16>, [[RESIDUAL_:%.+]] = [[RESIDUAL]] : tensor<64x128xf16>) {
// CHECK-NEXT:      [[SCOPE:%.+]] = spyre.hint tiles(rows = 4) {
// CHECK-NEXT:        [[TWO:%.+]] = spyre.constant dense<2.0
// CHECK-NEXT:        [[DOUBLED:%.+]] = spyre.pointwise mul([[X_]], [[TWO]])
// CHECK-NEXT:        [[SCALED:%.+]] = spyre.pointwise mul([[DOUBLED]], [[SCALE_]])
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[SCALED]])
// CHECK-NEXT:        [[SUM:%.+]] = spyre.pointwise add([[EXP]], [[RESIDUAL_]])
// CHECK-NEXT:        [[RELU:%.+]] = spyre.pointwise relufwd([[SUM]])
// CHECK-NEXT:        spyre.yield [[RELU]] : tensor<64x128xf16>
// CHECK-NEXT:      }
// CHECK-NEXT:      spyre.yield [[SCOPE]] : tensor<64x128xf16>
// CHECK-NEXT:    } {input_dims = {{\[\[}}"", ""], ["rows", "columns"], ["", ""]]}
// CHECK-NEXT:    return [[K]]
func.func @chains_on_both_sides(%x: tensor<64x128xf16>, %scale: tensor<1x128xf16>, %residual: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %two = spyre.constant dense<2.0> : tensor<1x1xf16>
  %doubled = spyre.pointwise mul(%x, %two) : (tensor<64x128xf16>, tensor<1x1xf16>) -> tensor<64x128xf16>
  %scaled = spyre.pointwise mul(%doubled, %scale) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
  %y = spyre.kernel "k"(%in = %scaled : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", "columns"]]}
  %sum = spyre.pointwise add(%y, %residual) : tensor<64x128xf16>
  %relu = spyre.pointwise relufwd(%sum) : tensor<64x128xf16>
  return %relu : tensor<64x128xf16>
}

// An output with other uses is kept; an op may use an output twice; each user is fused separately.
// CHECK-LABEL: func.func @readers_of_one_output(
// CHECK-NEXT:    [[K:%.+]]:3 = spyre.kernel "k"
// CHECK-NEXT:      spyre.hint
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp
// CHECK-NEXT:        [[TWICE:%.+]] = spyre.pointwise add([[EXP]], [[EXP]])
// CHECK-NEXT:        [[NEG:%.+]] = spyre.pointwise neg([[EXP]])
// CHECK:         return [[K]]#0, [[K]]#1, [[K]]#2
func.func @readers_of_one_output(%x: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>) {
  %y = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  %twice = spyre.pointwise add(%y, %y) : tensor<64x128xf16>
  %neg = spyre.pointwise neg(%y) : tensor<64x128xf16>
  return %y, %twice, %neg : tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>
}

// A fused value with other uses after the kernel becomes a result of the kernel, also if it is used through views.
// CHECK-LABEL: func.func @product_that_others_read(
// CHECK-NEXT:    [[K:%.+]]:3 = spyre.kernel "k"
// CHECK-NEXT:      [[SCOPE:%.+]]:3 = spyre.hint
// CHECK-NEXT:        [[NEG:%.+]] = spyre.pointwise neg
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[NEG]])
// CHECK-NEXT:        [[SUM:%.+]] = spyre.pointwise add([[EXP]], [[NEG]])
// CHECK-NEXT:        spyre.yield [[EXP]], [[NEG]], [[SUM]]
// CHECK:         [[ROWS:%.+]] = spyre.view [[K]]#1
// CHECK-NEXT:    return [[K]]#0, [[K]]#1, [[ROWS]], [[K]]#2
func.func @product_that_others_read(%x: tensor<64x128xf16>)
    -> (tensor<64x128xf16>, tensor<64x128xf16>, tensor<8x8x128xf16>, tensor<64x128xf16>) {
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %rows = spyre.view %neg by affine_map<(d0, d1, d2) -> (d0 * 8 + d1, d2)> : tensor<64x128xf16> -> tensor<8x8x128xf16>
  %y = spyre.kernel "k"(%in = %neg : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  %sum = spyre.pointwise add(%y, %neg) : tensor<64x128xf16>
  return %y, %neg, %rows, %sum : tensor<64x128xf16>, tensor<64x128xf16>, tensor<8x8x128xf16>, tensor<64x128xf16>
}

// A gather is fused as prologue: each tile of its rows is gathered in the loop from the complete table.
// CHECK-LABEL: func.func @chosen_rows(
// CHECK-NEXT:    [[K:%.+]] = spyre.kernel "k"([[TABLE:%.+]] = %{{.+}} : tensor<64x128xf16>, [[LIST:%.+]] = %{{.+}} : tensor<32xi64>) {
// CHECK-NEXT:      spyre.hint
// CHECK-NEXT:        [[CHOSEN:%.+]] = spyre.gather([[TABLE]], [[LIST]]) dim 0
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[CHOSEN]])
// CHECK:         {input_dims = {{\[\[}}"", ""], ["rows"]]}
func.func @chosen_rows(%table: tensor<64x128xf16>, %list: tensor<32xi64>) -> tensor<32x128xf16> {
  %chosen = spyre.gather(%table, %list) dim 0 : (tensor<64x128xf16>, tensor<32xi64>) -> tensor<32x128xf16>
  %y = spyre.kernel "k"(%in = %chosen : tensor<32x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<32x128xf16>
      spyre.yield %exp : tensor<32x128xf16>
    }
    spyre.yield %e : tensor<32x128xf16>
  } {input_dims = [["rows", ""]]}
  return %y : tensor<32x128xf16>
}

// A kernel that uses another kernel with equal loops joins it, under any names. Its ops outside of the loops are moved into them.
// CHECK-LABEL: func.func @two_kernels_in_the_same_loops(
// CHECK-NEXT:    [[SHOWN:%.+]] = spyre.view
// CHECK-NEXT:    [[K:%.+]]:2 = spyre.kernel "norm"([[X:%.+]] = %{{.+}} : tensor<64x128xf16>, [[W:%.+]] = [[SHOWN]] : tensor<128x32xf16>) {
// CHECK-NEXT:      spyre.hint tiles(rows = 4)
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[X]])
// CHECK-NEXT:        [[RELU:%.+]] = spyre.pointwise relufwd([[EXP]])
// CHECK-NEXT:        [[TWO:%.+]] = spyre.constant
// CHECK-NEXT:        [[SCALED:%.+]] = spyre.pointwise mul([[W]], [[TWO]])
// CHECK-NEXT:        [[PRODUCT:%.+]] = spyre.matmul([[RELU]], [[SCALED]])
// CHECK-NEXT:        [[TANH:%.+]] = spyre.pointwise tanh([[PRODUCT]])
// CHECK-NEXT:        spyre.yield [[EXP]], [[TANH]]
// CHECK:         return [[K]]#0, [[K]]#1
func.func @two_kernels_in_the_same_loops(%x: tensor<64x128xf16>, %w: tensor<32x128xf16>) -> (tensor<64x128xf16>, tensor<64x32xf16>) {
  %y = spyre.kernel "norm"(%in = %x : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  %relu = spyre.pointwise relufwd(%y) : tensor<64x128xf16>
  %two = spyre.constant dense<2.0> : tensor<1x1xf16>
  %transposed = spyre.view %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<32x128xf16> -> tensor<128x32xf16>
  %z = spyre.kernel "product"(%in = %relu : tensor<64x128xf16>, %weight = %transposed : tensor<128x32xf16>, %scale = %two : tensor<1x1xf16>) {
    %scaled = spyre.pointwise mul(%weight, %scale) : (tensor<128x32xf16>, tensor<1x1xf16>) -> tensor<128x32xf16>
    %h = spyre.hint tiles(m = 4) {
      %product = spyre.matmul(%in, %scaled) : (tensor<64x128xf16>, tensor<128x32xf16>) -> tensor<64x32xf16>
      %tanh = spyre.pointwise tanh(%product) : tensor<64x32xf16>
      spyre.yield %tanh : tensor<64x32xf16>
    }
    spyre.yield %h : tensor<64x32xf16>
  } {input_dims = [["m", "k"], ["k", "n"], ["", ""]]}
  return %y, %z : tensor<64x128xf16>, tensor<64x32xf16>
}

// Outputs of different shapes and ranks; a user of two of them; a reduction of rows, which are complete in a tile.
// CHECK-LABEL: func.func @two_outputs(
// CHECK-NEXT:    [[K:%.+]] = spyre.kernel "norm"
// CHECK-NEXT:      spyre.hint
// CHECK-NEXT:        [[SUM:%.+]] = spyre.reduce sum([[X:%.+]]) dims [1]
// CHECK:             [[DIFFERENCE:%.+]] = spyre.pointwise sub([[X]], [[SUM]])
// CHECK-NEXT:        [[ROW:%.+]] = spyre.view [[SUM]]
// CHECK-NEXT:        [[COLUMN:%.+]] = spyre.view [[ROW]]
// CHECK-NEXT:        [[PRODUCT:%.+]] = spyre.pointwise mul([[DIFFERENCE]], [[COLUMN]])
// CHECK-NEXT:        [[MAX:%.+]] = spyre.reduce max([[PRODUCT]]) dims [1]
// CHECK-NEXT:        spyre.yield [[MAX]] : tensor<64x1xf16>
// CHECK:         return [[K]]
func.func @two_outputs(%x: tensor<64x128xf16>) -> tensor<64x1xf16> {
  %y:2 = spyre.kernel "norm"(%in = %x : tensor<64x128xf16>) {
    %e:2 = spyre.hint tiles(rows = 4) {
      %sum = spyre.reduce sum(%in) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
      %row = spyre.view %sum by affine_map<(d0) -> (d0, 0)> : tensor<64x1xf16> -> tensor<64xf16>
      %difference = spyre.pointwise sub(%in, %sum) : (tensor<64x128xf16>, tensor<64x1xf16>) -> tensor<64x128xf16>
      spyre.yield %difference, %row : tensor<64x128xf16>, tensor<64xf16>
    }
    spyre.yield %e#0, %e#1 : tensor<64x128xf16>, tensor<64xf16>
  } {input_dims = [["rows", ""]]}
  %column = spyre.view %y#1 by affine_map<(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x1xf16>
  %product = spyre.pointwise mul(%y#0, %column) : (tensor<64x128xf16>, tensor<64x1xf16>) -> tensor<64x128xf16>
  %max = spyre.reduce max(%product) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
  return %max : tensor<64x1xf16>
}

// Views between an op and the kernel are fused as well, on both sides.
// CHECK-LABEL: func.func @views_come_along(
// CHECK-SAME:    [[X:%.+]]: tensor<128x64xf16>) -> tensor<128x64xf16>
// CHECK-NEXT:    [[K:%.+]] = spyre.kernel "k"([[X_:%.+]] = [[X]] : tensor<128x64xf16>) {
// CHECK-NEXT:      spyre.hint
// CHECK-NEXT:        [[NEG:%.+]] = spyre.pointwise neg([[X_]]) : tensor<128x64xf16>
// CHECK-NEXT:        [[T:%.+]] = spyre.view [[NEG]]
// CHECK-NEXT:        [[EXP:%.+]] = spyre.pointwise exp([[T]])
// CHECK-NEXT:        [[BACK:%.+]] = spyre.view [[EXP]]
// CHECK-NEXT:        spyre.pointwise abs([[BACK]]) : tensor<128x64xf16>
// CHECK:         } {input_dims = {{\[\[}}"", "rows"]]}
func.func @views_come_along(%x: tensor<128x64xf16>) -> tensor<128x64xf16> {
  %neg = spyre.pointwise neg(%x) : tensor<128x64xf16>
  %t = spyre.view %neg by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x64xf16> -> tensor<64x128xf16>
  %y = spyre.kernel "k"(%in = %t : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  %back = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x128xf16> -> tensor<128x64xf16>
  %abs = spyre.pointwise abs(%back) : tensor<128x64xf16>
  return %abs : tensor<128x64xf16>
}

// An op whose result two scopes use is placed before both, so that it is computed once.
// CHECK-LABEL: func.func @two_scopes(
// CHECK-NEXT:    spyre.kernel "k"([[X:%.+]] = %{{.+}} : tensor<64x128xf16>) {
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg([[X]])
// CHECK-NEXT:      spyre.hint tiles(rows = 4) {
// CHECK-NEXT:        spyre.pointwise exp([[NEG]])
// CHECK:           spyre.hint tiles(rows = 4) {
// CHECK-NEXT:        spyre.pointwise abs([[NEG]])
func.func @two_scopes(%x: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>) {
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %y:2 = spyre.kernel "k"(%in = %neg : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    %f = spyre.hint tiles(rows = 4) {
      %abs = spyre.pointwise abs(%in) : tensor<64x128xf16>
      spyre.yield %abs : tensor<64x128xf16>
    }
    spyre.yield %e, %f : tensor<64x128xf16>, tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  return %y#0, %y#1 : tensor<64x128xf16>, tensor<64x128xf16>
}

// A constant needs no kernel input; an op that feeds two inputs is fused once.
// CHECK-LABEL: func.func @inputs_that_go(
// CHECK-SAME:    [[X:%.+]]: tensor<64x128xf16>) -> tensor<64x128xf16>
// CHECK-NEXT:    spyre.kernel "k"([[X_:%.+]] = [[X]] : tensor<64x128xf16>) {
// CHECK-NEXT:      spyre.hint tiles(rows = 4) {
// CHECK-NEXT:        [[NEG:%.+]] = spyre.pointwise neg([[X_]])
// CHECK-NEXT:        [[PRODUCT:%.+]] = spyre.pointwise mul([[NEG]], [[NEG]])
// CHECK-NEXT:        [[ONE:%.+]] = spyre.constant
// CHECK-NEXT:        spyre.pointwise add([[PRODUCT]], [[ONE]])
func.func @inputs_that_go(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %one = spyre.constant dense<1.0> : tensor<1x128xf16>
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %y = spyre.kernel "k"(%a = %neg : tensor<64x128xf16>, %b = %neg : tensor<64x128xf16>, %c = %one : tensor<1x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %product = spyre.pointwise mul(%a, %b) : tensor<64x128xf16>
      %sum = spyre.pointwise add(%product, %c) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
      spyre.yield %sum : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""], ["rows", ""], []]}
  return %y : tensor<64x128xf16>
}

// An op after a matmul that an inner loop accumulates is placed in the outer loop.
// CHECK-LABEL: func.func @behind_a_sum(
// CHECK:           spyre.hint tiles(m = 4, k = 2) {
// CHECK-NEXT:        [[P:%.+]] = spyre.matmul
// CHECK-NEXT:        spyre.pointwise relufwd([[P]])
func.func @behind_a_sum(%a: tensor<64x128xf16>, %b: tensor<128x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.kernel "matmul"(%l = %a : tensor<64x128xf16>, %r = %b : tensor<128x64xf16>) {
    %e = spyre.hint tiles(m = 4, k = 2) {
      %p = spyre.matmul(%l, %r) : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf16>
      spyre.yield %p : tensor<64x64xf16>
    }
    spyre.yield %e : tensor<64x64xf16>
  } {input_dims = [["m", "k"], ["k", ""]]}
  %relu = spyre.pointwise relufwd(%y) : tensor<64x64xf16>
  return %relu : tensor<64x64xf16>
}

// The order of independent ops does not affect fusion.
// CHECK-LABEL: func.func @another_order(
// CHECK-NEXT:    spyre.kernel "k"
// CHECK-NEXT:      spyre.hint
// CHECK-NEXT:        spyre.pointwise neg
// CHECK-NEXT:        spyre.pointwise abs
// CHECK-NEXT:        [[PRODUCT:%.+]] = spyre.pointwise mul
// CHECK-NEXT:        [[SECOND:%.+]] = spyre.pointwise exp([[PRODUCT]])
// CHECK-NEXT:        [[FIRST:%.+]] = spyre.pointwise relufwd([[PRODUCT]])
// CHECK-NEXT:        spyre.yield [[SECOND]], [[FIRST]]
func.func @another_order(%x: tensor<64x128xf16>, %y: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>) {
  %abs = spyre.pointwise abs(%y) : tensor<64x128xf16>
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %k = spyre.kernel "k"(%a = %neg : tensor<64x128xf16>, %b = %abs : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %product = spyre.pointwise mul(%a, %b) : tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""], ["rows", ""]]}
  %second = spyre.pointwise exp(%k) : tensor<64x128xf16>
  %first = spyre.pointwise relufwd(%k) : tensor<64x128xf16>
  return %first, %second : tensor<64x128xf16>, tensor<64x128xf16>
}
