// RUN: spyre-opt --split-input-file --spyre-write-in-place %s | FileCheck %s
// RUN: spyre-opt --split-input-file --spyre-write-in-place --spyre-write-in-place %s | FileCheck %s

#a = #spyre.layout<[2, 64, 64], [64, 128, 1]>
#b = #spyre.layout<[2, 32, 64], [64, 128, 1]>
#whole = #spyre.layout<[2, 96, 64], [64, 128, 1]>

// An op whose result is only used by an insert writes directly to the buffer.
// CHECK: #[[WINDOW:.+]] = #spyre.layout<[2, 96, 64], [64, 128, 1], of = [96, 128]>
// CHECK-LABEL: func @rows
// CHECK:         %[[A:.+]] = spyre.pointwise exp({{.+}} -> tensor<64x128xf16, #[[WINDOW]]>
// CHECK-NEXT:    %[[B:.+]] = spyre.copy {{.+}} -> tensor<32x128xf16, #[[WINDOW]]>
// CHECK:         spyre.insert %[[A]] into %{{.+}} at [0, 0] {in_place}
// CHECK-NEXT:    spyre.insert %[[B]] into %{{.+}} at [64, 0] {in_place}
func.func @rows(%x: tensor<64x128xf16, #a>, %y: tensor<32x128xf16, #b>) -> tensor<96x128xf16, #whole> {
  %0 = spyre.pointwise exp(%x) : tensor<64x128xf16, #a>
  %1 = spyre.copy %y : tensor<32x128xf16, #b> -> tensor<32x128xf16, #b>
  %2 = spyre.empty : tensor<96x128xf16, #whole>
  %3 = spyre.insert %0 into %2 at [0, 0] : tensor<64x128xf16, #a> into tensor<96x128xf16, #whole>
  %4 = spyre.insert %1 into %3 at [64, 0] : tensor<32x128xf16, #b> into tensor<96x128xf16, #whole>
  return %4 : tensor<96x128xf16, #whole>
}

// -----

#a = #spyre.layout<[2, 64, 64], [64, 128, 1]>
#whole = #spyre.layout<[2, 96, 64], [64, 128, 1]>

// A loop writes its tiles directly to the buffer.
// CHECK-LABEL: func @in_a_loop
// CHECK:         %[[LOOP:.+]] = spyre.loop 4 "T"
// CHECK-NEXT:      %[[TILE:.+]] = spyre.pointwise exp({{.+}} -> tensor<16x128xf16, #[[WINDOW:.+]]>
// CHECK-NEXT:      spyre.yield %[[TILE]][0] : tensor<16x128xf16, #[[WINDOW]]>
// CHECK-NEXT:    } : tensor<64x128xf16, #[[WINDOW]]>
// CHECK:         spyre.insert %[[LOOP]] into %{{.+}} at [32, 0] {in_place}
func.func @in_a_loop(%x: tensor<64x128xf16, #a>) -> tensor<96x128xf16, #whole> {
  %0 = spyre.loop 4 "T" tiled(%tile = %x[0] : tensor<64x128xf16, #a>) {
    %1 = spyre.pointwise exp(%tile) : (tensor<16x128xf16, #spyre.layout<[2, 64, 64], [64, 128, 1], of = [64, 128]>>) -> tensor<16x128xf16, #spyre.layout<[2, 64, 64], [64, 128, 1], of = [64, 128]>>
    spyre.yield %1[0] : tensor<16x128xf16, #spyre.layout<[2, 64, 64], [64, 128, 1], of = [64, 128]>>
  } : tensor<64x128xf16, #a>
  %2 = spyre.empty : tensor<96x128xf16, #whole>
  %3 = spyre.insert %0 into %2 at [32, 0] : tensor<64x128xf16, #a> into tensor<96x128xf16, #whole>
  return %3 : tensor<96x128xf16, #whole>
}

// -----

#a = #spyre.layout<[2, 64, 64], [64, 128, 1]>
#whole = #spyre.layout<[2, 96, 64], [64, 128, 1]>

// Not in place: slices with other uses; slices that overlap, which depend on the order of inserts; arguments.
// CHECK-LABEL: func @copied
// CHECK-NOT:     in_place
func.func @copied(%x: tensor<64x128xf16, #a>)
    -> (tensor<96x128xf16, #whole>, tensor<96x128xf16, #whole>, tensor<96x128xf16, #whole>, tensor<64x128xf16, #a>) {
  %0 = spyre.pointwise exp(%x) : tensor<64x128xf16, #a>
  %1 = spyre.empty : tensor<96x128xf16, #whole>
  %read = spyre.insert %0 into %1 at [0, 0] : tensor<64x128xf16, #a> into tensor<96x128xf16, #whole>
  %2 = spyre.pointwise neg(%0) : tensor<64x128xf16, #a>
  %3 = spyre.pointwise exp(%x) : tensor<64x128xf16, #a>
  %4 = spyre.pointwise neg(%x) : tensor<64x128xf16, #a>
  %5 = spyre.empty : tensor<96x128xf16, #whole>
  %6 = spyre.insert %4 into %5 at [0, 0] : tensor<64x128xf16, #a> into tensor<96x128xf16, #whole>
  %overlap = spyre.insert %3 into %6 at [32, 0] : tensor<64x128xf16, #a> into tensor<96x128xf16, #whole>
  %7 = spyre.empty : tensor<96x128xf16, #whole>
  %argument = spyre.insert %x into %7 at [0, 0] : tensor<64x128xf16, #a> into tensor<96x128xf16, #whole>
  return %read, %overlap, %argument, %2 : tensor<96x128xf16, #whole>, tensor<96x128xf16, #whole>, tensor<96x128xf16, #whole>, tensor<64x128xf16, #a>
}

// -----

#a = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#other = #spyre.layout<[1, 64, 64], [64, 1, 64]>
#whole = #spyre.layout<[3, 64, 64], [64, 192, 1]>

// A slice in another layout is copied, and a slice that begins inside of a stick is inserted element by element.
// CHECK-LABEL: func @columns
// CHECK:         spyre.insert %{{.+}} into %{{.+}} at [0, 64] {in_place}
// CHECK-NOT:     in_place
func.func @columns(%x: tensor<64x64xf16, #a>, %y: tensor<64x64xf16, #other>) -> (tensor<64x192xf16, #whole>, tensor<64x192xf16, #whole>) {
  %0 = spyre.pointwise exp(%x) : tensor<64x64xf16, #a>
  %1 = spyre.pointwise exp(%y) : tensor<64x64xf16, #other>
  %2 = spyre.empty : tensor<64x192xf16, #whole>
  %3 = spyre.insert %0 into %2 at [0, 64] : tensor<64x64xf16, #a> into tensor<64x192xf16, #whole>
  %4 = spyre.insert %1 into %3 at [0, 128] : tensor<64x64xf16, #other> into tensor<64x192xf16, #whole>
  %5 = spyre.pointwise neg(%x) : tensor<64x64xf16, #a>
  %6 = spyre.empty : tensor<64x192xf16, #whole>
  %7 = spyre.insert %5 into %6 at [0, 32] : tensor<64x64xf16, #a> into tensor<64x192xf16, #whole>
  return %4, %7 : tensor<64x192xf16, #whole>, tensor<64x192xf16, #whole>
}
