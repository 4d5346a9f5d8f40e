//! Stage `tile`: groups of hinted ops become the body of counted loops.
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
//! A *group* is a run of ops with the same hints. Each hint is a *level* of the nest; at each level an op is cut along the iteration
//! dimension that has the level's name, or not at all if it has none (it is then the same in every iteration). That says for every tensor
//! which of its dimensions is cut at each level: its *cut*.

mod group;
mod nest;

pub(crate) mod coarse_tile;

pub use group::{Group, groups};
pub use nest::{Cut, GroupOp, Nest, NestError, TensorUse};
