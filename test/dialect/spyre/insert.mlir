// RUN: spyre-opt --canonicalize --cse %s | FileCheck %s

// Two buffers are not merged, even if the same values are written to both: each has its own memory.
// CHECK-LABEL: func.func @two_buffers
// CHECK:         [[A:%.+]] = spyre.empty
// CHECK-NEXT:    [[A1:%.+]] = spyre.insert {{%.+}} into [[A]] at [0, 0]
// CHECK-NEXT:    [[A2:%.+]] = spyre.insert {{%.+}} into [[A1]] at [4, 0]
// CHECK-NEXT:    [[B:%.+]] = spyre.empty
// CHECK-NEXT:    [[B1:%.+]] = spyre.insert {{%.+}} into [[B]] at [0, 0]
// CHECK-NEXT:    [[B2:%.+]] = spyre.insert {{%.+}} into [[B1]] at [4, 0]
// CHECK-NEXT:    return [[A2]], [[B2]]
func.func @two_buffers(%x: tensor<4x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %a = spyre.empty : tensor<8x64xf16>
  %a1 = spyre.insert %x into %a at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  %a2 = spyre.insert %x into %a1 at [4, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  %b = spyre.empty : tensor<8x64xf16>
  %b1 = spyre.insert %x into %b at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  %b2 = spyre.insert %x into %b1 at [4, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  return %a2, %b2 : tensor<8x64xf16>, tensor<8x64xf16>
}

// Two inserts into the same slice of a buffer are both kept.
// CHECK-LABEL: func.func @the_same_part_again
// CHECK-COUNT-3: spyre.insert
// CHECK-NEXT:    return
func.func @the_same_part_again(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<8x64xf16> {
  %a = spyre.empty : tensor<8x64xf16>
  %a1 = spyre.insert %x into %a at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  %a2 = spyre.insert %y into %a1 at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  %a3 = spyre.insert %x into %a2 at [4, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  return %a3 : tensor<8x64xf16>
}

// Unused inserts are erased, together with their buffer.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    return
func.func @dead(%x: tensor<4x64xf16>) {
  %a = spyre.empty : tensor<8x64xf16>
  %a1 = spyre.insert %x into %a at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  %a2 = spyre.insert %x into %a1 at [4, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  return
}
