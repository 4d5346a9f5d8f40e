// RUN: spyre-opt --verify-diagnostics --spyre-inline-kernels %s | FileCheck %s

// The names of the inputs are propagated to the arguments that they depend on, through views and ops; knobs become numbers.
// CHECK-LABEL: func.func @names_reach_arguments(
// CHECK-SAME:    [[X:%.+]]: tensor<128x64xf16> {spyre.dims = ["columns", "rows"]},
// CHECK-SAME:    [[WEIGHT:%.+]]: tensor<1x128xf16> {spyre.dims = ["", "columns"]}) -> tensor<64x128xf16> {
// CHECK-NEXT:    [[T:%.+]] = spyre.view [[X]]
// CHECK-NEXT:    [[E:%.+]] = spyre.pointwise exp([[T]])
// CHECK-NEXT:    [[Y:%.+]] = spyre.hint tiles(rows = 4, columns = 2) work_div(rows = 8) {
// CHECK-NEXT:      spyre.pointwise mul([[E]], [[WEIGHT]])
// CHECK:         return [[Y]]
func.func @names_reach_arguments(%x: tensor<128x64xf16>, %weight: tensor<1x128xf16>) -> tensor<64x128xf16> {
  %t = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x64xf16> -> tensor<64x128xf16>
  %e = spyre.pointwise exp(%t) : tensor<64x128xf16>
  %y = spyre.kernel "k"(%in = %e : tensor<64x128xf16>, %w = %weight : tensor<1x128xf16>) knobs([#spyre.knob<T = 4 in pow2 1 to 8>, #spyre.knob<W = 8 in [4, 8]>]) {
    %z = spyre.hint tiles(rows = T, columns = 2) work_div(rows = W) {
      %product = spyre.pointwise mul(%in, %w) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    spyre.yield %z : tensor<64x128xf16>
  } {input_dims = [["rows", "columns"], ["", "columns"]]}
  return %y : tensor<64x128xf16>
}

// Recomputation along a kernel dimension becomes recomputation along the program's dimension; it is dropped if the program has none.
// CHECK-LABEL: func.func @again(
// CHECK-NEXT:    spyre.hint tiles(tokens = 2) {
// CHECK-NEXT:      spyre.hint recompute(tokens) {
// CHECK-NEXT:        spyre.pointwise neg
func.func @again(%x: tensor<64x128xf16> {spyre.dims = ["tokens", ""]}, %w: tensor<1x128xf16>) -> tensor<64x128xf16> {
  // expected-warning @+1 {{'spyre.kernel' op kernel is not tiled along 'other': no argument of the program has that dimension}}
  %y = spyre.kernel "k"(%in = %x : tensor<64x128xf16>, %weight = %w : tensor<1x128xf16>) {
    %z = spyre.hint tiles(rows = 2, other = 4) {
      %again = spyre.hint recompute(rows, other) {
        %neg = spyre.pointwise neg(%weight) : tensor<1x128xf16>
        spyre.yield %neg : tensor<1x128xf16>
      }
      %product = spyre.pointwise mul(%in, %again) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    spyre.yield %z : tensor<64x128xf16>
  } {input_dims = [["rows", ""], ["other", ""]]}
  return %y : tensor<64x128xf16>
}

// An argument keeps its name, and the kernel adopts it. Two kernels may use one name for different dimensions.
// CHECK-LABEL: func.func @names_of_the_program(
// CHECK-SAME:    [[X:%.+]]: tensor<64x128xf16> {spyre.dims = ["tokens", ""]},
// CHECK-SAME:    [[Y:%.+]]: tensor<32x128xf16> {spyre.dims = ["rows", ""]},
// CHECK-SAME:    [[Z:%.+]]: tensor<16x128xf16> {spyre.dims = ["rows_1", ""]})
// CHECK-NEXT:    spyre.hint tiles(tokens = 2) {
// CHECK-NEXT:      spyre.pointwise exp([[X]])
// CHECK:         spyre.hint tiles(rows = 4) {
// CHECK-NEXT:      spyre.pointwise exp([[Y]])
// CHECK:         spyre.hint tiles(rows_1 = 8) {
// CHECK-NEXT:      spyre.pointwise exp([[Z]])
func.func @names_of_the_program(%x: tensor<64x128xf16> {spyre.dims = ["tokens", ""]}, %y: tensor<32x128xf16>, %z: tensor<16x128xf16>)
    -> (tensor<64x128xf16>, tensor<32x128xf16>, tensor<16x128xf16>) {
  %a = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 2) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  %b = spyre.kernel "k"(%in = %y : tensor<32x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<32x128xf16>
      spyre.yield %exp : tensor<32x128xf16>
    }
    spyre.yield %e : tensor<32x128xf16>
  } {input_dims = [["rows", ""]]}
  %c = spyre.kernel "k"(%in = %z : tensor<16x128xf16>) {
    %e = spyre.hint tiles(rows = 8) {
      %exp = spyre.pointwise exp(%in) : tensor<16x128xf16>
      spyre.yield %exp : tensor<16x128xf16>
    }
    spyre.yield %e : tensor<16x128xf16>
  } {input_dims = [["rows", ""]]}
  return %a, %b, %c : tensor<64x128xf16>, tensor<32x128xf16>, tensor<16x128xf16>
}

// The scopes of a kernel without names use the names of the program.
// CHECK-LABEL: func.func @without_names(
// CHECK:         spyre.hint tiles(tokens = 2) {
func.func @without_names(%x: tensor<64x128xf16> {spyre.dims = ["tokens", ""]}) -> tensor<64x128xf16> {
  %a = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(tokens = 2) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  }
  return %a : tensor<64x128xf16>
}

// Two names of a kernel for one dimension of the program: the second one is not tiled. Nor are names of dimensions that no argument has.
// CHECK-LABEL: func.func @names_that_are_lost(
// CHECK-NEXT:    [[C:%.+]] = spyre.constant
// CHECK-NEXT:    spyre.hint tiles(rows = 2) {
// CHECK-NEXT:      [[EXP:%.+]] = spyre.pointwise exp
// CHECK-NEXT:      spyre.pointwise add([[EXP]], [[C]])
func.func @names_that_are_lost(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %c = spyre.constant dense<1.0> : tensor<64x128xf16>
  // expected-warning @+2 {{'spyre.kernel' op kernel is not tiled along 'again', which is the same dimension of the program as 'rows'}}
  // expected-warning @+1 {{'spyre.kernel' op kernel is not tiled along 'known': no argument of the program has that dimension}}
  %a = spyre.kernel "k"(%in = %x : tensor<64x128xf16>, %same = %x : tensor<64x128xf16>, %one = %c : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 2, again = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      %sum = spyre.pointwise add(%exp, %one) : tensor<64x128xf16>
      spyre.yield %sum : tensor<64x128xf16>
    }
    %f = spyre.hint tiles(known = 4) {
      %exp = spyre.pointwise exp(%e) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %f : tensor<64x128xf16>
  } {input_dims = [["rows", ""], ["again", ""], ["known", ""]]}
  return %a : tensor<64x128xf16>
}

// Two dimensions of one kernel are one dimension of another kernel: they get one name, and all scopes are tiled along it.
// CHECK-LABEL: func.func @one_name_for_two(
// CHECK-SAME:    spyre.dims = ["rows", ""]
// CHECK-SAME:    spyre.dims = ["rows", ""]
// CHECK:         spyre.hint tiles(rows = 2)
// CHECK:         spyre.hint tiles(rows = 4)
// CHECK:         spyre.hint tiles(rows = 8)
func.func @one_name_for_two(%x: tensor<64x128xf16>, %w: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %y:2 = spyre.kernel "apart"(%a = %x : tensor<64x128xf16>, %b = %w : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 2) {
      %exp = spyre.pointwise exp(%a) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    %f = spyre.hint tiles(others = 4) {
      %abs = spyre.pointwise abs(%b) : tensor<64x128xf16>
      spyre.yield %abs : tensor<64x128xf16>
    }
    spyre.yield %e, %f : tensor<64x128xf16>, tensor<64x128xf16>
  } {input_dims = [["rows", ""], ["others", ""]]}
  %z = spyre.kernel "together"(%a = %y#0 : tensor<64x128xf16>, %b = %y#1 : tensor<64x128xf16>) {
    %s = spyre.hint tiles(m = 8) {
      %neg = spyre.pointwise neg(%b) : tensor<64x128xf16>
      %sum = spyre.pointwise add(%neg, %a) : tensor<64x128xf16>
      spyre.yield %sum : tensor<64x128xf16>
    }
    spyre.yield %s : tensor<64x128xf16>
  } {input_dims = [["m", ""], ["m", ""]]}
  return %z : tensor<64x128xf16>
}

// Nested loops over one dimension would tile it twice.
// CHECK-LABEL: func.func @two_loops_over_one(
// CHECK:         spyre.hint tiles(rows = 2)
func.func @two_loops_over_one(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-warning @+1 {{'spyre.kernel' op kernel is not tiled along 'others', which is the same dimension of the program as 'rows'}}
  %y = spyre.kernel "k"(%a = %x : tensor<64x128xf16>, %b = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 2, others = 4) {
      %sum = spyre.pointwise add(%a, %b) : tensor<64x128xf16>
      spyre.yield %sum : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""], ["others", ""]]}
  return %y : tensor<64x128xf16>
}
