//! Validation of a compilation, in two halves.
//!
//! *The field*: the imported program is interpreted, the written files are executed on the simulated machine, on the
//! same random arguments of finite fields, and every element of every result must be equal: no tolerance. If it is not,
//! the program is interpreted after each phase to say which one changed it. *The program as written* is run by MLIR's
//! JIT in f64 in a process of its own, beside the files, so that a fault of the import shows. `docs/concepts/trust.md`
//! says what this finds and what it does not.
//!
//! | file | what |
//! |---|---|
//! | `mode`, `budget` | whether a compilation is validated, and what that may cost by default |
//! | `original`, `domains` | the program as written, and the numbers that its arguments may have |
//! | `draw` | random arguments |
//! | `extent` | how much is executed: the whole program, or what some elements of its results depend on |
//! | `difference` | where two executions differ |
//! | `degree` | how likely it is that a draw hides a difference |
//! | `files` | the written files on the simulated machine |
//! | `pieces` | the parts of a program that is too large to be executed |
//! | `phases` | the program after each phase and the files, beside what was imported (`crate::compile` writes files only then) |
//! | `threads` | the threads that a validation runs on |
//! | `snapshot`, `each` | what functions compute before and after a pass |

mod budget;
mod degree;
mod difference;
mod domains;
mod draw;
mod extent;
mod files;
mod mode;
mod original;
mod pass_observer;
mod phases;
mod pieces;
mod snapshot;
mod threads;

pub use budget::{ExecutionCost, ValidationBudget, ValidationCounts};
use difference::count_undefined;
pub use difference::{ElementDifference, find_difference};
pub use domains::{Domain, compute_domains};
pub use draw::draw_arguments;
use draw::{draw_arguments_with, draw_selected_arguments};
pub(crate) use extent::ValidationExtent;
pub use extent::{ExecutionLimits, Samples};
pub use mode::ValidationMode;
pub use original::{NotValidated, OriginalRunner, OriginalVerdict};
pub use pass_observer::ValidationObserver;
pub(crate) use phases::{PhaseRecords, ValidationFailure, format_sizes};
pub use phases::{Pieces, Verdict};
pub(crate) use pieces::{ProgramPiece, partition_into_pieces};
pub use snapshot::ResultSnapshot;
pub(crate) use threads::run_on_own_threads;

/// Draws of random arguments and random functions. In every third one zero is the largest number, so that what a
/// maximum begins with shows.
pub const NUM_DRAWS: u64 = 3;
