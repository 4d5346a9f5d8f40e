//! Stage `tile`: moves hinted ops into counted loops.
//!
//! ```text
//! before                        after: hints A = 2, B = 4 on both ops
//! %y = add(%a, %b)              loop 2 "A" tiled(a0 = a[0], b0 = b[0], c0 = c[0]) {
//! %z = mul(%y, %c)                loop 4 "B" tiled(a1 = a0[1], b1 = b0[1], c1 = c0[1]) {
//! return %z                         %y = add(a1, b1)       // live within one iteration: a layout of its own
//!                                   %z = mul(%y, c1)       // written into the full buffer: a window of it
//!                                   yield %z[1] } yield [0] }
//! ```
//!
//! A hint is a *level* of loops. It tiles an op along the iteration dimension that has the level's name; an op without
//! that dimension runs once outside the loop. Ops share loops as far as their levels agree ([`LoopTree`]). If a level
//! tiles a *reduced* dimension, iterations combine partial results in an *accumulator* that the loop carries. An op
//! that needs the finished result runs in a second loop, unless both loops can be merged into one with a running value
//! ([`RunningValueAnalysis`]).

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
