// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-clone-inputs --spyre-allocate-scratchpad=planner=first-fit %s | FileCheck %s
// RUN: spyre-opt --split-input-file --spyre-propagate-layouts --spyre-divide-work --spyre-clone-inputs --spyre-allocate-scratchpad=planner=none %s | FileCheck %s --check-prefix=NONE

// A copy that has room is overwritten by the last op that reads it.
// CHECK-LABEL: func.func @copies_that_have_room_stay(
// CHECK:         [[COPY:%.+]] = spyre.copy {{%.+}} {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[MAX:%.+]] = spyre.reduce max([[COPY]]) dims [1] {place = #spyre.place<lx, 32768>,
// CHECK-NEXT:    [[SHIFTED:%.+]] = spyre.pointwise sub([[COPY]], [[MAX]]) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    spyre.pointwise exp([[SHIFTED]]) {place = #spyre.place<hbm,

// Without a planner no copy has room.
// NONE-LABEL: func.func @copies_that_have_room_stay(
// NONE-SAME:    [[X:%.+]]: tensor<512x1024xf16, #{{.+}}>) ->
// NONE-NEXT:    [[MAX:%.+]] = spyre.reduce max([[X]])
// NONE-NEXT:    spyre.pointwise sub([[X]], [[MAX]])
func.func @copies_that_have_room_stay(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
  %exp = spyre.pointwise exp(%shifted) : tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

// -----

// LX holds one of the two: the exponential, which lives shorter. A copy in HBM would be one pass over HBM more, so both
// readers get the argument back.
// CHECK-LABEL: func.func @copies_without_room_are_undone(
// CHECK-SAME:    [[X:%.+]]: tensor<32x64xf16, #{{.+}}>, [[Y:%.+]]: tensor<32x64xf16, #{{.+}}>) ->
// CHECK-NEXT:    [[ABS:%.+]] = spyre.pointwise abs([[X]]) {place = #spyre.place<hbm,
// CHECK-NEXT:    [[EXP:%.+]] = spyre.pointwise exp([[Y]]) {place = #spyre.place<lx, 0>,
// CHECK-NEXT:    [[NEG:%.+]] = spyre.pointwise neg([[EXP]]) {place = #spyre.place<hbm,
// CHECK-NEXT:    [[SQRT:%.+]] = spyre.pointwise sqrt([[X]]) {place = #spyre.place<hbm,
// CHECK-NEXT:    return [[ABS]], [[NEG]], [[SQRT]]
module attributes {spyre.target = {lx_bytes = 128 : i64}} {
  func.func @copies_without_room_are_undone(%x: tensor<32x64xf16>, %y: tensor<32x64xf16>) -> (tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>) {
    %abs = spyre.pointwise abs(%x) : tensor<32x64xf16>
    %exp = spyre.pointwise exp(%y) : tensor<32x64xf16>
    %neg = spyre.pointwise neg(%exp) : tensor<32x64xf16>
    %sqrt = spyre.pointwise sqrt(%x) : tensor<32x64xf16>
    return %abs, %neg, %sqrt : tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>
  }
}

// -----

// A copy that is a result is what the program asks for.
// CHECK-LABEL: func.func @copies_that_are_results_stay(
// CHECK:         [[COPY:%.+]] = spyre.copy {{%.+}} {place = #spyre.place<hbm, "it is a result of the graph and has no copy in LX">,
// CHECK-NEXT:    return [[COPY]]
// NONE-LABEL: func.func @copies_that_are_results_stay(
// NONE:         [[COPY:%.+]] = spyre.copy {{%.+}} {place = #spyre.place<hbm, "the LX planner is off">,
// NONE-NEXT:    return [[COPY]]
func.func @copies_that_are_results_stay(%x: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %copy = spyre.copy %x : tensor<32x64xf16> -> tensor<32x64xf16>
  return %copy : tensor<32x64xf16>
}

// -----

// The copy of the tile and the maximum take 2 sticks and 1 stick of the 3 on each core; the next iteration overwrites them.
// CHECK-LABEL: func.func @copies_of_tiles_live_in_one_iteration(
// CHECK:         spyre.loop 4 "rows" tiled([[TILE:%.+]] = {{%.+}}[0]
// CHECK-NEXT:      [[COPY:%.+]] = spyre.copy [[TILE]] {place = #spyre.place<lx, 128>,
// CHECK-NEXT:      [[MAX:%.+]] = spyre.reduce max([[COPY]]) dims [1] {place = #spyre.place<lx, 0>,
// CHECK-NEXT:      spyre.pointwise sub([[COPY]], [[MAX]]) {place = #spyre.place<hbm, "its address would advance with a loop">,

// NONE-LABEL: func.func @copies_of_tiles_live_in_one_iteration(
// NONE:         spyre.loop 4 "rows" tiled([[TILE:%.+]] = {{%.+}}[0]
// NONE-NEXT:      [[MAX:%.+]] = spyre.reduce max([[TILE]]) dims [1]
// NONE-NEXT:      spyre.pointwise sub([[TILE]], [[MAX]])
#full = #spyre.layout<[2, 128, 64], [64, 128, 1]>
#window = #spyre.layout<[2, 128, 64], [64, 128, 1], of = [128, 128]>
#column = #spyre.layout<[1, 32, 64], [-1, 1, -1]>
module attributes {spyre.target = {lx_bytes = 384 : i64}} {
  func.func @copies_of_tiles_live_in_one_iteration(%x: tensor<128x128xf16, #full>) -> tensor<128x128xf16, #full> {
    %result = spyre.loop 4 "rows" tiled(%tile = %x[0] : tensor<128x128xf16, #full>) {
      %max = spyre.reduce max(%tile) dims [1] : tensor<32x128xf16, #window> -> tensor<32x1xf16, #column>
      %shifted = spyre.pointwise sub(%tile, %max) : (tensor<32x128xf16, #window>, tensor<32x1xf16, #column>) -> tensor<32x128xf16, #window>
      spyre.yield %shifted[0] : tensor<32x128xf16, #window>
    } : tensor<128x128xf16, #full>
    return %result : tensor<128x128xf16, #full>
  }
}
