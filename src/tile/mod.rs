//! Stage `tile`: hinted ops become the bodies of counted loops.
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
//! * A hint is a *level* of loops. At each level an op is *cut* along the iteration dimension that has the level's name. A level whose
//!   name an op does not have is none of its levels: such an op is the same in every iteration, and runs once outside the loop.
//! * The levels of an op, outermost first, are its *path*. Ops whose paths begin alike share loops, unless one needs what the other has
//!   only finished when the loop ends; it then gets a loop of its own behind the first ([`Tree`]).
//! * Where the cut dimension is *reduced*, an iteration only knows a part of the sum. The partial results are combined in an
//!   *accumulator* that the loop carries: it begins with the neutral element outside the outermost loop that cuts a reduced dimension.
//! * A value is *at home* in the innermost loop in which it is complete: in the loop of its op, or for an accumulator outside the
//!   outermost reduced level. Ops in the same loop read the tile; what others read is laid side by side by the loops between.
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
//! An op that needs a finished reduction is in a second loop behind the first. Where what that loop carries can be corrected, `online.rs`, the two
//! become one with a running value: the online softmax of flash attention.
//!
//! | file | what |
//! |---|---|
//! | `cut.rs` | which dimension of an op each level cuts, and which it cannot |
//! | `tree.rs` | which loop every op is in |
//! | `online.rs` | what one loop can compute where what it has so far is corrected |
//! | `ir/coarse_tile.rs` | reads ops and hints |
//! | `ir/build_loops.rs` | writes the loops |
//! | `ir/make_online.rs` | merges loops with corrections |
//! | `ir/merge_loops.rs` | which two, and how |
//! | `ir/online_steps.rs` | ops as `online.rs` sees them |
//! | `ir/settle_loops.rs` | lets loops overwrite what they carry |
//! | `ir/write_in_place.rs` | lets ops write parts of buffers in place |

mod cut;
mod online;
mod tree;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use cut::{Cut, CutError, KnownNames, Level, Operand, TiledOp};
pub use online::{Correction, Course, Form, Online, Read, Rule, Step, Term};
pub use tree::{Loop, Node, Tree};
