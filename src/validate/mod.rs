//! Validation of a compilation, in two halves.
//!
//! *The field*: the imported program is interpreted and the written files are simulated, on equal random arguments from
//! finite fields. All results must be equal, without a tolerance. On a mismatch, the program is interpreted after each
//! phase to find the phase that causes it. *The program as written*: MLIR's JIT runs it in f64 in a separate process,
//! and its results are compared with those of the files. This finds errors of the import. `docs/concepts/trust.md`
//! lists the errors that validation does not find.

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

/// Number of draws of random arguments and random functions. In every third draw zero is the largest number, which
/// reveals a wrong initial value of a maximum.
pub const NUM_DRAWS: u64 = 3;
