//! Packing: addresses for buffers that are all to be placed, or a proof that they do not fit.
//!
//! Definitions:
//! * A [`Rectangle`] is a buffer: a life (half-open, in ticks) wide and a size (in units) high. Its *offset* is its lowest unit.
//! * The *load* of a tick is the units that are live then. No packing is lower than the largest load.
//! * A *shape* ([`Shape`]) is several rectangles with one offset: a chain of buffers, each in the place of the one before.
//! * A *base* is units at the bottom that are taken for some ticks.
//!
//! List packings come first ([`list`]): each buffer in some order goes to the lowest place where it fits. That is quick and good for
//! loose problems of any size. Then a search ([`search`]) over *lowest packings*, which is complete: when it ends without a packing there
//! is none. It runs with several static orders in turn and more steps from round to round ([`portfolio`]).
//!
//! | file | what |
//! |---|---|
//! | `problem.rs` | sections, independent parts, units without their common divisor |
//! | `order.rs` | static orders |
//! | `gaps.rs`, `list.rs` | the lowest free place over a life; list packings |
//! | `contacts.rs`, `state.rs`, `search.rs` | the complete search |
//! | `portfolio.rs` | orders and restarts |
//! | `peak.rs` | the smallest height |

mod contacts;
mod gaps;
mod list;
mod order;
mod peak;
mod portfolio;
mod problem;
mod search;
mod state;
#[cfg(test)]
mod tests;

pub use peak::{Peak, PeakSearch, smallest_peak};
pub use portfolio::{Packer, pack, pack_shapes};
pub use problem::{Rectangle, Shape, load};

/// Steps that may still be taken. A step is a node of the search, or as much work in a list packing; so the same budget gives the same
/// answer on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// How many.
    pub left: u64,
}

impl Steps {
    /// Takes some, and says whether there were as many.
    fn take(&mut self, count: u64) -> bool {
        let enough = self.left >= count;
        self.left = self.left.saturating_sub(count);
        enough
    }
}

/// Result of a packing search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packing {
    /// An offset for every buffer.
    Placed(Vec<i64>),
    /// There is none: the search has seen every case, or the load exceeds the capacity.
    Impossible,
    /// The steps did not suffice to find one or to exclude it.
    OutOfSteps,
}
