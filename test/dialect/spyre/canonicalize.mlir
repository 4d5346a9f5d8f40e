// RUN: spyre-opt %s --canonicalize --mlir-print-local-scope | FileCheck %s

// A part that is all of its buffer is the buffer.
// CHECK-LABEL: func @whole_part(
// CHECK-NEXT:    [[E:%.+]] = spyre.pointwise exp
// CHECK-NEXT:    return [[E]]
func.func @whole_part(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %e = spyre.pointwise exp(%x) : tensor<4x64xf16>
  %buffer = spyre.empty : tensor<4x64xf16>
  %all = spyre.insert %e into %buffer at [0, 0] : tensor<4x64xf16> into tensor<4x64xf16>
  return %all : tensor<4x64xf16>
}

// It is not where more is written into it, where it is a part alone, or where it is to be divided.
// CHECK-LABEL: func @other_parts(
// CHECK-COUNT-4: spyre.insert
// CHECK:         return
func.func @other_parts(%x: tensor<4x64xf16>, %y: tensor<2x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  %all = spyre.insert %x into %buffer at [0, 0] : tensor<4x64xf16> into tensor<4x64xf16>
  %more = spyre.insert %y into %all at [2, 0] : tensor<2x64xf16> into tensor<4x64xf16>
  %second = spyre.empty : tensor<4x64xf16>
  %half = spyre.insert %y into %second at [0, 0] : tensor<2x64xf16> into tensor<4x64xf16>
  %third = spyre.empty : tensor<4x64xf16>
  %hinted = spyre.insert %x into %third at [0, 0] {work_div = [#spyre.work_hint<0, A = 2>]} : tensor<4x64xf16> into tensor<4x64xf16>
  return %more, %half, %hinted : tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>
}

// Sticks that are moved and moved back are where they were; a move that goes on is another one.
// CHECK-LABEL: func @moves(
// CHECK-SAME:    [[X:%[^ :]+]]:
// CHECK-NEXT:    [[ON:%.+]] = spyre.restickify [[X]]
// CHECK-NEXT:    return [[X]], [[ON]]
#rows = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#columns = #spyre.layout<[1, 64, 64], [4096, 1, 64]>
func.func @moves(%x: tensor<64x64xf16, #rows>) -> (tensor<64x64xf16, #rows>, tensor<64x64xf16, #columns>) {
  %away = spyre.restickify %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %back = spyre.restickify %away : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #rows>
  %on = spyre.restickify %back : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  return %back, %on : tensor<64x64xf16, #rows>, tensor<64x64xf16, #columns>
}
