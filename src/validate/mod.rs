//! Validation of a compilation by executing it on elements of finite fields.
//!
//! The imported program is interpreted, the written files are executed on the simulated machine, on the same random arguments, and every
//! element of every result must be equal: no tolerance. If it is not, the program is interpreted after each phase to say which one changed
//! it. `docs/reference/simulator.md` says what this proves and what it does not.
//!
//! | file | what |
//! |---|---|
//! | `draw` | random arguments |
//! | `extent` | how much is executed: the whole program, or what some elements of its results depend on |
//! | `difference` | where two executions differ |
//! | `degree` | how likely it is that a draw hides a difference |
//! | `files` | the written files on the simulated machine |
//! | `pieces` | the parts of a program that is too large to be executed |
//! | `phases` | the program after each phase and the files, beside what was imported (`crate::compile` writes files only then) |
//! | `snapshot`, `each` | what functions compute before and after a pass |

mod degree;
mod difference;
mod draw;
mod each;
mod extent;
mod files;
mod phases;
mod pieces;
mod snapshot;

use difference::undefined;
pub use difference::{Difference, difference};
pub use draw::arguments;
use draw::{arguments_at, arguments_of};
pub use each::observe;
pub use extent::{Limits, Samples};
pub(crate) use phases::{Failure, Phases, said};
pub use phases::{Pieces, Verdict};
pub(crate) use pieces::{Piece, pieces};
pub use snapshot::Snapshot;

/// Draws of random arguments and random functions. In every third one zero is the largest number, so that what a maximum begins with shows.
pub const DRAWS: u64 = 3;
