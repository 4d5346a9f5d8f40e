//! Search over the open parameters of a program: knobs of kernels, and fusion of ops into kernels.
//!
//! * A [`TuneSpace`] has a *dimension* for each open parameter, with its choices. A [`TunePoint`] has one choice per
//!   dimension. The *untuned* point is the default of a compilation.
//! * A [`PointEvaluator`] rejects a point by a rule, without compiling it, or computes the cost of the program there.
//!
//! [`search()`] documents the method. `docs/measurements/tuning.md` has figures.

mod cache;
mod entry;
mod local_search;
#[cfg(test)]
mod matmul_space;
mod merge;
mod random;
mod search;
mod shard;
mod space;

pub use cache::{CacheLookup, LocatedEntry, TuneCache, append, read_folder};
pub use entry::{RankedPoint, TuneEntry, TuneKey, TuneParameters, TuneResult};
pub use merge::{MergedEntries, merge_entries};
pub use search::{
    BoundedCost, PointEvaluator, Rejection, TuneCandidate, TuneProgress, TuneSearchRequest, TuneSearchResult,
    TuneStopReason, search,
};
pub use shard::Shard;
pub use space::{TuneDimension, TunePoint, TuneSpace};
