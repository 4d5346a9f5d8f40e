//! Packing: addresses for buffers that must all be placed, or a proof that they do not fit.
//!
//! * A [`Rectangle`] is a buffer: its width is a live range (half-open, in ticks), its height a size in units, and its
//!   *offset* the lowest unit. A [`PackingShape`] has several rectangles with one offset.
//! * The *load* of a tick is the number of live units; a *base* is units from 0 up that are occupied in some ticks.
//!
//! List packings ([`list_packing`]) come first. A complete [`search`], in a [`portfolio`] of orders, follows.

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
