//! Packing: addresses for buffers that must all be placed, or a proof that they do not fit.
//!
//! Definitions:
//! * A [`Rectangle`] is a buffer: its width is a live range (half-open, in ticks), its height a size in units. Its
//!   *offset* is its lowest unit.
//! * The *load* of a tick is the number of units that are live in it. No packing is lower than the maximum load.
//! * A *shape* ([`PackingShape`]) is several rectangles with one offset: a chain of buffers, each at the address of its
//!   predecessor.
//! * A *base* is units from offset 0 up that are occupied in some ticks.
//!
//! List packings come first ([`steps`]): each buffer in some order goes to the lowest place where it fits. That is
//! quick and good for loose problems of any size. Then a search ([`search`]) over *lowest packings*, which is complete:
//! when it ends without a packing there is none. It runs with several static orders in turn and more steps from round
//! to round ([`portfolio`]).
//!
//! | file | content |
//! |---|---|
//! | `problem.rs` | sections, independent subproblems, units divided by their common divisor |
//! | `order.rs` | static orders |
//! | `occupancy.rs`, `list_packing.rs` | lowest free offset over a live range; list packings |
//! | `overlaps.rs`, `state.rs`, `search.rs` | the complete search |
//! | `portfolio.rs` | orders and restarts |
//! | `peak.rs` | the smallest height |

mod list_packing;
mod occupancy;
mod order;
mod overlaps;
mod peak;
mod portfolio;
mod problem;
mod search;
mod state;
#[cfg(test)]
mod tests;

pub use peak::{PackingPeak, PeakSearch, find_smallest_peak};
pub use portfolio::{Packer, pack_rectangles, pack_shapes};
pub use problem::{PackingShape, Rectangle, compute_max_load};

/// Budget of remaining steps. A step is a node of the search, or an equal amount of work in a list packing, so the same
/// budget gives the same result on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBudget {
    /// Number of steps.
    pub left: u64,
}

impl StepBudget {
    /// Consumes steps, and returns whether enough were left.
    fn consume(&mut self, count: u64) -> bool {
        let enough = self.left >= count;
        self.left = self.left.saturating_sub(count);
        enough
    }
}

/// Result of a packing search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackingResult {
    /// Offset of every buffer.
    Placed(Vec<i64>),
    /// No packing exists: the search was exhaustive, or the load exceeds the capacity.
    Infeasible,
    /// The steps did not suffice to find or to exclude a packing.
    OutOfSteps,
}
