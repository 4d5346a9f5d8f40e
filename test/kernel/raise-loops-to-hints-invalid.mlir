// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-raise-loops-to-hints %s

// The running maximum of an online softmax corrects carried values, which is no reduction of complete tensors.
func.func @corrects(%x: tensor<64x128xf16>, %zero: tensor<64x1xf16>) -> tensor<64x1xf16> {
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "columns" tiled(%tile = %x[1] : tensor<64x128xf16>) carried(%before = %zero : tensor<64x1xf16>) {
    %part = spyre.reduce sum(%tile) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
    %half = spyre.pointwise neg(%before) : tensor<64x1xf16>
    // expected-error @+1 {{'spyre.pointwise' op yields another value than the carried value combined with a partial result: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %after = spyre.pointwise add(%half, %part) : tensor<64x1xf16>
    spyre.yield %after : tensor<64x1xf16>
  } : tensor<64x1xf16>
  return %y : tensor<64x1xf16>
}

// -----

func.func @begins_with_an_argument(%x: tensor<64x128xf16>, %begin: tensor<64x1xf16>) -> tensor<64x1xf16> {
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "columns" tiled(%tile = %x[1] : tensor<64x128xf16>) carried(%before = %begin : tensor<64x1xf16>) {
    %part = spyre.reduce sum(%tile) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
    // expected-error @+1 {{'spyre.pointwise' op carries an initial value that is not neutral, such as 0 for a sum: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %after = spyre.pointwise add(%before, %part) : tensor<64x1xf16>
    spyre.yield %after : tensor<64x1xf16>
  } : tensor<64x1xf16>
  return %y : tensor<64x1xf16>
}

// -----

// A maximum of sums is no sum.
func.func @combines_otherwise(%x: tensor<64x128xf16>) -> tensor<64x1xf16> {
  %zero = spyre.fill 0.0 : f16 -> tensor<64x1xf16>
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "columns" tiled(%tile = %x[1] : tensor<64x128xf16>) carried(%before = %zero : tensor<64x1xf16>) {
    %part = spyre.reduce sum(%tile) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
    // expected-error @+1 {{'spyre.pointwise' op yields another value than the carried value combined with a partial result: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %after = spyre.pointwise maximum(%before, %part) : tensor<64x1xf16>
    spyre.yield %after : tensor<64x1xf16>
  } : tensor<64x1xf16>
  return %y : tensor<64x1xf16>
}

// -----

// Each iteration adds the sum of all columns, so the result is twice the sum.
func.func @adds_the_whole(%x: tensor<64x128xf16>, %w: tensor<128x64xf16>) -> tensor<64x1xf16> {
  %zero = spyre.fill 0.0 : f16 -> tensor<64x1xf16>
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "columns" tiled(%tile = %w[1] : tensor<128x64xf16>) carried(%before = %zero : tensor<64x1xf16>) {
    %part = spyre.reduce sum(%x) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
    // expected-error @+1 {{'spyre.pointwise' op combines the carried value with a value that is not a partial result of the tiles: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %after = spyre.pointwise add(%before, %part) : tensor<64x1xf16>
    spyre.yield %after : tensor<64x1xf16>
  } : tensor<64x1xf16>
  return %y : tensor<64x1xf16>
}

// -----

// A sum has a use before it is complete.
func.func @reads_too_early(%x: tensor<64x128xf16>) -> (tensor<128x1xf16>, tensor<64x1xf16>) {
  %zero = spyre.fill 0.0 : f16 -> tensor<64x1xf16>
  // expected-note @+1 {{the loop}}
  %y:2 = spyre.loop 2 "columns" tiled(%tile = %x[1] : tensor<64x128xf16>) carried(%before = %zero : tensor<64x1xf16>) {
    %part = spyre.reduce sum(%tile) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
    // expected-error @+1 {{'spyre.pointwise' op yields a value that other ops read before it is complete: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %after = spyre.pointwise add(%before, %part) : tensor<64x1xf16>
    %now = spyre.pointwise neg(%after) : tensor<64x1xf16>
    spyre.yield %now[0], %after : tensor<64x1xf16>, tensor<64x1xf16>
  } : tensor<128x1xf16>, tensor<64x1xf16>
  return %y#0, %y#1 : tensor<128x1xf16>, tensor<64x1xf16>
}

// -----

func.func @shares(%x: tensor<64x128xf16>, %w: tensor<32x128xf16>) -> tensor<64x128xf16> {
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<64x128xf16>) {
    // expected-error @+1 {{'spyre.pointwise' op reads the same elements in every iteration along the tiled dimension}}
    %z = spyre.pointwise add(%tile, %w) : tensor<32x128xf16>
    spyre.yield %z[0] : tensor<32x128xf16>
  } : tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// -----

func.func @diagonal(%x: tensor<64x64xf16>) -> tensor<64x32xf16> {
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "rows" tiled(%row = %x[0] : tensor<64x64xf16>, %column = %x[1] : tensor<64x64xf16>) {
    // expected-error @+1 {{'spyre.matmul' op reads operands that are tiled along two different dimensions, so only diagonal tiles would be computed}}
    %z = spyre.matmul(%row, %column) : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
    spyre.yield %z[0] : tensor<32x32xf16>
  } : tensor<64x32xf16>
  return %y : tensor<64x32xf16>
}

// -----

func.func @reduces_each_tile(%x: tensor<64x128xf16>) -> tensor<2x128xf16> {
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<64x128xf16>) {
    %z = spyre.reduce sum(%tile) dims [0] : tensor<32x128xf16> -> tensor<1x128xf16>
    // expected-error @+1 {{'spyre.pointwise' op uses a partial result of a reduction, which is complete only after the loop}}
    %e = spyre.pointwise exp(%z) : tensor<1x128xf16>
    spyre.yield %e[0] : tensor<1x128xf16>
  } : tensor<2x128xf16>
  return %y : tensor<2x128xf16>
}

// -----

func.func @lays_it_otherwise(%x: tensor<64x64xf16>) -> tensor<32x128xf16> {
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<64x64xf16>) {
    // expected-error @+1 {{'spyre.pointwise' op concatenates results along another dimension than the tiled one: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %e = spyre.pointwise exp(%tile) : tensor<32x64xf16>
    spyre.yield %e[1] : tensor<32x64xf16>
  } : tensor<32x128xf16>
  return %y : tensor<32x128xf16>
}

// -----

// The first row of each tile is no view of the whole tensor.
func.func @first_rows(%x: tensor<64x128xf16>) -> tensor<2x128xf16> {
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<64x128xf16>) {
    // expected-error @+1 {{'spyre.view' op reads a tile through a view that does not keep the tiled dimension: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %first = spyre.view %tile by affine_map<(d0, d1) -> (0, d1)> : tensor<32x128xf16> -> tensor<1x128xf16>
    spyre.yield %first[0] : tensor<1x128xf16>
  } : tensor<2x128xf16>
  return %y : tensor<2x128xf16>
}

// -----

// The first half of each tile is no half of the whole tensor.
func.func @first_halves(%x: tensor<64x128xf16>) -> (tensor<32x128xf16>, tensor<64x128xf16>) {
  // expected-note @+1 {{the loop}}
  %y:2 = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<64x128xf16>) {
    // expected-error @+1 {{'spyre.view' op reads a tile through a view that does not keep the tiled dimension: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %half = spyre.view %tile by affine_map<(d0, d1) -> (d0, d1)> : tensor<32x128xf16> -> tensor<16x128xf16>
    %abs = spyre.pointwise abs(%half) : tensor<16x128xf16>
    %neg = spyre.pointwise neg(%tile) : tensor<32x128xf16>
    spyre.yield %abs[0], %neg[0] : tensor<16x128xf16>, tensor<32x128xf16>
  } : tensor<32x128xf16>, tensor<64x128xf16>
  return %y#0, %y#1 : tensor<32x128xf16>, tensor<64x128xf16>
}

// -----

// A copy of rows may be tiled; an insert of a slice into a larger tensor may not.
func.func @inserts(%x: tensor<64x128xf16>) -> tensor<128x128xf16> {
  %empty = spyre.empty : tensor<64x128xf16>
  // expected-note @+1 {{the loop}}
  %y = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<64x128xf16>) {
    // expected-error @+1 {{'spyre.insert' op is not an elementwise op, reduction, matmul or gather: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
    %z = spyre.insert %tile into %empty at [32, 0] : tensor<32x128xf16> into tensor<64x128xf16>
    spyre.yield %z[0] : tensor<64x128xf16>
  } : tensor<128x128xf16>
  return %y : tensor<128x128xf16>
}

// -----

func.func @known_at_launch(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-error @+1 {{'spyre.loop' op has a trip count that is known only at launch: a loop over tensors without layouts must be equivalent to ops on complete tensors}}
  %y = spyre.loop 2 "rows" tiled(%tile = %x[0] : tensor<64x128xf16>) attributes {symbol = "T"} {
    %e = spyre.pointwise exp(%tile) : tensor<32x128xf16>
    spyre.yield %e[0] : tensor<32x128xf16>
  } : tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// -----

func.func @nameless(%x: tensor<8192xf16>) -> tensor<64x128xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 * 128 + d1)> : tensor<8192xf16> -> tensor<64x128xf16>
  // expected-error @+1 {{'spyre.loop' op expected a loop that tiles a complete dimension of an argument, because it is converted to a hint scope; write the ops of its body on complete tensors in 'spyre.hint'}}
  %y = spyre.loop 2 "rows" tiled(%tile = %rows[0] : tensor<64x128xf16>) {
    %e = spyre.pointwise exp(%tile) : tensor<32x128xf16>
    spyre.yield %e[0] : tensor<32x128xf16>
  } : tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
