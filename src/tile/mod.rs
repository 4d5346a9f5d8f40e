//! Stage `tile`: moves hinted ops into counted loops.
//!
//! ```text
//! before                        after: hints A = 2, B = 4 on both ops
//! %y = add(%a, %b)              loop 2 "A" tiled(a0 = a[0], b0 = b[0], c0 = c[0]) {
//! %z = mul(%y, %c)                loop 4 "B" tiled(a1 = a0[1], b1 = b0[1], c1 = c0[1]) {
//! return %z                         %y = add(a1, b1)       // lives within one iteration: a layout of its own
//!                                   %z = mul(%y, c1)       // written into the full buffer: a window of it
//!                                   yield %z[1] } yield [0] }
//! ```
//!
//! Definitions:
//! * A hint is a *level* of loops. At each level an op is *cut* along the iteration dimension that has the level's
//!   name. An op without a dimension of that name is loop-invariant at this level, and runs once outside the loop.
//! * The levels of an op, outermost first, are its *path*. Ops whose paths have a common prefix share loops, unless one
//!   of them needs a value of the other that is complete only after the loop; it then gets a loop of its own after the
//!   first ([`LoopTree`]).
//! * Where the cut dimension is *reduced*, an iteration only computes a partial result. The partial results are
//!   combined in an *accumulator* that the loop carries: it starts with the neutral element outside the outermost loop
//!   that cuts a reduced dimension.
//! * A value is *at home* in the innermost loop in which it is complete: in the loop of its op, or for an accumulator
//!   outside the outermost reduced level. Ops in the same loop read the tile; for other readers the loops in between
//!   concatenate the tiles.
//!
//! Worked example, the matmul `p[M, N] = x[M, K] y[K, N]` with `z = p + c` and hints M = 8, K = 4:
//!
//! ```text
//! loop 8 "M" tiled(x0 = x[0], c0 = c[0]) {
//!   zero = copy(0)                                                  // [M/8, N]
//!   p = loop 4 "K" tiled(x1 = x0[1], y1 = y[0]) carried(acc = zero) {
//!     part = matmul(x1, y1)
//!     yield add(acc, part) }
//!   yield add(p, c0)[0] }                                           // has no K: it is not in that loop
//! ```
//!
//! An op that needs a finished reduction is in a second loop after the first. If the values that the second loop
//! carries can be corrected (`online.rs`), the two are merged into one loop with a running value: the online softmax of
//! flash attention.
//!
//! | file | what |
//! |---|---|
//! | `level_tiling.rs` | iteration dimension of an op that each level cuts, and errors |
//! | `tree.rs` | assignment of ops to loops |
//! | `online.rs` | reductions that one loop can compute with corrected partial results |
//! | `ir/coarse_tile.rs` | reads ops and hints |
//! | `ir/build_loops.rs` | writes the loops |
//! | `ir/fuse_online_reductions.rs` | merges loops with corrections |
//! | `ir/merge_loops.rs` | legality of a merge, and the merge itself |
//! | `ir/online_steps.rs` | translates ops for `online.rs` |
//! | `ir/insert_loop_copies.rs` | makes it legal for loops to overwrite carried values |
//! | `ir/write_in_place.rs` | makes ops write slices of buffers in place |

mod level_tiling;
mod online;
mod tree;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use level_tiling::{KnownDimNames, LevelTiling, LoopLevel, TiledOp, TiledOperand, TilingError};
pub use online::{
    AnalyzedOp, AnalyzedOpKind, AnalyzedOperand, Correction, Monotonicity, RunningDependence, RunningTerm,
    RunningValueAnalysis,
};
pub use tree::{LoopTree, LoopTreeNode, TreeLoop};
