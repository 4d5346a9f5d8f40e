// RUN: spyre-opt --spyre-insert-loop-copies --split-input-file %s | FileCheck %s
// RUN: spyre-opt --spyre-insert-loop-copies --spyre-insert-loop-copies --split-input-file %s | FileCheck %s

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>

// The op that computes the next value reads the old one at the same elements, and is its last use.
// CHECK-LABEL: func @in_place
// CHECK:         spyre.copy
// CHECK-NEXT:    spyre.loop 4 {{.*}}carried(
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @in_place(%x: tensor<4x64xf16, #s>) -> tensor<4x64xf16, #s> {
  %start = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %r = spyre.loop 4 "T" carried(%before = %start : tensor<4x64xf16, #s>) {
    %part = spyre.pointwise neg(%before) : tensor<4x64xf16, #s>
    %after = spyre.pointwise add(%before, %part) : tensor<4x64xf16, #s>
    spyre.yield %after : tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>
  return %r : tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>

// CHECK-LABEL: func @read_behind_its_successor
// CHECK:         carried(%[[BEFORE:[^ ]+]] = %{{.+}} : tensor
// CHECK:           %[[AFTER:.+]] = spyre.pointwise maximum(%[[BEFORE]], %{{.+}})
// CHECK-NEXT:      spyre.pointwise sub(%[[AFTER]], %[[BEFORE]])
// CHECK:           %[[COPY:.+]] = spyre.copy %[[AFTER]] {spyre.for_loop = "before its last use"}
// CHECK-NEXT:      spyre.yield %[[COPY]], %{{.+}}
func.func @read_behind_its_successor(%x: tensor<4x64xf16, #s>) -> (tensor<4x64xf16, #s>, tensor<4x64xf16, #s>) {
  %m0 = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %l0 = spyre.pointwise neg(%x) : tensor<4x64xf16, #s>
  %r:2 = spyre.loop 4 "T" carried(%m = %m0 : tensor<4x64xf16, #s>, %l = %l0 : tensor<4x64xf16, #s>) {
    %mn = spyre.pointwise maximum(%m, %x) : tensor<4x64xf16, #s>
    %d = spyre.pointwise sub(%mn, %m) : tensor<4x64xf16, #s>
    %ln = spyre.pointwise add(%l, %d) : tensor<4x64xf16, #s>
    spyre.yield %mn, %ln : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  return %r#0, %r#1 : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>

// Two values are swapped: three copies.
// CHECK-LABEL: func @crosswise
// CHECK:         carried(%[[A:[^ ]+]] = %{{[^ ]+}} : {{[^%]+}}%[[B:[^ ]+]] = %
// CHECK-NEXT:      %[[B1:.+]] = spyre.copy %[[B]]
// CHECK-NEXT:      %[[A1:.+]] = spyre.copy %[[A]]
// CHECK-NEXT:      %[[B2:.+]] = spyre.copy %[[B1]]
// CHECK-NEXT:      spyre.yield %[[B2]], %[[A1]]
func.func @crosswise(%x: tensor<4x64xf16, #s>) -> (tensor<4x64xf16, #s>, tensor<4x64xf16, #s>) {
  %a0 = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %b0 = spyre.pointwise neg(%x) : tensor<4x64xf16, #s>
  %r:2 = spyre.loop 3 "T" carried(%a = %a0 : tensor<4x64xf16, #s>, %b = %b0 : tensor<4x64xf16, #s>) {
    spyre.yield %b, %a : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  return %r#0, %r#1 : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>

// Equal initial values, as CSE leaves them, get two buffers; an argument is never overwritten.
// CHECK-LABEL: func @equal_starts
// CHECK-SAME:    (%[[X:.+]]: tensor
// CHECK:         %[[START:.+]] = spyre.copy %[[X]] :
// CHECK:         %[[OWN:.+]] = spyre.copy %[[START]] {spyre.for_loop = "before its last use"}
// CHECK:         %[[FROM_X:.+]] = spyre.copy %[[X]] {spyre.for_loop = "which has no buffer of its own before the loop"}
// CHECK:         carried(%{{.+}} = %[[OWN]] : {{.+}}, %{{.+}} = %[[START]] : {{.+}}, %{{.+}} = %[[FROM_X]] : tensor
func.func @equal_starts(%x: tensor<4x64xf16, #s>) -> (tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>) {
  %start = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %r:3 = spyre.loop 4 "T" carried(%a = %start : tensor<4x64xf16, #s>, %b = %start : tensor<4x64xf16, #s>, %c = %x : tensor<4x64xf16, #s>) {
    %an = spyre.pointwise add(%a, %x) : tensor<4x64xf16, #s>
    %bn = spyre.pointwise mul(%b, %x) : tensor<4x64xf16, #s>
    %cn = spyre.pointwise exp(%c) : tensor<4x64xf16, #s>
    spyre.yield %an, %bn, %cn : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  return %r#0, %r#1, %r#2 : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>

// A value that is yielded twice, a value from outside, and a value that is yielded unchanged.
// CHECK-LABEL: func @left_as_they_are
// CHECK-SAME:    (%[[X:.+]]: tensor
// CHECK:           %[[MADE:.+]] = spyre.pointwise add
// CHECK-NEXT:      %[[SECOND:.+]] = spyre.copy %[[MADE]]
// CHECK-NEXT:      %[[OUTER:.+]] = spyre.copy %[[X]]
// CHECK-NEXT:      spyre.yield %[[MADE]], %[[SECOND]], %[[OUTER]], %[[D:.+]] : tensor
func.func @left_as_they_are(%x: tensor<4x64xf16, #s>) -> (tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>) {
  %a0 = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %b0 = spyre.pointwise neg(%x) : tensor<4x64xf16, #s>
  %c0 = spyre.pointwise exp(%x) : tensor<4x64xf16, #s>
  %d0 = spyre.pointwise abs(%x) : tensor<4x64xf16, #s>
  %r:4 = spyre.loop 4 "T" carried(%a = %a0 : tensor<4x64xf16, #s>, %b = %b0 : tensor<4x64xf16, #s>, %c = %c0 : tensor<4x64xf16, #s>, %d = %d0 : tensor<4x64xf16, #s>) {
    %e = spyre.pointwise add(%a, %b) : tensor<4x64xf16, #s>
    spyre.yield %e, %e, %x, %d : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
  return %r#0, %r#1, %r#2, %r#3 : tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>, tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>

// The op reads the first row of the old value for all rows of the new one, so it must not overwrite it.
// CHECK-LABEL: func @read_elsewhere_by_its_writer
// CHECK:           %[[AFTER:.+]] = spyre.pointwise add
// CHECK-NEXT:      %[[COPY:.+]] = spyre.copy %[[AFTER]]
// CHECK-NEXT:      spyre.yield %[[COPY]]
func.func @read_elsewhere_by_its_writer(%x: tensor<4x64xf16, #s>) -> tensor<4x64xf16, #s> {
  %start = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %r = spyre.loop 4 "T" carried(%before = %start : tensor<4x64xf16, #s>) {
    %row = spyre.view %before by affine_map<(d0, d1) -> (0, d1)> : tensor<4x64xf16, #s> -> tensor<4x64xf16>
    %after = spyre.pointwise add(%before, %row) : (tensor<4x64xf16, #s>, tensor<4x64xf16>) -> tensor<4x64xf16, #s>
    spyre.yield %after : tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>
  return %r : tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#t = #spyre.layout<[1, 4, 64], [64, 64, 1], of = [4, 64]>

// An inner loop that writes the carried value tile by tile reads the same tiles: in place. One that reads all of it does not.
// CHECK-LABEL: func @tiles_in_place
// CHECK:         spyre.copy
// CHECK-NOT:     spyre.copy
// CHECK:         return
func.func @tiles_in_place(%x: tensor<4x64xf16, #s>) -> tensor<4x64xf16, #s> {
  %start = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %r = spyre.loop 4 "T" carried(%before = %start : tensor<4x64xf16, #s>) {
    %after = spyre.loop 2 "U" tiled(%tile = %before[0] : tensor<4x64xf16, #s>) {
      %y = spyre.pointwise exp(%tile) : (tensor<2x64xf16, #t>) -> tensor<2x64xf16, #t>
      spyre.yield %y[0] : tensor<2x64xf16, #t>
    } : tensor<4x64xf16, #s>
    spyre.yield %after : tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>
  return %r : tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#h = #spyre.layout<[1, 2, 64], [64, 64, 1]>
#t = #spyre.layout<[1, 4, 64], [64, 64, 1], of = [4, 64]>

// CHECK-LABEL: func @tiles_not_in_place
// CHECK:           %[[AFTER:.+]] = spyre.loop 2
// CHECK:           %[[COPY:.+]] = spyre.copy %[[AFTER]]
// CHECK-NEXT:      spyre.yield %[[COPY]]
func.func @tiles_not_in_place(%x: tensor<4x64xf16, #s>) -> tensor<4x64xf16, #s> {
  %start = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %r = spyre.loop 4 "T" carried(%before = %start : tensor<4x64xf16, #s>) {
    %after = spyre.loop 2 "U" tiled(%tile = %before[0] : tensor<4x64xf16, #s>) {
      %row = spyre.view %before by affine_map<(d0, d1) -> (3, d1)> : tensor<4x64xf16, #s> -> tensor<2x64xf16>
      %y = spyre.pointwise add(%tile, %row) : (tensor<2x64xf16, #t>, tensor<2x64xf16>) -> tensor<2x64xf16, #t>
      spyre.yield %y[0] : tensor<2x64xf16, #t>
    } : tensor<4x64xf16, #s>
    spyre.yield %after : tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>
  return %r : tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>

// The inner loop would overwrite the carried value of the outer loop, which has a later use: the inner loop gets its own buffer.
// CHECK-LABEL: func @read_behind_an_inner_loop
// CHECK:         spyre.loop 4 "T" carried(%[[BEFORE:[^ ]+]] = %{{.+}} : tensor
// CHECK-NEXT:      %[[OWN:.+]] = spyre.copy %[[BEFORE]]
// CHECK-NEXT:      %[[INNER:.+]] = spyre.loop 2 "U" carried(%{{.+}} = %[[OWN]] : tensor
// CHECK:           spyre.pointwise sub(%[[INNER]], %[[BEFORE]])
func.func @read_behind_an_inner_loop(%x: tensor<4x64xf16, #s>) -> tensor<4x64xf16, #s> {
  %start = spyre.copy %x : tensor<4x64xf16, #s> -> tensor<4x64xf16, #s>
  %r = spyre.loop 4 "T" carried(%before = %start : tensor<4x64xf16, #s>) {
    %inner = spyre.loop 2 "U" carried(%i = %before : tensor<4x64xf16, #s>) {
      %n = spyre.pointwise exp(%i) : tensor<4x64xf16, #s>
      spyre.yield %n : tensor<4x64xf16, #s>
    } : tensor<4x64xf16, #s>
    %after = spyre.pointwise sub(%inner, %before) : tensor<4x64xf16, #s>
    spyre.yield %after : tensor<4x64xf16, #s>
  } : tensor<4x64xf16, #s>
  return %r : tensor<4x64xf16, #s>
}

// -----

#s = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#o = #spyre.layout<[1, 8, 64], [64, 64, 1]>

// A yielded tile must be in its window of the result, so a tile elsewhere is copied.
// CHECK-LABEL: func @given_from_elsewhere
// CHECK-SAME:    (%[[X:.+]]: tensor
// CHECK:         spyre.loop 2
// CHECK-NEXT:      %[[COPY:.+]] = spyre.copy %[[X]] {{.+}}-> tensor<4x64xf16, #layout{{[0-9]*}}>
// CHECK-NEXT:      spyre.yield %[[COPY]][0]
func.func @given_from_elsewhere(%x: tensor<4x64xf16, #s>) -> tensor<8x64xf16, #o> {
  %r = spyre.loop 2 "T" {
    spyre.yield %x[0] : tensor<4x64xf16, #s>
  } : tensor<8x64xf16, #o>
  return %r : tensor<8x64xf16, #o>
}
