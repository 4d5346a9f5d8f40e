//! List packings: each item, in a given order, is placed at the lowest offset at which it fits.

use super::{Steps, gaps::Gaps, problem::Problem};

/// Returns the offsets of all items, with a height of at most `limit`; `None` if this order exceeds it.
pub(super) fn pack_in_order(problem: &Problem, order: &[usize], limit: i64) -> Option<Vec<i64>> {
    let mut list = List::new(problem, order.to_vec());
    list.run(problem, limit, &mut Steps { left: u64::MAX })?
}

/// A list packing that can be continued.
pub(super) struct List {
    order: Vec<usize>,
    /// Number of items of the order that were placed.
    n_seen: usize,
    /// Whether an item exceeded the limit. The other items are placed nevertheless, so that a list takes the same steps wherever it
    /// fails.
    has_failed: bool,
    gaps: Gaps,
    offsets: Vec<i64>,
}

impl List {
    /// Creates a list packing with nothing placed.
    pub(super) fn new(problem: &Problem, order: Vec<usize>) -> Self {
        Self { order, n_seen: 0, has_failed: false, gaps: Gaps::new(problem.n_sections), offsets: vec![0; problem.items.len()] }
    }

    /// Continues, one step per item; returns none until all items are placed, then the offsets if no item exceeds the limit.
    pub(super) fn run(&mut self, problem: &Problem, limit: i64, steps: &mut Steps) -> Option<Option<Vec<i64>>> {
        while let Some(&item) = self.order.get(self.n_seen) {
            if !steps.take(1) {
                return None;
            }
            self.n_seen += 1;
            if self.has_failed {
                continue;
            }
            self.gaps.ask();
            for run in problem.runs_of(item) {
                self.gaps.want(&run.sections, run.height);
            }
            let offset = self.gaps.lowest(problem.items[item].base);
            if offset + problem.items[item].height > limit {
                self.has_failed = true;
                continue;
            }
            self.offsets[item] = offset;
            for run in problem.runs_of(item) {
                self.gaps.take(&run.sections, offset, offset + run.height);
            }
        }
        Some(if self.has_failed { None } else { Some(std::mem::take(&mut self.offsets)) })
    }
}

/// Returns the height of the items at these offsets.
pub(super) fn height(problem: &Problem, offsets: &[i64]) -> i64 {
    problem.items.iter().zip(offsets).map(|(item, offset)| item.height + offset).max().unwrap_or(0)
}
