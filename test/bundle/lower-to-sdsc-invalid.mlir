// RUN: spyre-opt --spyre-lower-to-sdsc --split-input-file --verify-diagnostics %s

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @fills_become_copies_before() -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{has no tensor to read; run the layout phase first}}
  %zero = spyre.fill 0.0 : f16 {spyre.bundle = 0 : i64, work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} -> tensor<64x64xf16, #layout>
  return %zero : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @bundles_must_be_formed(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{has no 'spyre.bundle'; run spyre-form-bundles first}}
  %y = spyre.pointwise exp(%x) {work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @work_must_be_divided(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{'spyre.pointwise' op has no 'work'; run spyre-divide-work first}}
  %y = spyre.pointwise exp(%x) {spyre.bundle = 0 : i64, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @launches_run_in_order(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{expected launch 0 in 'spyre.bundle', found 2; run spyre-form-bundles again}}
  %y = spyre.pointwise exp(%x) {spyre.bundle = 2 : i64, work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

// expected-error @+1 {{arg0 has no device layout; run the layout phase first}}
func.func @layouts_come_first(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

// -----

// expected-error @+1 {{has no body; define the function}}
func.func private @elsewhere(tensor<64x64xf16>)

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @places_come_first(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  // expected-error @+1 {{has no 'place'; run spyre-allocate-scratchpad first}}
  %y = spyre.pointwise exp(%x) {spyre.bundle = 0 : i64, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  %z = spyre.pointwise neg(%y) {spyre.bundle = 0 : i64, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout>
  return %z : tensor<64x64xf16, #layout>
}

// -----

// The part would have to move with the loop.
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 64, 64], [64, 64, 1], of = [64, 64]>
func.func @a_part_in_a_loop(%x: tensor<64x64xf16, #layout>) {
  %buffer = spyre.empty {place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
  spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<64x64xf16, #layout>) attributes {spyre.bundle = 0} {
    // expected-error @+1 {{writes a slice of a buffer outside of its loop, which is not supported; write the slice after the loop}}
    %part = spyre.insert %tile into %buffer at [0, 0] {work = #spyre.work<[1, 1]>} : tensor<32x64xf16, #window> into tensor<64x64xf16, #layout>
    spyre.yield
  }
  return
}

// -----

// Nor can what is made in place.
#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 64, 64], [64, 64, 1], of = [64, 64]>
func.func @a_part_in_place_in_a_loop(%x: tensor<64x64xf16, #layout>) {
  %buffer = spyre.empty {place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
  spyre.loop 2 "A" tiled(%tile = %x[0] : tensor<64x64xf16, #layout>) attributes {spyre.bundle = 0} {
    %made = spyre.pointwise exp(%tile) {work = #spyre.work<[1, 1]>} : tensor<32x64xf16, #window>
    // expected-error @+1 {{writes a slice of a buffer outside of its loop, which is not supported; write the slice after the loop}}
    %part = spyre.insert %made into %buffer at [0, 0] {in_place} : tensor<32x64xf16, #window> into tensor<64x64xf16, #layout>
    spyre.yield
  }
  return
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @places_of_buffers_come_first(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  %buffer = spyre.empty : tensor<64x64xf16, #layout>
  // expected-error @+1 {{has no 'place'; run spyre-allocate-scratchpad first}}
  %part = spyre.insert %x into %buffer at [0, 0] {spyre.bundle = 0 : i64, work = #spyre.work<[1, 1]>} : tensor<64x64xf16, #layout> into tensor<64x64xf16, #layout>
  %y = spyre.pointwise exp(%part) {spyre.bundle = 0 : i64, work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 64, 64], [64, 64, 1], of = [64, 64]>
func.func @counts_are_declared(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> attributes {spyre.symbols = {U = 2}} {
  // expected-error @+1 {{expected the maximum 2 of 'T' in 'spyre.symbols' of the function, as many as tiles, found none; correct the declaration}}
  %y = spyre.loop 2 "M" tiled(%tile = %x[0] : tensor<64x64xf16, #layout>) attributes {symbol = "T"} {
    %exp = spyre.pointwise exp(%tile) : tensor<32x64xf16, #window>
    spyre.yield %exp[0] : tensor<32x64xf16, #window>
  } : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
#window = #spyre.layout<[1, 64, 64], [64, 64, 1], of = [64, 64]>
func.func @a_loop_has_the_tiles_that_are_declared(%x: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> attributes {spyre.symbols = {T = 8}} {
  // expected-error @+1 {{expected the maximum 2 of 'T' in 'spyre.symbols' of the function, as many as tiles, found 8; correct the declaration}}
  %y = spyre.loop 2 "M" tiled(%tile = %x[0] : tensor<64x64xf16, #layout>) attributes {symbol = "T"} {
    %exp = spyre.pointwise exp(%tile) : tensor<32x64xf16, #window>
    spyre.yield %exp[0] : tensor<32x64xf16, #window>
  } : tensor<64x64xf16, #layout>
  return %y : tensor<64x64xf16, #layout>
}

// -----

// A mean over one element is that element; a factor would be lost.
#layout = #spyre.layout<[1, 1, 64], [64, -1, 1]>
func.func @part_of_one_element(%x: tensor<1x64xf16, #layout>) -> tensor<1x64xf16, #layout> {
  // expected-error @+1 {{reduces a single element and multiplies it by 0.25, for which the device has no op; write a multiplication}}
  %y = spyre.reduce mean(%x) dims [0] {constants = array<f64: 0.25>, spyre.bundle = 0 : i64, work = #spyre.work<[1, 1]>, place = #spyre.place<hbm>} : tensor<1x64xf16, #layout> -> tensor<1x64xf16, #layout>
  return %y : tensor<1x64xf16, #layout>
}

// -----

#layout = #spyre.layout<[1, 64, 64], [64, 64, 1]>
func.func @a_loop_that_is_not_settled(%x: tensor<64x64xf16, #layout>, %y: tensor<64x64xf16, #layout>) -> tensor<64x64xf16, #layout> {
  %start = spyre.copy %y : tensor<64x64xf16, #layout> -> tensor<64x64xf16, #layout>
  // expected-error @+1 {{'spyre.loop' op overwrites carried value 0 before its last use; run spyre-insert-loop-copies first}}
  %r = spyre.loop 4 "T" carried(%m = %start : tensor<64x64xf16, #layout>) {
    %n = spyre.pointwise maximum(%m, %x) : tensor<64x64xf16, #layout>
    %d = spyre.pointwise sub(%n, %m) : tensor<64x64xf16, #layout>
    spyre.yield %n : tensor<64x64xf16, #layout>
  } : tensor<64x64xf16, #layout>
  return %r : tensor<64x64xf16, #layout>
}
