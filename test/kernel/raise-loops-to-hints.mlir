// RUN: spyre-opt --spyre-raise-loops-to-hints %s | FileCheck %s
// RUN: spyre-compile %s --entry product -o %t.product --kernels separate --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %s --entry heads -o %t.heads --kernels separate --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %s --entry meet -o %t.meet --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %s --entry turned -o %t.turned --validate 2>&1 | FileCheck %s --check-prefix=TURNED
// RUN: spyre-compile %s --entry numbers -o %t.numbers --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %s --entry one_iteration -o %t.one_iteration --validate | FileCheck %s --check-prefix=VALID
// RUN: spyre-compile %s --entry program -o %t.program --validate | FileCheck %s --check-prefix=VALID
// VALID: validated: the files and the imported program agree

// Loops in loops: rows, then columns; the inner one sums up along the dimension that both operands have. The dimensions get the loops' names.
// CHECK-LABEL: func.func @product(
// CHECK:         spyre.kernel "product"(%[[A:.*]] = %{{.*}} : tensor<256x512xf16>, %[[B:.*]] = %{{.*}} : tensor<512x128xf16>)
// CHECK:           %[[M:.*]] = spyre.hint tiles(m = 4)
// CHECK-NEXT:        %[[K:.*]] = spyre.hint tiles(k = 2)
// CHECK-NEXT:          %[[P:.*]] = spyre.matmul(%[[A]], %[[B]]) : (tensor<256x512xf16>, tensor<512x128xf16>) -> tensor<256x128xf16>
// CHECK-NEXT:          spyre.yield %[[P]] : tensor<256x128xf16>
// CHECK:             %[[R:.*]] = spyre.pointwise relufwd(%[[K]]) : tensor<256x128xf16>
// CHECK-NEXT:        spyre.yield %[[R]] : tensor<256x128xf16>
// CHECK:           spyre.yield %[[M]] : tensor<256x128xf16>
// CHECK{LITERAL}:  {input_dims = [["m", "k"], ["k", ""]]}
func.func @product(%a: tensor<256x512xf16>, %b: tensor<512x128xf16>) -> tensor<256x128xf16> {
  %y = spyre.kernel "product"(%l = %a : tensor<256x512xf16>, %r = %b : tensor<512x128xf16>) {
    %zero = spyre.fill 0.0 : f16 -> tensor<64x128xf16>
    %m = spyre.loop 4 "m" tiled(%lt = %l[0] : tensor<256x512xf16>) {
      %k = spyre.loop 2 "k" tiled(%lk = %lt[1] : tensor<64x512xf16>, %rk = %r[0] : tensor<512x128xf16>) carried(%before = %zero : tensor<64x128xf16>) {
        %p = spyre.matmul(%lk, %rk) : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
        %after = spyre.pointwise add(%before, %p) : tensor<64x128xf16>
        spyre.yield %after : tensor<64x128xf16>
      } : tensor<64x128xf16>
      %relu = spyre.pointwise relufwd(%k) : tensor<64x128xf16>
      spyre.yield %relu[0] : tensor<64x128xf16>
    } : tensor<256x128xf16>
    spyre.yield %m : tensor<256x128xf16>
  }
  return %y : tensor<256x128xf16>
}

// A tile is one head, seen through a view; a row of the bias is repeated for all of them. The name is that of the kernel's input, and a loop that is
// called as another dimension is gets another name.
// CHECK-LABEL: func.func @heads(
// CHECK:         spyre.kernel "heads"
// CHECK:           spyre.hint tiles(heads = 4)
// CHECK-NEXT:        %[[V:.*]] = spyre.view %{{.*}} by {{.*}} : tensor<4x64x128xf16> -> tensor<4x128x64xf16>
// CHECK-NEXT:        spyre.pointwise add(%[[V]], %{{.*}}) : (tensor<4x128x64xf16>, tensor<1x1x64xf16>) -> tensor<4x128x64xf16>
// CHECK:           spyre.hint tiles(heads_1 = 2)
// CHECK-NEXT:        spyre.reduce max(%{{.*}}) dims [1] : tensor<4x128x64xf16> -> tensor<4x1x64xf16>
// CHECK{LITERAL}:  {input_dims = [["heads", "", "heads_1"], ["", "", ""], ["", "", ""]]}
func.func @heads(%x: tensor<4x64x128xf16>, %bias: tensor<1x1x64xf16>) -> (tensor<4x128x64xf16>, tensor<4x1x64xf16>) {
  %low = spyre.fill 0xFC00 : f16 -> tensor<4x1x64xf16>
  %y:2 = spyre.kernel "heads"(%in = %x : tensor<4x64x128xf16>, %b = %bias : tensor<1x1x64xf16>, %l = %low : tensor<4x1x64xf16>) {
    %sum = spyre.loop 4 "h" tiled(%head = %in[0] : tensor<4x64x128xf16>) {
      %turned = spyre.view %head by affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<1x64x128xf16> -> tensor<1x128x64xf16>
      %biased = spyre.pointwise add(%turned, %b) : (tensor<1x128x64xf16>, tensor<1x1x64xf16>) -> tensor<1x128x64xf16>
      spyre.yield %biased[0] : tensor<1x128x64xf16>
    } : tensor<4x128x64xf16>
    %max = spyre.loop 2 "heads" tiled(%part = %sum[1] : tensor<4x128x64xf16>) carried(%before = %l : tensor<4x1x64xf16>) {
      %m = spyre.reduce max(%part) dims [1] : tensor<4x64x64xf16> -> tensor<4x1x64xf16>
      %after = spyre.pointwise maximum(%m, %before) : tensor<4x1x64xf16>
      spyre.yield %after : tensor<4x1x64xf16>
    } : tensor<4x1x64xf16>
    spyre.yield %sum, %max : tensor<4x128x64xf16>, tensor<4x1x64xf16>
  } {input_dims = [["heads", "", ""], ["", "", ""], ["", "", ""]]}
  return %y#0, %y#1 : tensor<4x128x64xf16>, tensor<4x1x64xf16>
}

// Outside of kernels the program's arguments have the names. A scope in a loop stays one.
// CHECK-LABEL: func.func @program(
// CHECK-SAME:    spyre.dims = ["rows", ""]
// CHECK:         spyre.hint tiles(rows = 2)
// CHECK-NEXT:      spyre.hint tiles(rows = 4)
// CHECK-NEXT:        spyre.pointwise exp(%{{.*}}) : tensor<512x128xf16>
func.func @program(%x: tensor<512x128xf16>) -> tensor<512x128xf16> {
  %y = spyre.loop 2 "rows" tiled(%half = %x[0] : tensor<512x128xf16>) {
    %z = spyre.hint tiles(rows = 4) {
      %e = spyre.pointwise exp(%half) : tensor<256x128xf16>
      spyre.yield %e : tensor<256x128xf16>
    }
    spyre.yield %z[0] : tensor<256x128xf16>
  } : tensor<512x128xf16>
  return %y : tensor<512x128xf16>
}

// Two loops name a dimension each, and a third one cuts both together: they have one name, as each op of the third has it by one of its operands.
// CHECK-LABEL: func.func @meet(
// CHECK-SAME:    spyre.dims = ["others", ""]
// CHECK-SAME:    spyre.dims = ["others", ""]
// CHECK:         spyre.hint tiles(others = 2)
// CHECK:         spyre.hint tiles(others = 2)
// CHECK:         spyre.hint tiles(others = 4)
func.func @meet(%x: tensor<256x128xf16>, %w: tensor<256x128xf16>) -> (tensor<256x128xf16>, tensor<256x128xf16>) {
  %a = spyre.loop 2 "others" tiled(%t = %w[0] : tensor<256x128xf16>) {
    %e = spyre.pointwise exp(%t) : tensor<128x128xf16>
    spyre.yield %e[0] : tensor<128x128xf16>
  } : tensor<256x128xf16>
  %b = spyre.loop 2 "rows" tiled(%t = %x[0] : tensor<256x128xf16>) {
    %e = spyre.pointwise neg(%t) : tensor<128x128xf16>
    spyre.yield %e[0] : tensor<128x128xf16>
  } : tensor<256x128xf16>
  %c:2 = spyre.loop 4 "both" tiled(%t = %a[0] : tensor<256x128xf16>, %u = %b[0] : tensor<256x128xf16>) {
    %n = spyre.pointwise abs(%u) : tensor<64x128xf16>
    %e = spyre.pointwise add(%n, %t) : tensor<64x128xf16>
    spyre.yield %e[0], %n[0] : tensor<64x128xf16>, tensor<64x128xf16>
  } : tensor<256x128xf16>, tensor<256x128xf16>
  return %c#0, %c#1 : tensor<256x128xf16>, tensor<256x128xf16>
}

// Rows of the one are added to rows and to columns of the other: one name for all of them would be a name for both dimensions of a tensor.
// TURNED: warning{{.*}}'spyre.loop' op does not tile dimension 0 of argument 1: '{{rows|columns}}' is the name of another dimension there
// TURNED: warning{{.*}}'spyre.loop' op does not tile dimension 0 of argument 1: '{{rows|columns}}' is the name of another dimension there
// TURNED: validated: the files and the imported program agree
// CHECK-LABEL: func.func @turned(
// CHECK-SAME:    spyre.dims = ["rows", "columns"]
// CHECK:         spyre.hint tiles(rows = 4)
// CHECK:         spyre.hint tiles(columns = 4)
func.func @turned(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> (tensor<256x256xf16>, tensor<256x256xf16>) {
  %m = spyre.loop 4 "rows" tiled(%t = %x[0] : tensor<256x256xf16>, %u = %w[0] : tensor<256x256xf16>) {
    %e = spyre.pointwise add(%t, %u) : tensor<64x256xf16>
    spyre.yield %e[0] : tensor<64x256xf16>
  } : tensor<256x256xf16>
  %n = spyre.loop 4 "columns" tiled(%t = %x[1] : tensor<256x256xf16>, %u = %w[0] : tensor<256x256xf16>) {
    %v = spyre.view %t by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x64xf16> -> tensor<64x256xf16>
    %e = spyre.pointwise add(%v, %u) : tensor<64x256xf16>
    spyre.yield %e[0] : tensor<64x256xf16>
  } : tensor<256x256xf16>
  return %m, %n : tensor<256x256xf16>, tensor<256x256xf16>
}

// A number is the same in each tile and in the whole: one element of it is repeated, wherever it was made.
// CHECK-LABEL: func.func @numbers(
// CHECK:         spyre.hint tiles(rows = 4)
// CHECK-NEXT:      [[TWO:%.+]] = spyre.constant dense<2.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:      [[Y:%.+]] = spyre.pointwise mul(%{{.*}}, [[TWO]]) : (tensor<256x128xf16>, tensor<1x1xf16>) -> tensor<256x128xf16>
// CHECK-NEXT:      [[ZERO:%.+]] = spyre.constant dense<0.000000e+00> : tensor<1x1xf16>
// CHECK-NEXT:      spyre.pointwise maximum([[ZERO]], [[Y]])
func.func @numbers(%x: tensor<256x128xf16>) -> tensor<256x128xf16> {
  %zero = spyre.fill 0.0 : f16 -> tensor<64x128xf16>
  %y = spyre.loop 4 "rows" tiled(%t = %x[0] : tensor<256x128xf16>) {
    %two = spyre.constant dense<2.0> : tensor<64x128xf16>
    %m = spyre.pointwise mul(%t, %two) : tensor<64x128xf16>
    %r = spyre.pointwise maximum(%zero, %m) : tensor<64x128xf16>
    spyre.yield %r[0] : tensor<64x128xf16>
  } : tensor<256x128xf16>
  return %y : tensor<256x128xf16>
}

// The tile of the only iteration is the whole tensor, so that an op may read other tensors whole, too, and what is carried may begin with anything.
// CHECK-LABEL: func.func @one_iteration(
// CHECK-SAME:    [[X:%.+]]: tensor<64x128xf16>{{.*}}, [[S:%.+]]: tensor<1x128xf16>
// CHECK:         [[H:%.+]]:3 = spyre.hint tiles(columns = 1)
// CHECK-NEXT:      [[ADD:%.+]] = spyre.pointwise add([[X]], [[S]])
// CHECK-NEXT:      [[NEG:%.+]] = spyre.pointwise neg([[S]])
// CHECK-NEXT:      spyre.yield [[ADD]], [[X]], [[NEG]]
func.func @one_iteration(%x: tensor<64x128xf16>, %s: tensor<1x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>, tensor<1x128xf16>) {
  %y:3 = spyre.loop 1 "columns" tiled(%t = %x[1] : tensor<64x128xf16>) carried(%before = %s : tensor<1x128xf16>) {
    %a = spyre.pointwise add(%t, %s) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
    %n = spyre.pointwise neg(%before) : tensor<1x128xf16>
    spyre.yield %a[1], %t[1], %n : tensor<64x128xf16>, tensor<64x128xf16>, tensor<1x128xf16>
  } : tensor<64x128xf16>, tensor<64x128xf16>, tensor<1x128xf16>
  return %y#0, %y#1, %y#2 : tensor<64x128xf16>, tensor<64x128xf16>, tensor<1x128xf16>
}

// Loops over tensors with layouts stay.
// CHECK-LABEL: func.func @laid_out(
// CHECK:         spyre.loop 2 "rows"
#l = #spyre.layout<[2, 512, 64], [64, 128, 1]>
#t = #spyre.layout<[2, 512, 64], [64, 128, 1], of = [512, 128]>
func.func @laid_out(%x: tensor<512x128xf16, #l>) -> tensor<512x128xf16, #l> {
  %y = spyre.loop 2 "rows" tiled(%half = %x[0] : tensor<512x128xf16, #l>) {
    %e = spyre.pointwise exp(%half) : tensor<256x128xf16, #t>
    spyre.yield %e[0] : tensor<256x128xf16, #t>
  } : tensor<512x128xf16, #l>
  return %y : tensor<512x128xf16, #l>
}
