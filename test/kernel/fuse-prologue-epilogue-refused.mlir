// Each rule that an op can violate, reported at the op and at the kernel; `src/kernel/fusion_rules.rs` implements the rules.
// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-fuse-prologue-epilogue %s

func.func @p_kind(%x: tensor<64x128xf16>) -> tensor<64x1xf16> {
  // expected-remark @+1 {{not fused before kernel 'k' (P-KIND): the op is a reduction, and each tile of the kernel needs its complete result}}
  %sum = spyre.reduce sum(%x) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %sum : tensor<64x1xf16>) {
    %exp = spyre.pointwise exp(%in) : tensor<64x1xf16>
    spyre.yield %exp : tensor<64x1xf16>
  }
  return %y : tensor<64x1xf16>
}

// -----

// A kernel joins another kernel only with equal loops. A gather may read from any tile.
func.func @e_grid(%x: tensor<64x128xf16>, %i: tensor<8xi64>) -> tensor<8x128xf16> {
  // expected-note @+1 {{the kernel 'one'}}
  %y = spyre.kernel "one"(%in = %x : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+2 {{not fused after kernel 'one' (E-GRID): the kernel tiles the value between the kernels in another way}}
  // expected-note @+1 {{the kernel 'two'}}
  %z = spyre.kernel "two"(%in = %y : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 2) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+1 {{not fused after kernel 'two' (E-KIND): the op is a gather, which may read any tile}}
  %g = spyre.gather(%z, %i) dim 0 : (tensor<64x128xf16>, tensor<8xi64>) -> tensor<8x128xf16>
  return %g : tensor<8x128xf16>
}

// -----

// The scope with equal loops depends on another scope, which has different loops.
func.func @e_grid_of_a_scope_that_needs_another(%x: tensor<64x128xf16>, %w: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-note @+1 {{the kernel 'one'}}
  %y = spyre.kernel "one"(%in = %x : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+1 {{not fused after kernel 'one' (E-GRID): the kernel tiles the value between the kernels in another way}}
  %z = spyre.kernel "two"(%a = %y : tensor<64x128xf16>, %b = %w : tensor<64x128xf16>) {
    %other = spyre.hint tiles(n = 2) {
      %abs = spyre.pointwise abs(%b) : tensor<64x128xf16>
      spyre.yield %abs : tensor<64x128xf16>
    }
    %h = spyre.hint tiles(m = 4) {
      %sum = spyre.pointwise add(%a, %other) : tensor<64x128xf16>
      spyre.yield %sum : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["m", ""], ["n", ""]]}
  return %z : tensor<64x128xf16>
}

// -----

// Equal tile counts along different dimensions.
func.func @e_grid_of_other_dims(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-note @+1 {{the kernel 'one'}}
  %y = spyre.kernel "one"(%in = %x : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 2) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+1 {{not fused after kernel 'one' (E-GRID): the kernel tiles the value between the kernels in another way}}
  %z = spyre.kernel "columns"(%in = %y : tensor<64x128xf16>) {
    %h = spyre.hint tiles(columns = 2) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["", "columns"]]}
  return %z : tensor<64x128xf16>
}

// -----

// Equal loops, and an op that needs all tiles.
func.func @e_grid_of_a_sum(%x: tensor<64x128xf16>) -> tensor<128x1xf16> {
  // expected-note @+1 {{the kernel 'one'}}
  %y = spyre.kernel "one"(%in = %x : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 2) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %h : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+1 {{not fused after kernel 'one' (E-GRID): the kernel tiles the value between the kernels in another way}}
  %s = spyre.kernel "sum"(%in = %y : tensor<64x128xf16>) {
    %h = spyre.hint tiles(rows = 2) {
      %shown = spyre.view %in by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x128xf16> -> tensor<128x64xf16>
      %sum = spyre.reduce sum(%shown) dims [1] : tensor<128x64xf16> -> tensor<128x1xf16>
      spyre.yield %sum : tensor<128x1xf16>
    }
    spyre.yield %h : tensor<128x1xf16>
  } {input_dims = [["rows", ""]]}
  return %s : tensor<128x1xf16>
}

// -----

// Equal loops, and an op that is recomputed in every iteration.
func.func @e_grid_of_an_op_that_is_computed_again(%x: tensor<64x128xf16>, %w: tensor<1x128xf16>) -> tensor<64x128xf16> {
  // expected-note @+1 {{the kernel 'first'}}
  %y = spyre.kernel "first"(%in = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+1 {{not fused after kernel 'first' (E-GRID): the kernel tiles the value between the kernels in another way}}
  %z = spyre.kernel "second"(%in = %y : tensor<64x128xf16>, %weight = %w : tensor<1x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %again = spyre.hint recompute(rows) {
        %neg = spyre.pointwise neg(%weight) : tensor<1x128xf16>
        spyre.yield %neg : tensor<1x128xf16>
      }
      %product = spyre.pointwise mul(%in, %again) : (tensor<64x128xf16>, tensor<1x128xf16>) -> tensor<64x128xf16>
      spyre.yield %product : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""], ["", ""]]}
  return %z : tensor<64x128xf16>
}

// -----

func.func @p_order(%x: tensor<64x128xf16> {spyre.dims = ["rows", ""]}) -> tensor<64x128xf16> {
  // expected-remark @+1 {{not fused before kernel 'k' (P-ORDER): the op is in another scope than the kernel}}
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %s = spyre.hint tiles(rows = 2) {
    // expected-note @+1 {{the kernel 'k'}}
    %y = spyre.kernel "k"(%in = %neg : tensor<64x128xf16>) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %y : tensor<64x128xf16>
  }
  return %s : tensor<64x128xf16>
}

// -----

func.func @own_wishes(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-remark @+1 {{not fused before kernel 'k' (P-OWN): the op has its own hints or core split}}
  %neg = spyre.pointwise neg(%x) {hints = [#spyre.tile_hint<0, rows = 2>]} : tensor<64x128xf16>
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %neg : tensor<64x128xf16>) {
    %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
    spyre.yield %exp : tensor<64x128xf16>
  }
  // expected-remark @+1 {{not fused after kernel 'k' (E-OWN): the op has its own hints or core split}}
  %z = spyre.pointwise neg(%y) {work_div = [#spyre.work_hint<0, rows = 2>]} : tensor<64x128xf16>
  return %z : tensor<64x128xf16>
}

// -----

func.func @p_uses(%x: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>) {
  // expected-remark @+1 {{not fused before kernel 'k' (P-USES): the result has a use before the kernel}}
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %relu = spyre.pointwise relufwd(%neg) : tensor<64x128xf16>
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %neg : tensor<64x128xf16>) {
    %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
    spyre.yield %exp : tensor<64x128xf16>
  }
  return %relu, %y : tensor<64x128xf16>, tensor<64x128xf16>
}

// -----

func.func @p_sites(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-remark @+1 {{not fused before kernel 'k' (P-SITES): a user loop in the kernel reads the result tile by tile}}
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %neg : tensor<64x128xf16>) {
    %loop = spyre.loop 4 "rows" tiled(%tile = %in[0] : tensor<64x128xf16>) {
      %exp = spyre.pointwise exp(%tile) : tensor<16x128xf16>
      spyre.yield %exp[0] : tensor<16x128xf16>
    } : tensor<64x128xf16>
    spyre.yield %loop : tensor<64x128xf16>
  }
  return %y : tensor<64x128xf16>
}

// -----

// The kernel writes into the buffer of the first op's result, so that op is not fused; the op whose result it inserts may be fused.
func.func @p_tied(%x: tensor<64x128xf16>) -> tensor<128x128xf16> {
  %rows = spyre.view %x by affine_map<(d0, d1) -> (d0 floordiv 2, d1)> : tensor<64x128xf16> -> tensor<128x128xf16>
  // expected-remark @+1 {{not fused before kernel 'k' (P-TIED): the kernel writes into the buffer of the result}}
  %buffer = spyre.pointwise neg(%rows) : tensor<128x128xf16>
  %part = spyre.pointwise exp(%x) : tensor<64x128xf16>
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %part : tensor<64x128xf16>, %into = %buffer : tensor<128x128xf16>) {
    %0 = spyre.insert %in into %into at [64, 0] : tensor<64x128xf16> into tensor<128x128xf16>
    spyre.yield %0 : tensor<128x128xf16>
  }
  return %y : tensor<128x128xf16>
}

// -----

func.func @p_map_of_a_reshape(%x: tensor<8x1024xf16>) -> tensor<64x128xf16> {
  // expected-remark @+1 {{not fused before kernel 'k' (P-MAP): the kernel tiles dimension 0 of a view, which is not a dimension of the result}}
  %neg = spyre.pointwise neg(%x) : tensor<8x1024xf16>
  %rows = spyre.view %neg by affine_map<(d0, d1) -> (d0 floordiv 8, (d0 mod 8) * 128 + d1)> : tensor<8x1024xf16> -> tensor<64x128xf16>
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %rows : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  return %y : tensor<64x128xf16>
}

// -----

// Queries and keys of one tensor: a tile of queries is no tile of keys.
func.func @p_map_of_two_inputs(%x: tensor<64x128xf16>) -> tensor<64x64xf16> {
  // expected-remark @+1 {{not fused before kernel 'k' (P-MAP): the kernel reads the result twice, with different tiles}}
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %t = spyre.view %neg by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x128xf16> -> tensor<128x64xf16>
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%q = %neg : tensor<64x128xf16>, %k = %t : tensor<128x64xf16>) {
    %e = spyre.hint tiles(queries = 4, keys = 1) {
      %p = spyre.matmul(%q, %k) : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf16>
      %f = spyre.hint tiles(keys = 2) {
        %exp = spyre.matmul(%q, %k) : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf16>
        spyre.yield %exp : tensor<64x64xf16>
      }
      spyre.yield %f : tensor<64x64xf16>
    }
    spyre.yield %e : tensor<64x64xf16>
  } {input_dims = [["queries", ""], ["", "keys"]]}
  return %y : tensor<64x64xf16>
}

// -----

// The kernel writes its output into a buffer in slices, which a view of the output would not change.
func.func @e_cover(%x: tensor<64x128xf16>) -> tensor<128x128xf16> {
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %buffer = spyre.empty : tensor<128x128xf16>
    %0 = spyre.insert %in into %buffer at [0, 0] : tensor<64x128xf16> into tensor<128x128xf16>
    %1 = spyre.insert %in into %0 at [64, 0] : tensor<64x128xf16> into tensor<128x128xf16>
    spyre.yield %1 : tensor<128x128xf16>
  }
  // expected-remark @+1 {{not fused after kernel 'k' (E-COVER): the kernel writes the output in slices}}
  %z = spyre.pointwise exp(%y) : tensor<128x128xf16>
  return %z : tensor<128x128xf16>
}

// -----

func.func @e_kind(%x: tensor<64x128xf16>, %i: tensor<8xi64>) -> (tensor<1x128xf16>, tensor<8x128xf16>) {
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+1 {{not fused after kernel 'k' (E-KIND): the op reduces a dimension that the kernel tiles}}
  %sum = spyre.reduce sum(%y) dims [0] : tensor<64x128xf16> -> tensor<1x128xf16>
  // expected-remark @+1 {{not fused after kernel 'k' (E-KIND): the op is a gather, which may read any tile}}
  %rows = spyre.gather(%y, %i) dim 0 : (tensor<64x128xf16>, tensor<8xi64>) -> tensor<8x128xf16>
  return %sum, %rows : tensor<1x128xf16>, tensor<8x128xf16>
}

// -----

func.func @e_order(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
    spyre.yield %exp : tensor<64x128xf16>
  }
  %max = spyre.reduce max(%x) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
  // expected-remark @+1 {{not fused after kernel 'k' (E-ORDER): the op reads 1 operands that are computed after the kernel}}
  %z = spyre.pointwise sub(%y, %max) : (tensor<64x128xf16>, tensor<64x1xf16>) -> tensor<64x128xf16>
  return %z : tensor<64x128xf16>
}

// -----

func.func @e_acc(%a: tensor<64x128xf16>, %b: tensor<128x64xf16>) -> tensor<64x64xf16> {
  // expected-note @+1 {{the kernel 'matmul'}}
  %y = spyre.kernel "matmul"(%l = %a : tensor<64x128xf16>, %r = %b : tensor<128x64xf16>) {
    %e = spyre.hint tiles(k = 2, m = 4) {
      %p = spyre.matmul(%l, %r) : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf16>
      spyre.yield %p : tensor<64x64xf16>
    }
    spyre.yield %e : tensor<64x64xf16>
  } {input_dims = [["m", "k"], ["k", ""]]}
  // expected-remark @+1 {{not fused after kernel 'matmul' (E-ACC): the outermost loop of the kernel accumulates the output}}
  %relu = spyre.pointwise relufwd(%y) : tensor<64x64xf16>
  return %relu : tensor<64x64xf16>
}

// -----

func.func @e_multi(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  // expected-note @+1 {{the kernel 'k'}}
  %y:2 = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    %f = spyre.hint tiles(rows = 4) {
      %abs = spyre.pointwise abs(%in) : tensor<64x128xf16>
      spyre.yield %abs : tensor<64x128xf16>
    }
    spyre.yield %e, %f : tensor<64x128xf16>, tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  // expected-remark @+1 {{not fused after kernel 'k' (E-MULTI): the op reads outputs of 2 scopes of the kernel}}
  %sum = spyre.pointwise add(%y#0, %y#1) : tensor<64x128xf16>
  return %sum : tensor<64x128xf16>
}

// -----

func.func @e_map_of_its_own_transpose(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %x : tensor<64x64xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x64xf16>
      spyre.yield %exp : tensor<64x64xf16>
    }
    spyre.yield %e : tensor<64x64xf16>
  } {input_dims = [["rows", ""]]}
  %t = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x64xf16> -> tensor<64x64xf16>
  // expected-remark @+1 {{not fused after kernel 'k' (E-MAP): the op reads outputs at two different indices}}
  %sum = spyre.pointwise add(%y, %t) : tensor<64x64xf16>
  return %sum : tensor<64x64xf16>
}

// -----

func.func @e_map_of_a_part(%x: tensor<64x128xf16>) -> tensor<32x128xf16> {
  // expected-note @+1 {{the kernel 'k'}}
  %y = spyre.kernel "k"(%in = %x : tensor<64x128xf16>) {
    %e = spyre.hint tiles(rows = 4) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    spyre.yield %e : tensor<64x128xf16>
  } {input_dims = [["rows", ""]]}
  %part = spyre.view %y by affine_map<(d0, d1) -> (d0 + 16, d1)> : tensor<64x128xf16> -> tensor<32x128xf16>
  // expected-remark @+1 {{not fused after kernel 'k' (E-MAP): the op does not iterate over dimension 0 of the output, which the kernel tiles}}
  %abs = spyre.pointwise abs(%part) : tensor<32x128xf16>
  return %abs : tensor<32x128xf16>
}

// -----

// A tile of 64 rows and 128 columns is 16384 bytes, on 32 cores 512 each.
module attributes {spyre.target = {lx_bytes = 256 : i64}} {
  func.func @lx(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
    // expected-remark @+1 {{not fused before kernel 'k' (P-LX): tiles have 512 bytes per core, and LX has 256}}
    %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
    // expected-note @+1 {{the kernel 'k'}}
    %y = spyre.kernel "k"(%in = %neg : tensor<64x128xf16>) {
      %exp = spyre.pointwise exp(%in) : tensor<64x128xf16>
      spyre.yield %exp : tensor<64x128xf16>
    }
    // expected-remark @+1 {{not fused after kernel 'k' (E-LX): tiles have 512 bytes per core, and LX has 256}}
    %abs = spyre.pointwise abs(%y) : tensor<64x128xf16>
    return %abs : tensor<64x128xf16>
  }
}
