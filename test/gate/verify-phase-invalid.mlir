// RUN: split-file %s %t
// RUN: spyre-opt --spyre-verify-phase=phase=import --split-input-file --verify-diagnostics %t/import.mlir
// RUN: spyre-opt --spyre-verify-phase=phase=layout --split-input-file --verify-diagnostics %t/layout.mlir
// RUN: spyre-opt --spyre-verify-phase=phase=tile --split-input-file --verify-diagnostics %t/tile.mlir
// RUN: spyre-opt --spyre-verify-phase=phase=work --split-input-file --verify-diagnostics %t/work.mlir
// RUN: spyre-opt --spyre-verify-phase=phase=lx --split-input-file --verify-diagnostics %t/lx.mlir
// RUN: spyre-opt --spyre-verify-phase=phase=bundle --split-input-file --verify-diagnostics %t/bundle.mlir
// RUN: not spyre-opt --spyre-verify-phase=phase=tiles --split-input-file %t/tile.mlir 2>&1 | FileCheck %s
// CHECK: error{{.*}}'builtin.module' op option 'phase': expected 'import', 'layout', 'hint', 'tile', 'work', 'lx', 'bundle' or 'emit', found 'tiles'

//--- import.mlir
func.func @no_linalg_is_left() -> tensor<4xf16> {
  // expected-error @+1 {{'tensor.empty' op is not allowed after phase 'import': it should have become spyre ops}}
  %0 = tensor.empty() : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

func.func @no_scope_is_left(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{'spyre.hint' op is not allowed after phase 'import': it should have become attributes of ops}}
  %y = spyre.hint tiles(A = 2) {
    spyre.yield %x : tensor<64x64xf16>
  }
  return %y : tensor<64x64xf16>
}

// -----

// All that is wrong is told.
func.func @everything_is_reported(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'tensor.empty' op is not allowed after phase 'import'}}
  %0 = tensor.empty() : tensor<4x64xf16>
  // expected-error @+1 {{'linalg.exp' op is not allowed after phase 'import'}}
  %1 = linalg.exp ins(%x : tensor<4x64xf16>) outs(%0 : tensor<4x64xf16>) -> tensor<4x64xf16>
  return %1 : tensor<4x64xf16>
}

// -----

func.func @nothing_reads_what_is_not_written() -> tensor<4x64xf16> {
  // expected-error @+1 {{'spyre.empty' op is uninitialized memory, which only a 'spyre.insert' may use, as the tensor to write into}}
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-note @+1 {{used here}}
  return %buffer : tensor<4x64xf16>
}

// -----

func.func @nothing_copies_what_is_not_written() {
  // expected-error @+1 {{'spyre.empty' op is uninitialized memory}}
  %part = spyre.empty : tensor<4x64xf16>
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-note @+1 {{used here}}
  spyre.insert %part into %buffer at [0, 0] : tensor<4x64xf16> into tensor<4x64xf16>
  return
}

// -----

func.func @a_part_goes_into_a_buffer_and_no_argument(%part: tensor<4x64xf16>, %whole: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.insert' op writes into a tensor that is not the result of 'spyre.empty' or 'spyre.insert'}}
  spyre.insert %part into %whole at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  return
}

// -----

func.func @a_part_goes_into_a_buffer_and_no_other_result(%part: tensor<4x64xf16>, %x: tensor<8x64xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes into a tensor that is not the result of 'spyre.empty' or 'spyre.insert'}}
  spyre.insert %part into %exp at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  return
}

// -----

func.func @nobody_sees_half_a_buffer(%part: tensor<4x64xf16>) -> tensor<8x64xf16> {
  %buffer = spyre.empty : tensor<8x64xf16>
  %half = spyre.insert %part into %buffer at [0, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes into a buffer that is also used elsewhere, by ops that would read it partially written}}
  %whole = spyre.insert %part into %half at [4, 0] : tensor<4x64xf16> into tensor<8x64xf16>
  // expected-note @+1 {{used here}}
  return %half : tensor<8x64xf16>
}

// -----

func.func @a_buffer_is_no_part_of_itself(%part: tensor<4x64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  %0 = spyre.insert %part into %buffer at [0, 0] : tensor<4x64xf16> into tensor<4x64xf16>
  // A part of itself.
  // expected-error @+2 {{'spyre.insert' op writes into a buffer that is also used elsewhere}}
  // expected-note @+1 {{used here}}
  %1 = spyre.insert %0 into %0 at [0, 0] : tensor<4x64xf16> into tensor<4x64xf16>
  return
}

//--- layout.mlir
func.func @every_value_has_a_layout(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'layout': its result has no device layout}}
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

// -----

func.func @every_buffer_has_a_layout() {
  // expected-error @+1 {{'spyre.empty' op is not allowed after phase 'layout': its result has no device layout}}
  %buffer = spyre.empty : tensor<64x64xf16>
  return
}

//--- tile.mlir
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @hints_are_loops(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'tile': its hints should have become loops}}
  %y = spyre.pointwise exp(%x) {hints = [#spyre.tile_hint<0, A = 2>]} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @what_is_read_is_there(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  %start = spyre.copy %y : tensor<64x64xf16, #layout> -> tensor<64x64xf16, #layout>
  // expected-error @+1 {{'spyre.loop' op overwrites carried value 0 before its last use; run spyre-insert-loop-copies first}}
  %r = spyre.loop 4 "T" carried(%m = %start : tensor<64x64xf16, #layout>) {
    %n = spyre.pointwise maximum(%m, %x) : tensor<64x64xf16, #layout>
    %d = spyre.pointwise sub(%n, %m) : tensor<64x64xf16, #layout>
    spyre.yield %n : tensor<64x64xf16, #layout>
  } : tensor<64x64xf16, #layout>
  return %r : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @starts_are_apart(%x: tensor<64x64xf16, #layout>) -> (tensor<64x64xf16, #layout>, tensor<64x64xf16, #layout>) {
  %start = spyre.copy %x : tensor<64x64xf16, #layout> -> tensor<64x64xf16, #layout>
  // expected-error @+1 {{'spyre.loop' op overwrites operand 0 before its last use; run spyre-insert-loop-copies first}}
  %r:2 = spyre.loop 4 "T" carried(%m = %start : tensor<64x64xf16, #layout>, %n = %start : tensor<64x64xf16, #layout>) {
    spyre.yield %m, %n : tensor<64x64xf16, #layout>, tensor<64x64xf16, #layout>
  } : tensor<64x64xf16, #layout>, tensor<64x64xf16, #layout>
  return %r#0, %r#1 : tensor<64x64xf16, #layout>, tensor<64x64xf16, #layout>
}

// -----

#a = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#whole = #spyre.layout<[1, 8, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 8, 64], [64, 64, 1], of = [8, 64]>

func.func @a_part_in_place_is_made_by_an_op(%x: tensor<4x64xf16, #window>) -> tensor<8x64xf16, #whole> {
  %0 = spyre.empty : tensor<8x64xf16, #whole>
  // expected-error @+1 {{'spyre.insert' op requires for 'in_place' a part that only this insert uses and that one op (not a gather) computes, directly or tile by tile in loops of constant trip count; remove 'in_place'}}
  %1 = spyre.insert %x into %0 at [0, 0] {in_place} : tensor<4x64xf16, #window> into tensor<8x64xf16, #whole>
  return %1 : tensor<8x64xf16, #whole>
}

// -----

#a = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#whole = #spyre.layout<[1, 8, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 8, 64], [64, 64, 1], of = [8, 64]>

func.func @a_part_in_place_is_made_for_one(%x: tensor<4x64xf16, #a>) -> (tensor<8x64xf16, #whole>, tensor<4x64xf16, #a>) {
  %made = spyre.pointwise exp(%x) : (tensor<4x64xf16, #a>) -> tensor<4x64xf16, #window>
  %0 = spyre.empty : tensor<8x64xf16, #whole>
  // expected-error @+1 {{'spyre.insert' op requires for 'in_place' a part that only this insert uses and that one op (not a gather) computes}}
  %1 = spyre.insert %made into %0 at [0, 0] {in_place} : tensor<4x64xf16, #window> into tensor<8x64xf16, #whole>
  %2 = spyre.pointwise neg(%made) : (tensor<4x64xf16, #window>) -> tensor<4x64xf16, #a>
  return %1, %2 : tensor<8x64xf16, #whole>, tensor<4x64xf16, #a>
}

// -----

#a = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#whole = #spyre.layout<[1, 8, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 8, 64], [64, 64, 1], of = [8, 64]>

func.func @a_part_in_place_is_not_gathered(%table: tensor<16x64xf16, #spyre.layout<[16, 1, 64], [64, 64, 1]>>, %i: tensor<4xi32, #spyre.layout<[1, 32], [32, 1]>>)
    -> tensor<8x64xf16, #whole> {
  %made = spyre.gather(%table, %i) dim 0 : (tensor<16x64xf16, #spyre.layout<[16, 1, 64], [64, 64, 1]>>, tensor<4xi32, #spyre.layout<[1, 32], [32, 1]>>) -> tensor<4x64xf16, #window>
  %0 = spyre.empty : tensor<8x64xf16, #whole>
  // expected-error @+1 {{'spyre.insert' op requires for 'in_place' a part that only this insert uses and that one op (not a gather) computes}}
  %1 = spyre.insert %made into %0 at [0, 0] {in_place} : tensor<4x64xf16, #window> into tensor<8x64xf16, #whole>
  return %1 : tensor<8x64xf16, #whole>
}

// -----

#a = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#whole = #spyre.layout<[1, 8, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 8, 64], [64, 64, 1], of = [8, 64]>

func.func @a_part_in_place_is_written_whole(%x: tensor<4x64xf16, #a>) -> tensor<8x64xf16, #whole> {
  %made = spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<4x64xf16, #a>) attributes {symbol = "n"} {
    %e = spyre.pointwise exp(%tile) : (tensor<2x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1], of = [4, 64]>>) -> tensor<2x64xf16, #window>
    spyre.yield %e[0] : tensor<2x64xf16, #window>
  } : tensor<4x64xf16, #window>
  %0 = spyre.empty : tensor<8x64xf16, #whole>
  // expected-error @+1 {{'spyre.insert' op requires for 'in_place' a part that only this insert uses and that one op (not a gather) computes}}
  %1 = spyre.insert %made into %0 at [0, 0] {in_place} : tensor<4x64xf16, #window> into tensor<8x64xf16, #whole>
  return %1 : tensor<8x64xf16, #whole>
}

// -----

#a = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#whole = #spyre.layout<[1, 8, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 8, 64], [64, 64, 1], of = [8, 64]>

func.func @a_part_in_place_is_apart(%x: tensor<4x64xf16, #a>, %y: tensor<4x64xf16, #a>) -> tensor<8x64xf16, #whole> {
  %made = spyre.pointwise exp(%x) : (tensor<4x64xf16, #a>) -> tensor<4x64xf16, #window>
  %0 = spyre.empty : tensor<8x64xf16, #whole>
  %1 = spyre.insert %y into %0 at [0, 0] : tensor<4x64xf16, #a> into tensor<8x64xf16, #whole>
  // expected-error @+1 {{'spyre.insert' op writes a part in place that overlaps another part of the buffer; remove 'in_place'}}
  %2 = spyre.insert %made into %1 at [3, 0] {in_place} : tensor<4x64xf16, #window> into tensor<8x64xf16, #whole>
  return %2 : tensor<8x64xf16, #whole>
}

//--- work.mlir
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @work_is_divided(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'work': it has no core split ('work')}}
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#same = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @hints_are_followed(%x: tensor<64x64xf16, #same>) -> tensor<64x64xf16, #same> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'work': its 'work_div' should have become its core split ('work')}}
  %y = spyre.pointwise exp(%x) {work = #spyre.work<[1, 1]>, work_div = [#spyre.work_hint<0, A = 1>]} : tensor<64x64xf16, #same>
  return %y : tensor<64x64xf16, #same>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @slices_are_even(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'work': 3 slices of iteration dimension 0, which has 64 positions; use a divisor of 64}}
  %y = spyre.pointwise exp(%x) {work = #spyre.work<[3, 1]>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @sticks_are_whole(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'work': 2 slices of iteration dimension 1, which has 1 sticks; use a divisor of 1}}
  %y = spyre.pointwise exp(%x) {work = #spyre.work<[1, 2]>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @there_are_so_many_cores(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'work': expected at most 32 slices in all, one per core, found 64; request fewer slices}}
  %y = spyre.pointwise exp(%x) {work = #spyre.work<[64, 1]>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @all_divisions_are_looked_at(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'work': 3 slices of iteration dimension 0, which has 64 positions; use a divisor of 64}}
  %y = spyre.pointwise exp(%x) {work = #spyre.work<[3, 1]>} : tensor<64x64xf16, #layout>
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'work': expected at most 32 slices in all, one per core, found 64; request fewer slices}}
  %z = spyre.pointwise exp(%y) {work = #spyre.work<[64, 1]>} : tensor<64x64xf16, #layout>
  return %z : tensor<64x64xf16, #layout>
}

//--- lx.mlir
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @every_result_has_a_place(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'lx': its result has no memory assigned ('place')}}
  %y = spyre.pointwise exp(%x) {work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#same = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @the_place_of_a_buffer_is_known(%x: tensor<64x64xf16, #same>) -> tensor<64x64xf16, #same> {
  %buffer = spyre.empty : tensor<64x64xf16, #same>
  // expected-error @+1 {{'spyre.insert' op is not allowed after phase 'lx': its result has no memory assigned ('place')}}
  %y = spyre.insert %x into %buffer at [0, 0] {work = #spyre.work<[32, 1]>} : tensor<64x64xf16, #same> into tensor<64x64xf16, #same>
  return %y : tensor<64x64xf16, #same>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @values_in_lx_share_no_bytes(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  %a = spyre.pointwise exp(%x) {place = #spyre.place<lx, 0>, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'lx': expected separate places of live values, found bytes shared with the result of the op at}}
  %b = spyre.pointwise neg(%x) {place = #spyre.place<lx, 4096>, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  %c = spyre.pointwise add(%a, %b) {place = #spyre.place<hbm>, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  return %c : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @readers_have_what_the_writer_left(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'lx': expected a result in HBM, found a place in LX: its users split it over the cores differently: use 1 slices it differently from use 0; remove the place}}
  %a = spyre.pointwise exp(%x) {place = #spyre.place<lx, 0>, work = #spyre.work<[2, 1]>} : tensor<64x64xf16, #layout>
  %b = spyre.pointwise neg(%a) {place = #spyre.place<hbm>, work = #spyre.work<[4, 1]>} : tensor<64x64xf16, #layout>
  return %b : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @lx_has_an_end(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'lx': expected a place inside LX, found bytes 1625216 to 1633408; choose a lower address}}
  %a = spyre.pointwise exp(%x) {place = #spyre.place<lx, 1625216>, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  %b = spyre.pointwise neg(%a) {place = #spyre.place<hbm>, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  return %b : tensor<64x64xf16, #layout>
}

//--- bundle.mlir
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @no_tensor_op_is_left(%x: tensor<64x64xf16, #layout>) {
  // expected-error @+1 {{'spyre.pointwise' op is not allowed after phase 'bundle': it should have been lowered}}
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16, #layout>
  return
}

// -----

// expected-error @+1 {{'sdsc.bundle' op is not allowed after phase 'bundle': it should have been lowered}}
sdsc.bundle @every_bundle_has_its_function() {
}
