//! Search over the open parameters of a program: knobs of kernels, and moves of ops into kernels.
//!
//! Definitions:
//! * A [`Space`] has a *dimension* for each open parameter, with its choices; a [`TunePoint`] has one choice per
//!   dimension. The *untuned* point is the default of a compilation. It is evaluated first, so the result is never
//!   worse.
//! * A [`Judge`] rejects a point by a rule, without compiling it, or computes the cost of the program at the point.
//! * Points are compared by the objective, then by the other half of the cost, then by the number of choices that
//!   differ from the untuned point, then in the order of the choices. This order is total, so the best point depends on
//!   no evaluation order.
//!
//! Method: all points if there are no more than the budget, otherwise local searches (walks) from the untuned point and
//! from random ones. Many threads evaluate the points in batches, and decisions between batches depend on the costs
//! alone, so the answer does not depend on threads or clocks. `docs/measurements/tuning.md` has figures.
//!
//! | file | what |
//! |---|---|
//! | `space.rs` | open parameters and their choices |
//! | `search.rs` | evaluates points in batches; all of them in a small space |
//! | `local_search.rs` | local search in a large space |
//! | `random.rs` | random numbers that are the same on every machine |
//! | `shard.rs` | shard of the work, for one of several machines |
//! | `entry.rs` | cache entry: key and result of a search |
//! | `cache.rs` | folders of entries: lookup and append |
//! | `merge.rs` | merges the entries of several machines |
//! | `matmul_space.rs` | for a test: walks compared with all points of a product, by the time model |

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
    MeasuredCost, PointEvaluator, Rejection, TuneCandidate, TuneProgress, TuneSearchRequest, TuneSearchResult,
    TuneStopReason, search,
};
pub use shard::Shard;
pub use space::{TuneDimension, TunePoint, TuneSpace};
